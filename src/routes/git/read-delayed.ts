/** Reads what is kept of a delayed push. */
import type { NewDelayedPush } from '../../durable/delayed-pushes/delayed-push.ts';
import type { Env } from '../../env.ts';
import { concatBytes } from '../../git/bytes.ts';
import type { Memory } from '../../git/memory.ts';
import { spoolOf } from '../../objects.ts';
import { decodeKept, type KeptPush } from '../../push/delay/kept-push.ts';
import { readKept } from '../../spool/spool.ts';

type Kept = Pick<NewDelayedPush, 'spool' | 'entryBytes'>;

/**
 * Bytes [start, end) of its spool, in pieces that become empty when the next one is asked for. @param key as KV has it.
 */
export function readDelayedBytes(
  env: Env,
  { spool }: Kept,
  key: string,
  memory: Memory,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  return readKept({ ...spool, key }, (attempt) => spoolOf(env, attempt), memory, start, end);
}

/** How many bytes what was judged has, behind the entries. */
export function judgedBytesOf({ spool, entryBytes }: Kept): number {
  return (spool.rowEnds.at(-1) ?? 0) - entryBytes;
}

/** @param memory where it is counted, until that is ended. @throws HostError `busy`; Error if it cannot be read. */
export async function readDelayedPush(env: Env, kept: Kept, key: string, memory: Memory): Promise<KeptPush> {
  const bytes = judgedBytesOf(kept);
  await memory.share().set(bytes);
  const pieces: Uint8Array[] = [];
  const end = kept.entryBytes + bytes;
  for await (const piece of readDelayedBytes(env, kept, key, memory, kept.entryBytes, end)) {
    pieces.push(piece.slice());
  }
  return decodeKept(concatBytes(pieces));
}
