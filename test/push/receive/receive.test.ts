/** Memory of the isolate that a push takes while it arrives. */
import { expect, it } from 'vitest';
import { ByteReader } from '../../../src/git/wire/byte-reader.ts';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import { KEPT_OBJECT_BYTES, NAMED_BASE_BYTES } from '../../../src/git/pack/memory-limits.ts';
import { readPushedPack } from '../../../src/push/receive/receive.ts';
import { PushSpool } from '../../../src/spool/spool.ts';
import { PatientClock } from '../../host/support/scripted-host.ts';
import { CountedMemory } from '../../support/counted-memory.ts';
import { commitContent } from '../../support/objects.ts';
import { buildPack, type Entry, makeDelta } from '../../support/pack-builder.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const KiB = 1024;
const CHUNK_BYTES = 64 * KiB;
const BLOB = Buffer.from('hello\n');
const COUNT = 10_000;

const spool = () =>
  new PushSpool({
    open: () => {
      throw new Error('no rows');
    },
    memory: UNCOUNTED,
    client: null,
    mostBytes: 1e9,
    clock: new PatientClock(),
  });

/** Each chunk has a buffer of its own, as those of a body. */
function readerOf(bytes: Uint8Array): ByteReader {
  let at = 0;
  return new ByteReader({
    read: async () => {
      const chunk = new Uint8Array(bytes.subarray(at, (at += CHUNK_BYTES)));
      return chunk.byteLength === 0 ? null : chunk;
    },
    cancel: async () => {},
  });
}

it('is a buffer and the bases that its deltas name', exhaustive, async () => {
  const entries: Entry[] = Array.from({ length: COUNT }, (_, at) => ({
    type: 'ref-delta',
    base: at.toString(16).padStart(40, '0'),
    delta: makeDelta(BLOB, BLOB),
  }));
  const memory = new CountedMemory();
  await readPushedPack(readerOf(buildPack(entries).bytes), spool, memory);
  // Those of a chunk are counted with the next one.
  expect(memory.bytes).toBeGreaterThan((COUNT - 2_500) * NAMED_BASE_BYTES);
  expect(memory.bytes).toBeLessThan(COUNT * NAMED_BASE_BYTES + CHUNK_BYTES);
});

it(
  'is what its commits take, for which there is room before they come, and no more',
  exhaustive,
  async () => {
    const contents = Array.from({ length: COUNT }, (_, at) => commitContent({ message: `Change ${at}\n` }));
    const entries: Entry[] = contents.map((content) => ({ type: 'commit', content }));
    const memory = new CountedMemory((bytes, isNow) => {
      if (isNow) throw new Error(`no room for ${bytes}`);
    });
    const { kept } = await readPushedPack(readerOf(buildPack(entries).bytes), spool, memory);
    const bytes = contents.reduce((sum, { byteLength }) => sum + byteLength + KEPT_OBJECT_BYTES, 0);
    expect(memory.bytes).toBeGreaterThanOrEqual(bytes);
    expect(memory.bytes).toBeLessThanOrEqual(bytes + CHUNK_BYTES);
    expect(memory.mostBytes).toBeLessThanOrEqual(bytes + 10 * CHUNK_BYTES);
    kept.free(1_000);
    expect(memory.bytes).toBeLessThanOrEqual(1_000 + CHUNK_BYTES);
  },
);
