/** The command section of a push: commands, shallow lines, push options, the probe, and what is none of these. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDeletion, readPushRequest } from '../../src/git/push-request.ts';
import { CHUNKINGS, randomPieces, readerOf, readerOfWhole, restOf } from '../support/byte-chunks.ts';
import { FLUSH, pkt } from '../support/wire.ts';
import { runs } from '../support/runs.ts';

const ZERO = '0'.repeat(40);
const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const CAPABILITIES = ' report-status side-band-64k quiet push-options';

const command = (ref = 'refs/heads/main', capabilities = CAPABILITIES) =>
  pkt(`${A} ${B} ${ref}\0${capabilities}`);

const refused = (section: string, code: string) =>
  expect(readPushRequest(readerOfWhole(section))).rejects.toMatchObject({ name: 'ProtocolError', code });

describe.each(CHUNKINGS)('a push request in %s chunks', (_, cut) => {
  const read = (section: string) => {
    const reader = readerOf(cut(Buffer.from(section, 'latin1')));
    return readPushRequest(reader).then(async (request) => ({ request, rest: await restOf(reader) }));
  };

  it('is read as a real client writes it, up to the first byte of the pack', async () => {
    const { request, rest } = await read(
      `${command()}${FLUSH}${pkt('pr-hash=0123abcd')}${pkt('note=x\n')}${FLUSH}PACK....`,
    );
    expect(request).toEqual({
      kind: 'push',
      commandList: [{ oldId: A, newId: B, refName: 'refs/heads/main' }],
      capabilities: new Set(['report-status', 'side-band-64k', 'quiet', 'push-options']),
      pushOptions: ['pr-hash=0123abcd', 'note=x'],
    });
    expect(rest.toString()).toBe('PACK....');
  });

  it('has no options section unless the client took up the capability', async () => {
    const { request, rest } = await read(`${command('refs/heads/x', ' report-status')}${FLUSH}PACK`);
    expect(request).toMatchObject({ pushOptions: [] });
    expect(rest.toString()).toBe('PACK');
  });

  it('has an options section that may be empty', async () => {
    const { request, rest } = await read(`${command()}${FLUSH}${FLUSH}PACK`);
    expect(request).toMatchObject({ pushOptions: [] });
    expect(rest.toString()).toBe('PACK');
  });

  it('keeps the order of several commands, of which the first carries the capabilities', async () => {
    const { request } = await read(
      [
        command('refs/heads/one'),
        pkt(`${ZERO} ${B} refs/heads/two`),
        pkt(`${A} ${ZERO} refs/tags/v1\n`),
        FLUSH + FLUSH,
      ].join(''),
    );
    expect(request).toMatchObject({
      commandList: [
        { refName: 'refs/heads/one' },
        { refName: 'refs/heads/two' },
        { refName: 'refs/tags/v1' },
      ],
    });
  });

  it('passes over the shallow lines of a shallow clone', async () => {
    const { request } = await read(pkt(`shallow ${A}`) + pkt(`shallow ${B}\n`) + command() + FLUSH + FLUSH);
    expect(request).toMatchObject({ commandList: [{ refName: 'refs/heads/main' }] });
  });

  it('is a probe if it is nothing but a flush', async () => {
    const { request } = await read(FLUSH);
    expect(request).toEqual({ kind: 'probe' });
  });
});

describe('a command', () => {
  it.each([
    [`${A} ${ZERO} refs/heads/x`, true],
    [`${ZERO} ${B} refs/heads/x`, false],
    [`${A} ${B} refs/heads/x`, false],
  ])('%s is a deletion: %s', async (line, expected) => {
    const request = await readPushRequest(readerOfWhole(pkt(line) + FLUSH));
    const [first] = request.kind === 'push' ? request.commandList : [];
    expect(first && isDeletion(first)).toBe(expected);
  });

  it('may name a ref in any UTF-8', async () => {
    const section = Buffer.from(`${A} ${B} refs/heads/größe\0`);
    expect(await readPushRequest(readerOfWhole(pkt(section) + FLUSH))).toMatchObject({
      commandList: [{ refName: 'refs/heads/größe' }],
    });
  });

  it.each(['HEAD', 'refs/heads/../../x', 'refs/heads/x y', 'refs/heads/x.lock', 'refs/heads/'])(
    'may name an invalid ref, as %s, so that the answer can say so',
    async (refName) => {
      expect(await readPushRequest(readerOfWhole(pkt(`${A} ${B} ${refName}`) + FLUSH))).toMatchObject({
        commandList: [{ refName }],
      });
    },
  );

  it('may come without capabilities', async () => {
    expect(await readPushRequest(readerOfWhole(pkt(`${A} ${B} refs/heads/x\n`) + FLUSH))).toMatchObject({
      capabilities: new Set(),
    });
  });

  it.each([
    ['an upper-case id', `${'A'.repeat(40)} ${B} refs/heads/x`],
    ['a short id', `${A.slice(1)} ${B} refs/heads/x`],
    ['a long id', `${A}a ${B} refs/heads/x`],
    ['an id that is not hexadecimal', `${'g'.repeat(40)} ${B} refs/heads/x`],
    ['an id of SHA-256', `${'a'.repeat(64)} ${'b'.repeat(64)} refs/heads/x`],
    ['no ref', `${A} ${B} `],
    ['no second id', `${A} refs/heads/x`],
    ['nothing', ''],
    ['two spaces', `${A}  ${B} refs/heads/x`],
    ['a ref with a line feed inside', `${A} ${B} refs/heads/x\ny`],
    ['a ref with a carriage return', `${A} ${B} refs/heads/x\r\n`],
    ['a ref with an escape', `${A} ${B} refs/heads/\u001b[2J`],
    ['a ref that is not UTF-8', `${A} ${B} refs/heads/\u00ff`],
    ['an over-long ref', `${A} ${B} refs/heads/${'x'.repeat(2000)}`],
    ['a shallow line with a wrong id', `shallow ${A}0`],
    ['a push certificate', 'push-cert\0 report-status'],
  ])('with %s is refused', async (_, line) => {
    await refused(pkt(line) + FLUSH, 'bad-request');
  });

  it('other than the first may not carry capabilities', async () => {
    await refused(command() + command('refs/heads/y') + FLUSH, 'bad-request');
  });
});

describe('a request that is no push', () => {
  it.each([
    ['nothing', ''],
    ['text', 'hello world'],
    ['a pack without commands', 'PACK\0\0\0\u0002'],
    ['a form', 'a=1&b=2'],
    ['gzip', '\u001f\u008b\b\0\0\0\0\0'],
    ['a delimiter', `${command()}0001`],
    ['a response end', `${command()}0002`],
    ['commands without their flush', command()],
    ['options without their flush', command() + FLUSH + pkt('pr-hash=1')],
    ['a pack where the options belong', `${command()}${FLUSH}PACK`],
    ['a delimiter among the options', `${command()}${FLUSH}0001`],
    ['an option that is not UTF-8', command() + FLUSH + pkt('\u00ff') + FLUSH],
  ])('but %s is refused', async (_, section) => {
    await refused(section, 'bad-request');
  });

  it('but any garbage is refused, or is a probe', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const outcome = await readPushRequest(readerOf(randomPieces(bytes))).catch((error: unknown) => error);
        expect(outcome).toMatchObject(
          outcome instanceof Error ? { name: 'ProtocolError', code: 'bad-request' } : { kind: 'probe' },
        );
      }),
      runs(200),
    );
  });

  it('but a command section changed in one place is read or refused, and nothing else', async () => {
    const sound = Buffer.from(`${command()}${FLUSH}${pkt('pr-hash=0123abcd')}${FLUSH}`, 'latin1');
    await fc.assert(
      fc.asyncProperty(fc.nat(sound.length - 1), fc.nat(255), async (at, byte) => {
        const changed = Buffer.from(sound);
        changed[at] = byte;
        const outcome = await readPushRequest(readerOf([changed])).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'ProtocolError' });
      }),
      runs(300),
    );
  });
});

const commands = (count: number) =>
  command() +
  Array.from({ length: count - 1 }, (_, index) => pkt(`${A} ${B} refs/heads/b${index}`)).join('') +
  FLUSH +
  FLUSH;

const options = (count: number, length: number) =>
  command() + FLUSH + pkt('o'.repeat(length)).repeat(count) + FLUSH;

describe('the limits of a push request', () => {
  it('are a thousand commands', async () => {
    expect(await readPushRequest(readerOfWhole(commands(1000)))).toMatchObject({ kind: 'push' });
    await refused(commands(1001), 'too-large');
  });

  it('are 64 push options of 4,096 characters', async () => {
    expect(await readPushRequest(readerOfWhole(options(64, 4096)))).toMatchObject({ kind: 'push' });
    await refused(options(65, 1), 'too-large');
    await refused(options(1, 4097), 'too-large');
  });

  it('are a hundred thousand shallow lines', async () => {
    await refused(pkt(`shallow ${A}`).repeat(100_001) + command() + FLUSH + FLUSH, 'too-large');
  });
});
