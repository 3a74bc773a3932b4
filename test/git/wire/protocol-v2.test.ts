/** The two protocol v2 commands that go to the host, byte for byte, and answers of every kind. */
import { describe, expect, it } from 'vitest';
import {
  encodeFetch,
  encodeHistoryFetch,
  encodeLsRefs,
  MAX_REFS,
  readAdvertisedIds,
  readFetchSections,
  readLsRefs,
} from '../../../src/git/wire/protocol-v2.ts';
import { OidBeginnings } from '../../../src/git/objects/oid-beginnings.ts';
import { ByteReader } from '../../../src/git/wire/byte-reader.ts';
import {
  CHUNKINGS,
  PiecesSource,
  piecesOf,
  readerOf,
  readerOfWhole,
  restOf,
} from '../../support/byte-chunks.ts';
import { CountedMemory, full } from '../../support/counted-memory.ts';
import { oidNumber } from '../../support/objects.ts';
import { FLUSH, pktText } from '../../support/pkt-line.ts';

const A = oidNumber(1);
const B = oidNumber(2);
/** They begin otherwise than the numbers. */
const [C, D] = ['c'.repeat(40), 'd'.repeat(40)];
const DELIM = '0001';
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const header = (command: string) =>
  [`command=${command}`, 'agent=git/2.0', 'object-format=sha1'].map((line) => pktText(`${line}\n`)).join('') +
  DELIM;

describe('encodeLsRefs', () => {
  it('asks as Git does, for symbolic refs, also of branches without a commit, and for the prefixes', () => {
    expect(textOf(encodeLsRefs(['HEAD', 'refs/heads/']))).toBe(
      header('ls-refs') +
        pktText('peel\n') +
        pktText('symrefs\n') +
        pktText('unborn\n') +
        pktText('ref-prefix HEAD\n') +
        pktText('ref-prefix refs/heads/\n') +
        FLUSH,
    );
  });
});

const fetchOf = (lines: readonly string[]) =>
  header('fetch') + lines.map((line) => pktText(`${line}\n`)).join('') + FLUSH;

describe('encodeFetch', () => {
  it('asks for objects by their ids', () => {
    const lines = ['no-progress', 'ofs-delta', 'filter tree:0', `want ${A}`, `want ${B}`, 'done'];
    expect(textOf(encodeFetch({ wants: [A, B] }))).toBe(fetchOf(lines));
  });

  it('asks for the files of a folder, but for large ones', () => {
    const lines = ['no-progress', 'ofs-delta', 'filter blob:limit=9000', `want ${A}`, 'done'];
    expect(textOf(encodeFetch({ wants: [A], filesBelowBytes: 9_000 }))).toBe(fetchOf(lines));
  });
});

describe('encodeHistoryFetch', () => {
  const [thin, ...thick] = ['thin-pack', 'no-progress', 'include-tag', 'ofs-delta'];
  it.each([
    ['all of it', { wants: [A, B] }, [thin, ...thick, 'filter tree:0', `want ${A}`, `want ${B}`]],
    [
      'what is younger than a date',
      { wants: [A], since: 1700000000 },
      [thin, ...thick, 'deepen-since 1700000000', 'filter tree:0', `want ${A}`],
    ],
    ['the tips only', { wants: [A], depth: 1 }, [thin, ...thick, 'deepen 1', 'filter tree:0', `want ${A}`]],
    [
      'what is missing, with no delta to what is not',
      { wants: [A], haves: [B] },
      [...thick, 'filter tree:0', `want ${A}`, `have ${B}`],
    ],
  ] as const)('asks for commits without trees: %s', (_, request, lines) => {
    expect(textOf(encodeHistoryFetch(request))).toBe(fetchOf([...(lines as readonly string[]), 'done']));
  });

  it('never says which commits are there already: the host learns nothing of the pusher', () => {
    expect(textOf(encodeHistoryFetch({ wants: [A], since: 1 }))).not.toContain('have');
  });
});

