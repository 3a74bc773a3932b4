/**
 * Moves a judged push into rows while its person is asked, because a push that waits must not hold
 * memory that others need.
 */
import type { Memory } from '../git/memory.ts';
import { PlannedCommits } from '../git/objects/planned-commits.ts';
import { ByteReader, sourceFrom } from '../git/wire/byte-reader.ts';
import type { PushSpool } from './spool.ts';

const LENGTH_BYTES = 4;

/** Parts of a received pack that hold memory, or rows. */
interface SetAsidePack {
  readonly kept: { free(): void };
  readonly spool: Pick<PushSpool, 'settle'>;
  readonly namedBases: { clear(): void };
}

/**
 * Stores the entries of the pack, and the commits in a spool of their own, each with its length in
 * front. Frees their memory.
 * @throws as `PushSpool.write`
 */
export async function setAside(
  pack: SetAsidePack,
  { encoded }: PlannedCommits,
  spool: PushSpool,
): Promise<void> {
  const length = Buffer.alloc(LENGTH_BYTES);
  for (const commit of encoded) {
    length.writeUInt32BE(commit.byteLength);
    await spool.write([length, commit]);
  }
  await spool.settle();
  await pack.spool.settle();
  encoded.free();
  pack.kept.free();
  pack.namedBases.clear();
}

/**
 * Reads them back, and counts their memory until the push ends.
 * @throws HostError `busy`, LostRowError
 */
export async function takeBack(spool: PushSpool, memory: Memory): Promise<PlannedCommits> {
  await memory.claim().set(spool.byteLength);
  const reader = new ByteReader(sourceFrom(spool.read()));
  const commits = new PlannedCommits();
  for (;;) {
    const length = await reader.readExactly(LENGTH_BYTES);
    if (length === null) return commits;
    const commit = await reader.readExactly(Buffer.from(length).readUInt32BE());
    // The spool yields all that was written, or throws.
    commits.encoded.push(commit as Uint8Array);
  }
}
