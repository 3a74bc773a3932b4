/**
 * The command section of a push: commands, shallow lines, push options, the probe, and what is none
 * of these.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader } from '../../../src/git/wire/byte-reader.ts';
import { encodeEscaped } from '../../../src/git/bytes.ts';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import { isDeletion, readPushRequest } from '../../../src/git/wire/push-request.ts';
import { CHUNKINGS, randomPieces, readerOf, readerOfWhole, restOf } from '../../support/byte-chunks.ts';
import { runs } from '../../support/runs.ts';
import { CountedMemory, full } from '../../support/counted-memory.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { FLUSH, pktText } from '../../support/pkt-line.ts';

const ZERO = '0'.repeat(40);
const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const CAPABILITIES = ' report-status side-band-64k quiet push-options';

const command = (ref = 'refs/heads/main', capabilities = CAPABILITIES) =>
  pktText(`${A} ${B} ${ref}\0${capabilities}`);

const ASSUMED = new Set(['report-status', 'side-band-64k']);

/** Expects that a request is refused, and what there is to answer it by. */
const refused = async (
  section: string | Uint8Array,
  code: string,
  answered: { readonly refNames?: readonly string[]; readonly capabilities?: ReadonlySet<string> } = {},
) => {
  const request = await readPushRequest(readerOfWhole(section), UNCOUNTED);
  expect(request).toMatchObject({ kind: 'faulty', fault: { name: 'ProtocolError', code }, ...answered });
};

