/** The rewrite of a pack from its first byte to its last, as src/push/fork/pack-relay.ts puts it together, without a host. */
import { anonymizeCommits } from '../../src/git/anonymize.ts';
import { type KnownHistory, traceNewCommits } from '../../src/git/new-commits.ts';
import { orderByMentions, OwnIds } from '../../src/git/own-ids.ts';
import { PackRewriter } from '../../src/git/pack/pack-rewriter.ts';
import { BOT, COMMITTED_AT, UPSTREAM } from './random-push.ts';

export interface Rewritten {
  readonly tip: string;
  readonly pack: Buffer;
  /** Bytes that were ready to leave before the pack was read to its end. */
  readonly earlyBytes: number;
}

/** All of upstream's history is one commit. */
export const UPSTREAM_HISTORY: KnownHistory = {
  since: -Infinity,
  othersSince: -Infinity,
  isListed: (oid) => oid === UPSTREAM,
  isKnown: (oid) => oid === UPSTREAM,
};

/**
 * @param start `at-end`: once the pack has been read; `early`: once history is complete and other objects arrive.
 * Throws ProtocolError as the rooms of src/git do, and Error if the history is not complete at the end.
 */
export function rewrite(pieces: readonly Uint8Array[], tip: string, start: 'early' | 'at-end'): Rewritten {
  const rewriter = new PackRewriter((oid) => UPSTREAM_HISTORY.isListed(oid));
  const sent: Uint8Array[] = [];
  let newTip: string | null = null;
  const tryToStart = (): boolean => {
    const trace = traceNewCommits(tip, (oid) => rewriter.findCommit(oid), UPSTREAM_HISTORY);
    if (trace.kind !== 'complete') return false;
    const mentions = new OwnIds(Array.from(trace.commits, ({ oid }) => oid)).mentionsInMessages(
      trace.commits,
    );
    const commits = orderByMentions(trace.commits, mentions);
    const { renamed, contents } = anonymizeCommits(commits, BOT, () => COMMITTED_AT, mentions);
    rewriter.start(contents);
    newTip = renamed.get(tip) as string;
    return true;
  };
  for (const piece of pieces) {
    rewriter.scan(piece);
    if (newTip === null && start === 'early' && rewriter.hasPassed) tryToStart();
    // Copies: pieces may be views of chunks that come again.
    if (newTip !== null) sent.push(...rewriter.take().map((bytes) => bytes.slice()));
  }
  rewriter.finish();
  const earlyBytes = sent.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (newTip === null && !tryToStart()) throw new Error('the history is not complete');
  sent.push(...rewriter.take(), rewriter.trailer());
  return { tip: newTip as unknown as string, pack: Buffer.concat(sent), earlyBytes };
}
