/**
 * The rewrite of a pack from its first byte to its last, as src/push puts it together, without a
 * host.
 */
import { AnonymousCommits } from '../../src/git/objects/anonymize.ts';
import { type KnownHistory, traceNewCommits } from '../../src/git/objects/new-commits.ts';
import { OwnIds } from '../../src/git/objects/own-ids.ts';
import { planCommits } from '../../src/git/objects/planned-commits.ts';
import { outgoingPack } from '../../src/git/pack/outgoing-pack.ts';
import { PackScanner } from '../../src/git/pack/pack-scanner.ts';
import { BOT, COMMITTED_AT, UPSTREAM } from './random-push.ts';

export interface Rewritten {
  readonly tip: string;
  readonly pack: Buffer;
}

/** All of upstream's history is one commit. */
export const UPSTREAM_HISTORY: KnownHistory = {
  since: -Infinity,
  othersSince: -Infinity,
  isListed: (oid) => oid === UPSTREAM,
  isKnown: (oid) => oid === UPSTREAM,
};

/** Throws ProtocolError as the rooms of src/git do, and Error if the history is not complete. */
export async function rewrite(pieces: readonly Uint8Array[], tip: string): Promise<Rewritten> {
  const { scanner, passed } = receive(pieces);
  const trace = traceNewCommits(tip, scanner.kept, UPSTREAM_HISTORY);
  if (trace.kind !== 'complete') throw new Error('the history is not complete');
  const ids = Array.from(trace.commits, ({ oid }) => oid);
  const { commits } = await planCommits(trace.commits, new OwnIds(ids));
  const anonymous = new AnonymousCommits(commits, BOT, () => COMMITTED_AT);
  const pack = await packOf(anonymous.contents(), anonymous.objectCount, scanner.passedCount, passed);
  return { tip: anonymous.tip, pack };
}

/** Reads a pack to its end. The pieces may be reused afterwards. */
export function receive(pieces: readonly Uint8Array[]) {
  const scanner = new PackScanner();
  const passed: Uint8Array[] = [];
  for (const piece of pieces) passed.push(...scanner.scan(piece).map((bytes) => bytes.slice()));
  scanner.finish();
  return { scanner, passed };
}

export async function packOf(
  contents: Iterable<Uint8Array>,
  commitCount: number,
  passedCount: number,
  passed: readonly Uint8Array[],
): Promise<Buffer> {
  const stream = async function* () {
    yield* passed;
  };
  const sent: Uint8Array[] = [];
  for await (const piece of outgoingPack(commitCount, contents, passedCount, stream())) sent.push(piece);
  return Buffer.concat(sent);
}