describe.each(CHUNKINGS)('a push request in %s chunks', (_, cut) => {
  const read = (section: string) => {
    const reader = readerOf(cut(Buffer.from(section, 'latin1')));
    return readPushRequest(reader, UNCOUNTED).then(async (request) => ({
      request,
      rest: await restOf(reader),
    }));
  };

  it('is read as a real client writes it, up to the first byte of the pack', async () => {
    const { request, rest } = await read(
      `${command()}${FLUSH}${pktText('pr-hash=0123abcd')}${pktText('note=x\n')}${FLUSH}PACK....`,
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

  it.each([
    ['directly behind the commands', FLUSH, []],
    ['behind an option among the commands', `${pktText('pr-hash=0123abcd\n')}${FLUSH}`, ['pr-hash=0123abcd']],
    [
      'behind options in both places',
      `${pktText('title=Two words here')}${FLUSH}${pktText('pr-hash=0123abcd')}${FLUSH}`,
      ['title=Two words here', 'pr-hash=0123abcd'],
    ],
  ])('finds the pack %s, although push-options was named', async (_where, behind, pushOptions) => {
    const { request, rest } = await read(`${command()}${behind}PACK....`);
    expect(request).toMatchObject({
      kind: 'push',
      commandList: [{ refName: 'refs/heads/main' }],
      pushOptions,
    });
    expect(rest.toString()).toBe('PACK....');
  });

  it('takes an option among the commands of a client that named no capability for it', async () => {
    const { request, rest } = await read(
      `${command('refs/heads/x', ' report-status')}${pktText('pr-hash=0123abcd')}${FLUSH}PACK`,
    );
    expect(request).toMatchObject({ pushOptions: ['pr-hash=0123abcd'] });
    expect(rest.toString()).toBe('PACK');
  });

  it('may end behind its commands', async () => {
    const { request } = await read(`${command()}${FLUSH}`);
    expect(request).toMatchObject({ kind: 'push', pushOptions: [] });
  });

  it('is refused if anything else stands where options or a pack belong', async () => {
    for (const text of ['P', 'PAC', 'PACE....', '00', 'xyz1']) {
      const { request } = await read(`${command()}${FLUSH}${text}`);
      expect(request).toMatchObject({ kind: 'faulty', fault: { code: 'bad-request' } });
    }
  });

  it('keeps the order of several commands, of which the first carries the capabilities', async () => {
    const { request } = await read(
      [
        command('refs/heads/one'),
        pktText(`${ZERO} ${B} refs/heads/two`),
        pktText(`${A} ${ZERO} refs/tags/v1\n`),
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
    const { request } = await read(
      pktText(`shallow ${A}`) + pktText(`shallow ${B}\n`) + command() + FLUSH + FLUSH,
    );
    expect(request).toMatchObject({ commandList: [{ refName: 'refs/heads/main' }] });
  });

  it('is a probe if it is nothing but a flush', async () => {
    const { request } = await read(FLUSH);
    expect(request).toEqual({ kind: 'probe' });
  });

  it('is no probe if anything comes behind the flush, or shallow lines before it', async () => {
    for (const text of [`${FLUSH}0`, `${FLUSH}${FLUSH}`, `${FLUSH}PACK`, pktText(`shallow ${A}`) + FLUSH]) {
      const { request } = await read(text);
      expect(request).toMatchObject({ kind: 'faulty', fault: { code: 'bad-request' } });
    }
  });
});

const lines = (options: readonly string[]) => options.map((line) => pktText(Buffer.from(line))).join('');

it('options are read wherever they stand, in whatever pieces they come, and the pack stays whole', async () => {
  const option = fc
    .tuple(fc.stringMatching(/^[a-z-]{1,12}$/), fc.stringMatching(/^[ -~é]{0,30}$/))
    .map(([name, value]) => `${name}=${value}`);
  const few = fc.array(option, { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(few, fc.option(few), fc.uint8Array(), fc.nat(), async (among, behind, pack, seed) => {
      const section = command() + lines(among) + FLUSH + (behind === null ? '' : lines(behind) + FLUSH);
      const rest = Buffer.concat([Buffer.from('PACK'), pack]);
      const bytes = Buffer.concat([Buffer.from(section, 'latin1'), rest]);
      const reader = readerOf(randomPieces(bytes, seed));
      expect(await readPushRequest(reader, UNCOUNTED)).toMatchObject({
        kind: 'push',
        commandList: [{ refName: 'refs/heads/main' }],
        pushOptions: [...among, ...(behind ?? [])],
      });
      expect(await restOf(reader)).toEqual(rest);
    }),
    runs(70),
  );
});

describe('a command', () => {
  it.each([
    [`${A} ${ZERO} refs/heads/x`, true],
    [`${ZERO} ${B} refs/heads/x`, false],
    [`${A} ${B} refs/heads/x`, false],
  ])('%s is a deletion: %s', async (line, expected) => {
    const request = await readPushRequest(readerOfWhole(pktText(line) + FLUSH), UNCOUNTED);
    const [first] = request.kind === 'push' ? request.commandList : [];
    expect(first && isDeletion(first)).toBe(expected);
  });

  it('may name a ref in any UTF-8', async () => {
    const section = Buffer.from(`${A} ${B} refs/heads/größe\0`);
    expect(await readPushRequest(readerOfWhole(pktText(section) + FLUSH), UNCOUNTED)).toMatchObject({
      commandList: [{ refName: 'refs/heads/größe' }],
    });
  });

  it.each([
    'HEAD',
    'refs/heads/../../x',
    'refs/heads/x~1',
    'refs/heads/x.lock',
    'refs/heads/',
    `refs/heads/${'x'.repeat(2000)}`,
  ])('may name an invalid ref, as %s, so that the answer can say so', async (refName) => {
    expect(
      await readPushRequest(readerOfWhole(pktText(`${A} ${B} ${refName}`) + FLUSH), UNCOUNTED),
    ).toMatchObject({
      commandList: [{ refName }],
    });
  });

  it('may name a ref that is not UTF-8, whose bytes are found again in the answer', async () => {
    const request = await readPushRequest(
      readerOfWhole(pktText(`${A} ${B} refs/heads/gr\u00f6\u00dfe`) + FLUSH),
      UNCOUNTED,
    );
    const [named] = request.kind === 'push' ? request.commandList : [];
    expect(Buffer.from(encodeEscaped(named?.refName ?? '')).toString('latin1')).toBe('refs/heads/größe');
  });

  it('may come without capabilities', async () => {
    expect(
      await readPushRequest(readerOfWhole(pktText(`${A} ${B} refs/heads/x\n`) + FLUSH), UNCOUNTED),
    ).toMatchObject({
      capabilities: new Set(),
    });
  });

  it('may have a line feed behind its capabilities', async () => {
    const line = `${A} ${B} refs/heads/x\0 report-status agent=JGit/6.0\n`;
    expect(await readPushRequest(readerOfWhole(pktText(line) + FLUSH), UNCOUNTED)).toMatchObject({
      commandList: [{ refName: 'refs/heads/x' }],
      capabilities: new Set(['report-status', 'agent=JGit/6.0']),
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
    ['a shallow line with a wrong id', `shallow ${A}0`],
    ['a push certificate', 'push-cert\0 report-status'],
  ])('with %s is refused', async (_, line) => {
    await refused(pktText(line) + FLUSH, 'bad-request');
  });

  it.each([
    ['a space', 'refs/heads/x y'],
    ['a line feed inside', 'refs/heads/x\ny'],
    ['a carriage return', 'refs/heads/x\r\n'],
    ['an escape', 'refs/heads/\u001b[2J'],
    ['more than fits into a line', `refs/heads/${'x'.repeat(20_000)}`],
  ])('whose ref holds %s is refused, as no line of the answer could name it', async (_, refName) => {
    const others = [pktText(`${A} ${B} refs/heads/one`), pktText(`${A} ${B} refs/heads/two`)];
    const section = `${others[0]}${pktText(`${A} ${B} ${refName}`)}${others[1]}${FLUSH}`;
    await refused(section, 'bad-request', { refNames: ['refs/heads/one', 'refs/heads/two'] });
  });

  it('other than the first may not carry capabilities', async () => {
    await refused(command() + command('refs/heads/y') + FLUSH, 'bad-request');
  });
});

describe('a request that is refused', () => {
  it('is answered as the client has asked for, with the refs that could be read', async () => {
    const second = pktText(`${A} nonsense refs/heads/y`);
    await refused(`${command()}${second}${FLUSH}`, 'bad-request', {
      refNames: ['refs/heads/main', 'refs/heads/y'],
      capabilities: new Set(['report-status', 'side-band-64k', 'quiet', 'push-options']),
    });
  });

  it.each([
    ['nothing', ''],
    ['a command without capabilities', pktText(`nonsense ${B} refs/heads/x`)],
    ['a command whose client takes no report', pktText(`nonsense ${B} refs/heads/x\0 side-band-64k`)],
  ])('is answered as Git understands it, if all that could be read is %s', async (_, section) => {
    await refused(section, 'bad-request', { capabilities: ASSUMED });
  });

  it('keeps its first fault', async () => {
    const unnamable = pktText(`${A} ${B} refs/heads/x y`);
    await refused(unnamable + pktText('nonsense') + FLUSH, 'bad-request');
    const request = await readPushRequest(readerOfWhole(unnamable + pktText('nonsense') + FLUSH), UNCOUNTED);
    expect((request as { fault: Error }).fault.message).toBe(
      'The push names a ref that Git does not allow. Rename the branch.',
    );
  });

  it('is one whose body breaks off, too, with the reason of that', async () => {
    const gone = new Error('gone');
    const sent = [Buffer.from(command())];
    const source = { read: async () => sent.shift() ?? Promise.reject(gone), cancel: async () => {} };
    expect(await readPushRequest(new ByteReader(source), UNCOUNTED)).toMatchObject({
      kind: 'faulty',
      fault: gone,
      refNames: ['refs/heads/main'],
    });
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
    ['options without their flush', command() + FLUSH + pktText('pr-hash=1')],
    ['an option before any command', pktText('pr-hash=0123abcd') + command() + FLUSH],
    ['an option among the commands that is not UTF-8', command() + pktText('title=\u00ff') + FLUSH],
    ['a delimiter among the options', `${command()}${FLUSH}0001`],
    ['an option that is not UTF-8', command() + FLUSH + pktText('\u00ff') + FLUSH],
  ])('but %s is refused', async (_, section) => {
    await refused(section, 'bad-request');
  });

  it('but any garbage is refused, or is a probe', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const { kind } = await readPushRequest(readerOf(randomPieces(bytes)), UNCOUNTED);
        expect(['faulty', 'probe']).toContain(kind);
      }),
      runs(70),
    );
  });

  it('but a command section changed in one place is read or refused, and nothing else', async () => {
    const sound = Buffer.from(`${command()}${FLUSH}${pktText('pr-hash=0123abcd')}${FLUSH}`, 'latin1');
    await fc.assert(
      fc.asyncProperty(fc.nat(sound.length - 1), fc.nat(255), async (at, byte) => {
        const changed = Buffer.from(sound);
        changed[at] = byte;
        const request = await readPushRequest(readerOf([changed]), UNCOUNTED);
        if (request.kind === 'faulty') expect(request.fault).toMatchObject({ name: 'ProtocolError' });
        const names = request.kind === 'faulty' ? request.refNames : [];
        // eslint-disable-next-line no-control-regex
        for (const name of names) expect(/[\u0000-\u0020\u007f]/.test(name)).toBe(false);
      }),
      runs(100),
    );
  });
});

const commands = (count: number) =>
  command() +
  Array.from({ length: count - 1 }, (_, index) => pktText(`${A} ${B} refs/heads/b${index}`)).join('') +
  FLUSH +
  FLUSH;

const options = (count: number, length: number) =>
  command() + FLUSH + pktText('o'.repeat(length)).repeat(count) + FLUSH;

const among = (count: number) => command() + pktText('note=x').repeat(count);

describe('the limits of a push request', () => {
  it('are a thousand commands; of more, each is named in the answer', async () => {
    expect(await readPushRequest(readerOfWhole(commands(1000)), UNCOUNTED)).toMatchObject({ kind: 'push' });
    await refused(commands(1001), 'too-large');
    const request = await readPushRequest(readerOfWhole(commands(20_000)), UNCOUNTED);
    expect(request.kind === 'faulty' && new Set(request.refNames).size).toBe(20_000);
  });

  it('are 8 MiB of commands, of which no more is read', exhaustive, async () => {
    const reader = readerOfWhole(commands(100_000));
    const request = await readPushRequest(reader, UNCOUNTED);
    expect(request).toMatchObject({ kind: 'faulty', fault: { code: 'too-large' } });
    expect(request.kind === 'faulty' ? request.refNames.length : 0).toBeGreaterThan(40_000);
    expect((await restOf(reader)).length).toBeGreaterThan(1_000_000);
  });

  it('are counted as memory that is taken, beyond what an honest push has', async () => {
    const memory = new CountedMemory();
    await readPushRequest(readerOfWhole(commands(300)), memory);
    expect(memory.bytes).toBe(0);
    await readPushRequest(readerOfWhole(commands(20_000)), memory);
    expect(memory.bytes).toBeGreaterThan(20_000 * 95);
    const request = await readPushRequest(readerOfWhole(commands(20_000)), new CountedMemory(full));
    expect(request).toMatchObject({ kind: 'faulty', fault: new Error('busy') });
    expect(request.kind === 'faulty' && request.capabilities.has('report-status')).toBe(true);
  });

  it('are 64 push options of 4,096 characters', async () => {
    expect(await readPushRequest(readerOfWhole(options(64, 4096)), UNCOUNTED)).toMatchObject({
      kind: 'push',
    });
    await refused(options(65, 1), 'too-large');
    await refused(options(1, 4097), 'too-large');
    const half = await readPushRequest(
      readerOfWhole(`${among(32)}${FLUSH}${pktText('note=x').repeat(32)}${FLUSH}`),
      UNCOUNTED,
    );
    expect(half).toMatchObject({ kind: 'push', pushOptions: { length: 64 } });
    await refused(`${among(32)}${FLUSH}${pktText('note=x').repeat(33)}${FLUSH}`, 'too-large');
    await refused(among(65) + FLUSH, 'too-large');
  });

  it('are a hundred thousand shallow lines', exhaustive, async () => {
    await refused(pktText(`shallow ${A}`).repeat(100_001) + command() + FLUSH + FLUSH, 'too-large');
  });
});
