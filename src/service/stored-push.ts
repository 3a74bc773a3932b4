/**
 * Reads a delayed push from its spool, with its key.
 * Proved by test/e2e/delayed/delayed-lost.test.ts and test/routes/moderation/delayed.test.ts.
 */
import { bytesOf, type DelayedPush } from '../durable/delayed-pushes/delayed-push.ts';
import type { Env } from '../env.ts';
import type { Memory } from '../git/memory.ts';
import { spoolOf } from '../objects.ts';
import { decodeKept, type KeptPush } from '../push/delay/kept-push.ts';
import { fewInMemory, gather, type StoredEntries } from '../push/receive/receive.ts';
import { readKept } from '../spool/spool.ts';

/** A delayed push as it was judged, and its entries. */
export interface StoredPush {
  readonly kept: KeptPush;
  /** Few entries are in memory, where the objects in them can be read again and again. */
  readonly entries: () => Promise<StoredEntries>;
}

/**
 * Opens a delayed push. Null: its key is not there.
 * @throws HostError `busy`, LostRowError, UnreadableError
 */
export async function openStored(
  env: Env,
  push: Pick<DelayedPush, 'spool' | 'entryBytes'>,
  memory: Memory,
): Promise<StoredPush | null> {
  const { spool, entryBytes: byteLength } = push;
  const key = await env.DELAYED_KEYS.get(spool.attempt);
  if (key === null) return null;
  /** Reads pieces that become empty when the next one is asked for. */
  const read = (start: number, end: number) =>
    readKept({ ...spool, key }, (attempt) => spoolOf(env, attempt), memory, start, end);
  const end = bytesOf(push);
  await memory.claim().set(end - byteLength);
  const kept = decodeKept(await gather(read(byteLength, end)));
  const stored = { byteLength, isInMemory: false, read: (start = 0) => read(start, byteLength) };
  return { kept, entries: () => fewInMemory(stored, memory) };
}