describe.each(CHUNKINGS)('readLsRefs from %s chunks', (_, cut) => {
  const read = (...lines: string[]) =>
    readLsRefs(readerOf(cut(Buffer.from(lines.map((line) => pktText(line)).join('') + FLUSH, 'latin1'))));

  it('reads refs, and the branch that HEAD stands for', async () => {
    expect(
      await read(
        `${A} HEAD symref-target:refs/heads/main\n`,
        `${A} refs/heads/main\n`,
        `${B} refs/tags/v1\n`,
      ),
    ).toEqual({
      refs: [
        { name: 'refs/heads/main', oid: A },
        { name: 'refs/tags/v1', oid: B },
      ],
      head: 'refs/heads/main',
      headTip: A,
      hasAllBranches: true,
    });
  });

  it('knows the branch of an empty repository', async () => {
    expect(await read('unborn HEAD symref-target:refs/heads/trunk\n')).toEqual({
      refs: [],
      head: 'refs/heads/trunk',
      headTip: null,
      hasAllBranches: true,
    });
  });
});

describe.each(CHUNKINGS)('readAdvertisedIds from %s chunks', (_, cut) => {
  const idsOf = async (...lines: string[]) => {
    const ids = new OidBeginnings();
    const bytes = Buffer.from(lines.map((line) => pktText(line)).join('') + FLUSH, 'latin1');
    await readAdvertisedIds(readerOf(cut(bytes)), ids, new CountedMemory());
    ids.sort();
    return ids;
  };

  it('adds what refs name, and what tags stand for', async () => {
    const ids = await idsOf(`${A} refs/pull/1/head\n`, `${B} refs/tags/v1 peeled:${C}\n`);
    expect([A, B, C, D].map((oid) => ids.has(oid))).toEqual([true, true, true, false]);
    expect(ids.byteLength).toBe(3 * 8);
  });

  it('ends with an error packet, and with what is no list', async () => {
    await expect(idsOf(`${A} refs/heads/main\n`, 'ERR no\n')).rejects.toMatchObject({ text: 'no' });
    await expect(idsOf('short\n')).rejects.toMatchObject({ code: 'bad-request' });
  });
});

it('readAdvertisedIds counts what it keeps, as long as it reads', async () => {
  const lines = Array.from({ length: 20_000 }, (_, at) =>
    pktText(`${oidNumber(at)} refs/pull/${at}/head\n`),
  ).join('');
  const memory = new CountedMemory();
  const ids = new OidBeginnings();
  const pieces = piecesOf(Buffer.from(lines + FLUSH, 'latin1'), 64 * 1024);
  await readAdvertisedIds(readerOf(pieces), ids, memory);
  expect(memory.mostBytes).toBeGreaterThan(ids.byteLength);
  expect(memory.bytes).toBe(0);
  const refused = readAdvertisedIds(readerOf(pieces), new OidBeginnings(), new CountedMemory(full));
  await expect(refused).rejects.toThrow('busy');
});

const read = (section: string) => readLsRefs(readerOfWhole(section));

