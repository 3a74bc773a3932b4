/** Commits and tags that a pack stores as deltas of objects behind them. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnonymousCommits } from '../../../src/git/objects/anonymize.ts';
import { traceNewCommits } from '../../../src/git/objects/new-commits.ts';
import { OwnIds } from '../../../src/git/objects/own-ids.ts';
import { planCommits } from '../../../src/git/objects/planned-commits.ts';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import { OID_BYTES } from '../../../src/git/objects/oid.ts';
import { PACK_HEADER_BYTES } from '../../../src/git/pack/entry-header.ts';
import type { StoredPack } from '../../../src/git/pack/entry-walker.ts';
import { KeptObjects } from '../../../src/git/pack/kept-objects.ts';
import { keepLateDeltas } from '../../../src/git/pack/late-deltas.ts';
import { outgoingPack } from '../../../src/git/pack/outgoing-pack.ts';
import { readPushedPack, type ReceivedPack } from '../../../src/push/receive/receive.ts';
import type { RowStore } from '../../../src/spool/sealed-rows.ts';
import { PushSpool } from '../../../src/spool/spool.ts';
import { PatientClock } from '../../host/support/scripted-host.ts';
import { CountedMemory } from '../../support/counted-memory.ts';
import { piecesOf, randomPieces, readerOf } from '../../support/byte-chunks.ts';
import { readPack } from '../../support/isomorphic-reader.ts';
import { commitContent, oidNumber, tagContent } from '../../support/objects.ts';
import { buildPack, type Entry, makeDelta, oidOf } from '../../support/pack-builder.ts';
import { BOT, COMMITTED_AT, expectedCommits, randomPush, UPSTREAM } from '../../support/random-push.ts';
import { UPSTREAM_HISTORY } from '../../support/rewrite.ts';
import { runs } from '../../support/runs.ts';
import { exhaustive } from '../../support/exhaustive.ts';

/** Keeps the rows of one spool. */
function newStore(): RowStore {
  const rows = new Map<number, ArrayBuffer>();
  return {
    write: async (_attempt, number, sealed) => void rows.set(number, sealed.slice(0)),
    read: async (_attempt, number) => rows.get(number)?.slice(0) ?? null,
    remove: async () => (rows.clear(), false),
    keep: async () => {},
  };
}

function spools() {
  const opened: PushSpool[] = [];
  const open = (): PushSpool => {
    const store = newStore();
    const spool = new PushSpool({
      open: () => store,
      memory: UNCOUNTED,
      client: null,
      mostBytes: 1e9,
      clock: new PatientClock(),
    });
    opened.push(spool);
    return spool;
  };
  return { opened, open };
}

const receive = (pieces: readonly Uint8Array[], memory = UNCOUNTED) =>
  readPushedPack(readerOf(pieces), spools().open, memory);

async function outgoing(
  contents: Iterable<Uint8Array>,
  count: number,
  { entryCount, spool }: ReceivedPack,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of outgoingPack(count, contents, entryCount, spool.read()))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

const chainOf = (count: number) =>
  Array.from({ length: count }, (_, at) => commitContent({ message: `Change ${at}\n` }));

/** Each is a delta of the one behind it; the last one is whole. */
function backwards(contents: readonly Uint8Array[]): Entry[] {
  return contents.map((content, at): Entry => {
    const base = contents[at + 1];
    if (base === undefined) return { type: 'commit', content };
    return { type: 'ref-delta', base: oidOf('commit', base), delta: makeDelta(base, content) };
  });
}

const refused = (code: string) => expect.objectContaining({ name: 'ProtocolError', code }) as Error;

const anyPush = randomPush({ forwardBases: false, lateCommits: true, nul: true, thin: false });

