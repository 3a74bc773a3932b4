/** Reads what is kept of a held push. */
import type { HoldToReview } from '../../durable/held-pushes/held-push-record.ts';
import type { Env } from '../../env.ts';
import { concatBytes } from '../../git/bytes.ts';
import type { Memory } from '../../git/memory.ts';
import { spoolOf } from '../../objects.ts';
import { decodeHeld, type HeldPush } from '../../push/hold/held-push.ts';
import { readKept } from '../../spool/spool.ts';

type Kept = Pick<HoldToReview, 'spool' | 'entryBytes'>;

/**
 * Bytes [start, end) of its spool, in pieces that become empty when the next one is asked for. @param key as KV has it.
 */
export function readHeldBytes(
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
export function verdictBytesOf({ spool, entryBytes }: Kept): number {
  return (spool.rowEnds.at(-1) ?? 0) - entryBytes;
}

/** @param memory where it is counted, until that is ended. @throws HostError `busy`; Error if it cannot be read. */
export async function readHeldPush(env: Env, kept: Kept, key: string, memory: Memory): Promise<HeldPush> {
  const bytes = verdictBytesOf(kept);
  await memory.share().set(bytes);
  const pieces: Uint8Array[] = [];
  const end = kept.entryBytes + bytes;
  for await (const piece of readHeldBytes(env, kept, key, memory, kept.entryBytes, end)) {
    pieces.push(piece.slice());
  }
  return decodeHeld(concatBytes(pieces));
}
