/** What a pack adds, searched: whole objects, what deltas insert, and where it was found. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeltaInserts } from '../../../src/git/pack/delta-inserts.ts';
import { EntryWalker } from '../../../src/git/pack/entry-walker.ts';
import { ByteSearch } from '../../../src/git/search/byte-search.ts';
import { ContentSearch } from '../../../src/git/search/content-search.ts';
import { CHUNKINGS, randomPieces } from '../../support/byte-chunks.ts';
import { commitContent, treeContent } from '../../support/objects.ts';
import { buildPack, type Entry, makeDelta, oidOf } from '../../support/pack-builder.ts';
import { runs } from '../../support/runs.ts';

const NAME = 'Ada Lovelace';
const BOUNDARY = Array.from('\n ./<>', (sign) => sign.charCodeAt(0));
const PATTERN = {
  classes: [BOUNDARY, ...Array.from(Buffer.from(NAME), (byte: number) => [byte]), BOUNDARY],
};

function searched(
  entries: readonly Entry[],
  cut: (bytes: Uint8Array) => readonly Uint8Array[],
  maxHits = 10,
) {
  const search = new ContentSearch(new ByteSearch([PATTERN]), maxHits);
  const walker = new EntryWalker(search);
  // Without its trailer.
  for (const piece of cut(buildPack(entries).bytes.subarray(0, -20))) walker.walk(piece);
  return search;
}

const lines = ({ hits, deltaHits }: ContentSearch) =>
  [...hits, ...deltaHits].map(({ excerpt }) => Buffer.from(excerpt).toString());
const blob = (text: string | Uint8Array): Entry => ({ type: 'blob', content: Buffer.from(text) });

describe.each(CHUNKINGS)('a pack in %s chunks', (_, cut) => {
  it('is found out by its files, whatever stands around a name', () => {
    const search = searched([blob(NAME), blob(`one\nby ${NAME}.\ntwo\n`), blob('nobody\n'), blob('')], cut);
    expect(lines(search)).toEqual([NAME, `by ${NAME}.`]);
  });

  it('is found out by the names of files', () => {
    const tree = treeContent([{ name: NAME, oid: oidOf('blob', Buffer.from('')) }]);
    // The mode before the name and the end of it are boundaries enough for the real patterns.
    const search = searched([{ type: 'tree', content: Buffer.concat([tree, Buffer.from('')]) }], cut);
    expect(search.hits.every(({ kind }) => kind === 'name')).toBe(true);
  });

  it('is found out by what a delta inserts, and not by what it copies', () => {
    const base = Buffer.from(`${'common text '.repeat(20)}\nby ${NAME}.\n${'more text '.repeat(20)}\n`);
    const other = Buffer.concat([base, Buffer.from(`and <${NAME}>\n`)]);
    const untouched = Buffer.concat([base, Buffer.from('and nobody\n')]);
    const search = searched(
      [
        { type: 'ref-delta', base: oidOf('blob', base), delta: makeDelta(base, untouched) },
        { type: 'ref-delta', base: oidOf('blob', base), delta: makeDelta(base, other) },
      ],
      cut,
    );
    expect(lines(search)).toHaveLength(1);
    expect(lines(search)[0]).toContain(`<${NAME}>`);
  });

  it('has its commits left to whoever reads messages', () => {
    expect(searched([{ type: 'commit', content: commitContent({ message: NAME }) }], cut).hits).toEqual([]);
  });
});

const whole = (bytes: Uint8Array): Uint8Array[] => [bytes];

it('what deltas insert keeps nobody from searching whole files', () => {
  const base = Buffer.from('a text that stays\n'.repeat(9));
  const parts = Array.from({ length: 30 }, (_, at): Entry => {
    const delta = makeDelta(base, Buffer.concat([base, Buffer.from(`${at} ${NAME}\n`)]));
    return { type: 'ref-delta', base: oidOf('blob', base), delta };
  });
  const entries = [...parts, blob(NAME)];
  const { hits, deltaHits } = searched(entries, whole);
  expect(hits).toHaveLength(1);
  expect(deltaHits.map(({ offset }) => offset)).toEqual(buildPack(entries).offsets.slice(0, -1));
});

describe('a hit', () => {
  it('names the path of the file, folders included', () => {
    const file = Buffer.from(`by ${NAME}\n`);
    const inner = treeContent([{ name: 'a.c', oid: oidOf('blob', file) }]);
    const outer = Buffer.concat([Buffer.from('40000 src\0'), Buffer.from(oidOf('tree', inner), 'hex')]);
    const search = searched(
      [{ type: 'tree', content: outer }, { type: 'tree', content: inner }, blob(file)],
      whole,
    );
    expect(search.names.pathOf(search.hits[0]?.oid ?? '')).toBe('src/a.c');
  });

  it('knows the name of a new file also from a delta of its folder', () => {
    const file = Buffer.from(`by ${NAME}\n`);
    const before = treeContent(
      Array.from({ length: 9 }, (_, at) => ({ name: `f${at}`, oid: oidOf('blob', Buffer.from([at])) })),
    );
    const after = Buffer.concat([
      before,
      Buffer.from('100644 zz.c\0'),
      Buffer.from(oidOf('blob', file), 'hex'),
    ]);
    const delta: Entry = { type: 'ref-delta', base: oidOf('tree', before), delta: makeDelta(before, after) };
    const search = searched([delta, blob(file)], whole);
    expect(search.names.pathOf(search.hits[0]?.oid ?? '')).toBe('zz.c');
  });

  it('shows a short part of a long line, wherever the bytes were cut', () => {
    const text = `${'x'.repeat(5_000)} ${NAME} ${'y'.repeat(5_000)}`;
    fc.assert(
      fc.property(fc.nat(9_999), (seed) => {
        const [line] = lines(searched([blob(text)], (bytes) => randomPieces(bytes, seed)));
        expect(line).toContain(NAME);
        expect(line?.length).toBeLessThan(160);
      }),
      runs(50),
    );
  });

  it('is one of so many, and no more', () => {
    const files = Array.from({ length: 30 }, (_, at) => blob(`${at} ${NAME}\n`));
    expect(searched(files, whole, 7).hits).toHaveLength(7);
  });
});

it('names that no file system takes are not remembered', () => {
  const [file, other] = [oidOf('blob', Buffer.from('1')), oidOf('blob', Buffer.from('2'))];
  const tree = treeContent([
    { name: 'a'.repeat(60_000), oid: file },
    { name: 'short', oid: other },
  ]);
  const { names } = searched([{ type: 'tree', content: tree }], whole);
  expect([names.pathOf(file), names.pathOf(other)]).toEqual([undefined, 'short']);
});

it('a submodule is seen in a new entry of a tree', () => {
  const tree = Buffer.concat([Buffer.from('160000 lib\0'), Buffer.alloc(20, 7)]);
  const { names } = searched([{ type: 'tree', content: tree }], whole);
  expect(names.hasGitlinks).toBe(true);
});

/** The texts that a delta inserts, in hexadecimal. */
function insertsOf(pieces: readonly Uint8Array[]): string[] {
  const texts = [''];
  const inserts = new DeltaInserts({
    inserted: (part, start, end) =>
      (texts[texts.length - 1] += Buffer.from(part.subarray(start, end)).toString('hex')),
    copied: () => texts.push(''),
  });
  inserts.begin();
  for (const piece of pieces) inserts.take(piece);
  return texts;
}

it('what a delta inserts is read alike in any pieces', () => {
  const bytes = fc.uint8Array({ maxLength: 400 });
  fc.assert(
    fc.property(bytes, bytes, fc.nat(999), (base, result, seed) => {
      const delta = makeDelta(base, result);
      const texts = insertsOf([delta]);
      expect(insertsOf(randomPieces(delta, seed))).toEqual(texts);
      for (const text of texts) expect(Buffer.from(result).toString('hex')).toContain(text);
    }),
    runs(200),
  );
});