describe('commits that are deltas of later ones', () => {
  it('are rewritten as any others, for any push in any pieces', exhaustive, async () => {
    await fc.assert(
      fc.asyncProperty(anyPush, fc.nat(999), async (push, seed) => {
        const received = await receive(randomPieces(push.pack, seed));
        const trace = traceNewCommits(push.tip, received.kept, UPSTREAM_HISTORY);
        if (trace.kind !== 'complete') throw new Error(trace.kind);
        const ids = Array.from(trace.commits, ({ oid }) => oid);
        const { commits } = await planCommits(trace.commits, new OwnIds(ids));
        const anonymous = new AnonymousCommits(commits, BOT, () => COMMITTED_AT);
        const { count, objects } = await readPack(
          await outgoing(anonymous.contents(), anonymous.objectCount, received),
        );
        const expected = expectedCommits(push);
        expect(anonymous.tip).toBe(expected.tip);
        for (const [oid, content] of expected.contents) expect(objects.get(oid)?.content).toEqual(content);
        for (const { oid, type, content } of push.treesAndBlobs)
          expect(objects.get(oid)).toEqual({ type, content: Buffer.from(content) });
        expect(objects.size).toBe(expected.contents.size + push.treesAndBlobs.length);
        expect(count).toBe(objects.size);
      }),
      runs(60),
    );
  });

  it.each([
    ['a chain', backwards(chainOf(500)), 500],
    [
      'a tag',
      ((): Entry[] => {
        const [one, two] = [oidNumber(1), oidNumber(2)].map((oid) => tagContent(oid)) as [Buffer, Buffer];
        return [
          { type: 'ref-delta', base: oidOf('tag', two), delta: makeDelta(two, one) },
          { type: 'tag', content: two },
        ];
      })(),
      2,
    ],
    [
      'a delta by its place of one of them',
      ((): Entry[] => {
        const [a, b, c] = chainOf(3) as [Buffer, Buffer, Buffer];
        return [
          { type: 'ref-delta', base: oidOf('commit', c), delta: makeDelta(c, a) },
          { type: 'ofs-delta', base: 0, delta: makeDelta(a, b) },
          { type: 'commit', content: c },
        ];
      })(),
      3,
    ],
  ])('are kept: %s', async (_, entries, count) => {
    const { kept, entryCount, spool, namedBases } = await receive(piecesOf(buildPack(entries).bytes, 777));
    expect([[...kept.objects()].length, entryCount, spool.byteLength, namedBases.size]).toEqual([
      count,
      0,
      0,
      0,
    ]);
  });

  it('leave what stands between them as it was, in memory and in rows', exhaustive, async () => {
    const [first, second] = chainOf(2) as [Buffer, Buffer];
    for (const size of [100, 3_000_000]) {
      const blob = Buffer.from(
        Uint8Array.from({ length: size }, (_, at) => (at * 31 + (at >> 7) * 17) & 255),
      );
      const other = Buffer.concat([blob, Buffer.from('.')]);
      const { bytes } = buildPack([
        { type: 'blob', content: blob, zlib: { level: 0 } },
        ...backwards([first, second]),
        { type: 'ofs-delta', base: 0, delta: makeDelta(blob, other) },
      ]);
      const { opened, open } = spools();
      const received = await readPushedPack(readerOf(piecesOf(bytes, 65_536)), open, UNCOUNTED);
      const { objects } = await readPack(await outgoing([second], 1, received));
      expect([...objects.keys()].toSorted()).toEqual(
        [oidOf('blob', blob), oidOf('blob', other), oidOf('commit', second)].toSorted(),
      );
      expect(opened).toHaveLength(2);
      await expect(opened[0]!.read()[Symbol.asyncIterator]().next()).rejects.toThrow();
    }
  });

  it('stay where they are if nothing that they stand on can be had', async () => {
    const [first, second, third] = chainOf(3) as [Buffer, Buffer, Buffer];
    const cycle: Entry[] = [
      { type: 'ref-delta', base: oidOf('commit', second), delta: makeDelta(second, first) },
      { type: 'ref-delta', base: oidOf('commit', first), delta: makeDelta(first, second) },
      { type: 'ref-delta', base: UPSTREAM, delta: makeDelta(first, second) },
    ];
    const { kept, entryCount, namedBases } = await receive([
      buildPack([...cycle, ...backwards([first, third])]).bytes,
    ]);
    // The last two resolve the first delta's twin, and with it the delta of it.
    expect([...kept.objects()].map(({ oid }) => oid).toSorted()).toEqual(
      [first, second, third].map((content) => oidOf('commit', content)).toSorted(),
    );
    expect([entryCount, [...namedBases.oids()]]).toEqual([1, [UPSTREAM]]);
    const alone = await receive([buildPack([...cycle, { type: 'commit', content: third }]).bytes]);
    expect([alone.kept.entryCount, alone.entryCount]).toEqual([1, 3]);
  });

  it('are within the limits of any others', exhaustive, async () => {
    const contents = Array.from({ length: 4 }, (_, at) =>
      commitContent({ message: Buffer.alloc(7_000_000, at + 65) }),
    );
    await expect(receive([buildPack(backwards(contents)).bytes])).rejects.toEqual(refused('too-large'));
    const memory = new CountedMemory();
    const small = await receive([buildPack(backwards(chainOf(100))).bytes], memory);
    const held = memory.bytes;
    small.kept.free();
    expect(held - memory.bytes).toBeGreaterThan(100 * 768);
    expect(memory.mostBytes).toBeLessThan(2_000_000);
  });

  it('need little memory ahead of what is found, however large the pieces of the pack are', async () => {
    const blob = Buffer.alloc(1024 * 1024, 'x');
    const { bytes } = buildPack([{ type: 'blob', content: blob, zlib: { level: 0 } }]);
    const entries = bytes.subarray(PACK_HEADER_BYTES, -OID_BYTES);
    const pack: StoredPack = {
      read: async function* () {
        yield entries;
      },
      byteLength: entries.byteLength,
      maxReads: Infinity,
    };
    const memory = new CountedMemory();
    expect(await keepLateDeltas(pack, new KeptObjects(), memory)).toEqual([]);
    expect(memory.mostBytes).toBeLessThan(512 * 1024);
  });

  it(
    'are refused if there are too many deltas that may be such, in words that say so',
    exhaustive,
    async () => {
      const first = commitContent({ message: 'Change\n' });
      const delta = makeDelta(first, first);
      const entries: Entry[] = Array.from({ length: 50_001 }, (_, at) => ({
        type: 'ref-delta',
        base: oidNumber(at),
        delta,
      }));
      const last: Entry[] = backwards(chainOf(2));
      await expect(receive(piecesOf(buildPack([...entries, ...last]).bytes, 65_536))).rejects.toMatchObject({
        code: 'too-large',
        message: expect.stringContaining('whose base does not stand before them') as string,
      });
    },
  );

  it('are refused if a delta does not fit its base', async () => {
    const [first, second] = chainOf(2) as [Buffer, Buffer];
    const entries: Entry[] = [
      { type: 'ref-delta', base: oidOf('commit', second), delta: makeDelta(Buffer.from('other'), first) },
      { type: 'commit', content: second },
    ];
    await expect(receive([buildPack(entries).bytes])).rejects.toEqual(refused('bad-pack'));
  });
});
