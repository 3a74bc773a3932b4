/** What deltas make, for chains of any shape, with bases inside and outside of the pack. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteSearch } from '../../../src/git/search/byte-search.ts';
import { searchDeltaResults } from '../../../src/git/search/delta-search.ts';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import { PackedDeltas } from '../../../src/git/pack/packed-deltas.ts';
import { randomPieces } from '../../support/byte-chunks.ts';
import { buildPack, type Entry, makeDelta, oidOf } from '../../support/pack-builder.ts';
import { runs } from '../../support/runs.ts';

const NO_LIMIT = 1 << 30;
const all = () => true;
const isWanted = (delta: Uint8Array) => Buffer.from(delta).includes('wanted');

function deltasOf(entries: readonly Entry[], maxBytes = NO_LIMIT, seed = 1): PackedDeltas {
  const pack = buildPack(entries).bytes.subarray(0, -20);
  return new PackedDeltas(randomPieces(pack, seed), maxBytes, UNCOUNTED);
}

const refuse = () => {
  throw new Error('busy');
};

const blob = (content: Uint8Array) => ({ type: 'blob', content, oid: oidOf('blob', content) }) as const;
const texts = ({ results }: PackedDeltas) => results.map(({ content }) => Buffer.from(content).toString());

describe('the deltas of a pack', () => {
  it('are resolved on whatever they stand, in any order', () => {
    const version = fc.uint8Array({ minLength: 1, maxLength: 80 });
    const link = fc.constantFrom('ofs', 'ref');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(version, link), { minLength: 2, maxLength: 8 }),
        fc.boolean(),
        fc.nat(999),
        (chain, isThin, seed) => {
          const versions = chain.map(([content]) => content);
          const [first = new Uint8Array(0)] = versions;
          const entries: Entry[] = isThin ? [] : [{ type: 'blob', content: first }];
          for (const [index, [, kind]] of chain.entries()) {
            if (index === 0) continue;
            const before = versions[index - 1] as Uint8Array;
            const delta = makeDelta(before, versions[index] as Uint8Array);
            const base = entries.length - 1;
            if (kind === 'ofs' && base >= 0) entries.push({ type: 'ofs-delta', base, delta });
            else entries.push({ type: 'ref-delta', base: oidOf('blob', before), delta });
          }
          // Those by id may come before what they stand on.
          const isByIds = chain.every(([, kind], index) => index === 0 || kind === 'ref');
          const deltas = deltasOf(isByIds ? entries.toReversed() : entries, NO_LIMIT, seed);
          if (isThin) {
            const ids = [...deltas.missingBases(all).keys()];
            expect(ids).toContain(oidOf('blob', first));
            deltas.add([blob(first)]);
          }
          const made = new Set(deltas.results.map(({ oid }) => oid));
          for (const content of versions.slice(1)) expect(made).toContain(oidOf('blob', content));
        },
      ),
      runs(200),
    );
  });

  it('name the bases that the pack lacks, with their sizes', () => {
    const [one, two] = [Buffer.from('the first file\n'), Buffer.from('the second file\n')];
    const entries: Entry[] = [one, two, one].map((base) => ({
      type: 'ref-delta',
      base: oidOf('blob', base),
      delta: makeDelta(base, Buffer.concat([base, Buffer.from('more\n')])),
    }));
    const deltas = deltasOf(entries);
    expect([...deltas.missingBases(all)]).toEqual([
      [oidOf('blob', one), one.length],
      [oidOf('blob', two), two.length],
    ]);
    deltas.add([blob(two)]);
    expect(texts(deltas)).toEqual(['the second file\nmore\n']);
    deltas.add([blob(one)]);
    expect(texts(deltas).slice(1)).toEqual(['the first file\nmore\n', 'the first file\nmore\n']);
  });

  it('name only the bases that a wanted delta stands on, also through others', () => {
    const [one, two] = [
      Buffer.from('the first file\n'.repeat(9)),
      Buffer.from('the second file\n'.repeat(9)),
    ];
    const step = Buffer.concat([one, Buffer.from('a step\n')]);
    const entries: Entry[] = [
      { type: 'ref-delta', base: oidOf('blob', one), delta: makeDelta(one, step) },
      { type: 'ofs-delta', base: 0, delta: makeDelta(step, Buffer.concat([step, Buffer.from('wanted\n')])) },
      { type: 'ref-delta', base: oidOf('blob', two), delta: makeDelta(two, Buffer.concat([two, two])) },
    ];
    expect([...deltasOf(entries).missingBases(isWanted).keys()]).toEqual([oidOf('blob', one)]);
    expect(deltasOf(entries).missingBases(() => false).size).toBe(0);
  });

  it('are left out where they do not fit', () => {
    const base = Buffer.alloc(50_000, 'x');
    const delta = makeDelta(base, Buffer.concat([base, Buffer.from('y')]));
    const entries: Entry[] = [{ type: 'ref-delta', base: oidOf('blob', base), delta }];
    expect(deltasOf(entries, 40_000).missingBases(all).size).toBe(0);
    const deltas = deltasOf(entries, 60_000);
    expect(deltas.missingBases(all).size).toBe(1);
    deltas.add([blob(base)]);
    expect(deltas.results).toEqual([]);
  });

  it('count what they take before they take it', () => {
    const base = Buffer.alloc(10_000, 'x');
    const entries: Entry[] = [
      { type: 'blob', content: base },
      { type: 'ofs-delta', base: 0, delta: makeDelta(base, Buffer.concat([base, base])) },
    ];
    let used = 0;
    const pack = buildPack(entries).bytes.subarray(0, -20);
    const deltas = new PackedDeltas([pack], NO_LIMIT, { use: (bytes) => (used += bytes) });
    expect(deltas.results).toHaveLength(1);
    expect(used).toBeGreaterThan(30_000);
    expect(() => new PackedDeltas([pack], NO_LIMIT, { use: refuse })).toThrow('busy');
  });

  it('that do not fit their base are a damaged pack', () => {
    const base = Buffer.from('a base that is longer than the other one\n');
    const delta = makeDelta(base, Buffer.from('a base that is longer\n'));
    const entries: Entry[] = [
      { type: 'blob', content: Buffer.from('short') },
      { type: 'ofs-delta', base: 0, delta },
    ];
    expect(() => deltasOf(entries)).toThrow('malformed delta');
  });
});

describe('a search of what deltas make', () => {
  const classes = [
    [0x0a, 0x20, 0x2c],
    ...Array.from(Buffer.from('Ada'), (byte: number) => [byte]),
    [0x0a, 0x20, 0x2c],
  ];
  const found = (before: string, after: string) => {
    const base = Buffer.from(before);
    const deltas = deltasOf([
      { type: 'blob', content: base },
      { type: 'ofs-delta', base: 0, delta: makeDelta(base, Buffer.from(after)) },
    ]);
    const hits = searchDeltaResults(new ByteSearch([{ classes }]), deltas.results, 10);
    return hits.map(({ excerpt }) => Buffer.from(excerpt).toString());
  };
  const filler = 'words that stay as they are, line after line\n'.repeat(4);

  it.each([
    ['in a text that is new', filler, `${filler}by Ada\n`],
    ['put together from what is there', `${filler}Ad\n${filler}xa\n`, `${filler}Ad${filler}xa\nby Ada`],
    ['at the end of a file', filler, `${filler}Ada`],
  ])('finds a name %s', (_, before, after) => {
    expect(found(before, after)).toHaveLength(1);
  });

  it.each([
    ['that was there', `${filler}by Ada\n`, `${filler}by Ada\nmore\n`],
    ['behind which something else follows', `${filler}by Ada\n${filler}`, `${filler}by Ada, Bob\n${filler}`],
  ])('does not find a name %s', (_, before, after) => {
    expect(found(before, after)).toEqual([]);
  });
});