describe('readLsRefs', () => {
  it('knows neither HEAD nor refs of a repository that lists none', async () => {
    expect(await read(FLUSH)).toEqual({
      refs: [],
      head: null,
      headTip: null,
      hasAllBranches: true,
    });
  });

  it('takes a HEAD that is no symbolic ref', async () => {
    expect(await read(pktText(`${A} HEAD\n`) + FLUSH)).toMatchObject({ refs: [], head: null, headTip: A });
  });

  it('passes over attributes that it does not know', async () => {
    const { refs } = await read(pktText(`${A} refs/tags/v1 peeled:${B} new:thing\n`) + FLUSH);
    expect(refs).toEqual([{ name: 'refs/tags/v1', oid: A }]);
  });

  it('leaves out names that are not UTF-8 or that no file system takes', async () => {
    const unusable = [pktText(`${B} refs/heads/\u00ff\n`), pktText(`${B} refs/heads/${'x'.repeat(5000)}\n`)];
    const list = await read(unusable.join('') + pktText(`${A} refs/tags/v1\n`) + FLUSH);
    expect(list).toMatchObject({ refs: [{ name: 'refs/tags/v1', oid: A }], hasAllBranches: true });
  });

  const many = (kind: string, count: number, padding = '') =>
    Array.from({ length: count }, (_, i) => pktText(`${A} refs/${kind}/${i}${padding}\n`)).join('');

  it.each([
    ['has one ref less than the limit', many('heads', MAX_REFS - 1), MAX_REFS - 1, true],
    ['is as long as the limit', many('heads', MAX_REFS), MAX_REFS, true],
    ['has too many branches', many('heads', MAX_REFS + 1), MAX_REFS, false],
    ['has tags before branches', many('tags', MAX_REFS + 1) + many('heads', 1), MAX_REFS, false],
    ['has too many tags', many('heads', 9) + many('tags', MAX_REFS), MAX_REFS, true],
  ])('keeps branches before tags of a list that %s', async (_, refs, kept, hasAllBranches) => {
    const list = await read(refs + FLUSH);
    expect([list.refs.length, list.hasAllBranches]).toEqual([kept, hasAllBranches]);
  });

  it('keeps four megabytes of very long names, and does not read the rest', async () => {
    const source = new PiecesSource([Buffer.from(many('heads', 2000, 'x'.repeat(4000)))]);
    const list = await readLsRefs(new ByteReader(source));
    expect(list.refs.length).toBeLessThan(1100);
    expect(list.hasAllBranches).toBe(false);
    expect(source.cancelled).toBe(true);
  });

  it.each([
    ['an id of SHA-256', pktText(`${'a'.repeat(64)} refs/heads/main\n`) + FLUSH],
    ['a line without a name', pktText(`${A}\n`) + FLUSH],
    ['bytes that are not UTF-8 and no id', pktText(`\u00ff${A} refs/heads/main\n`) + FLUSH],
    ['a version 1 answer', pktText('# service=git-upload-pack\n') + FLUSH],
    ['a delimiter', DELIM],
    ['a web page', '<!DOCTYPE html>'],
    ['nothing', ''],
    ['a list that breaks off', pktText(`${A} refs/heads/main\n`)],
  ])('refuses %s', async (_, section) => {
    await expect(read(section)).rejects.toMatchObject({ code: 'bad-request' });
  });

  it('hands an error packet on in its own words', async () => {
    const answer = read(pktText('ERR access denied\n') + FLUSH);
    await expect(answer).rejects.toMatchObject({ name: 'ErrorPacket', text: 'access denied' });
  });
});

describe.each(CHUNKINGS)('readFetchSections from %s chunks', (_, cut) => {
  it('stops at the first packet of the pack, behind what comes before it', async () => {
    const section =
      pktText('shallow-info\n') +
      pktText(`shallow ${A}\n`) +
      DELIM +
      pktText('packfile\n') +
      pktText('\u0001PACK') +
      FLUSH;
    const reader = readerOf(cut(Buffer.from(section, 'latin1')));
    expect(await readFetchSections(reader)).toBe(true);
    expect((await restOf(reader)).toString('latin1')).toBe(pktText('\u0001PACK') + FLUSH);
  });
});

describe('readFetchSections', () => {
  it('hands on what the host says when it refuses', async () => {
    const answer = readFetchSections(readerOfWhole(pktText('ERR upload-pack: not our ref\n')));
    await expect(answer).rejects.toMatchObject({ name: 'ErrorPacket', text: 'upload-pack: not our ref' });
  });

  it.each([
    ['of a flush', FLUSH],
    ['of sections', pktText('shallow-info\n')],
  ])('finds no pack in an answer %s', async (_, section) => {
    expect(await readFetchSections(readerOfWhole(section))).toBe(false);
  });

  it.each([
    ['a web page', '<!DOCTYPE html>'],
    ['a packet that breaks off', pktText('shallow-info\n').slice(0, -1)],
  ])('refuses %s', async (_, section) => {
    await expect(readFetchSections(readerOfWhole(section))).rejects.toMatchObject({ code: 'bad-request' });
  });
});
