/**
 * Which commits of a push are new, and on which of upstream's they stand. Nothing may leave unless everything that it
 * stands on is proved to be upstream's, and everything in the pack is needed by the one branch that is taken.
 */
import { type NewCommits, traceNewCommits } from '../../git/objects/new-commits.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { classifyObjects } from '../../git/objects/pushed-objects.ts';
import { isDeletion } from '../../git/wire/push-request.ts';
import type { PushTarget } from '../../git/wire/ref-name.ts';
import { hiddenCommit } from '../../git/pack/pack-receiver.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import { Refusal } from '../reply/refusal.ts';
import { shellWord } from '../reply/banner.ts';
import type { Received } from '../receive/receive.ts';

export interface Work {
  /** Parents before children; at least one. */
  readonly commits: NewCommits;
  /** The upstream commits that they stand on. */
  readonly ground: ReadonlySet<Oid>;
}

/**
 * Lists upstream's history as far back as it takes.
 * @param remoteUrl for the advice. @throws Refusal, ProtocolError
 */
export async function findWork(
  { pack, taken, commandList }: Received,
  history: UpstreamHistory,
  remoteUrl: string,
): Promise<Work> {
  const tip = taken.command.newId;
  const otherTips = commandList
    .filter((command) => command !== taken.command && !isDeletion(command))
    .map(({ newId }) => newId);
  const { kept, namedBases } = pack;
  const find = (oid: Oid): Uint8Array | undefined => {
    const object = kept.withOid(oid);
    return object?.type === 'commit' ? object.content : undefined;
  };
  /** Whether an entry is a delta of one of upstream's commits, as far as these are known. */
  const hidesCommit = (): boolean => {
    for (const base of namedBases.oids()) if (history.isKnown(base)) return true;
    return false;
  };
  for (;;) {
    if (hidesCommit()) throw hiddenCommit();
    const trace = traceNewCommits(tip, find, history);
    if (trace.kind === 'complete') {
      const { commits, ground } = trace;
      if (commits.length === 0) throw nothingNew();
      const { areAllNeeded } = classifyObjects(kept.objects(), commits, ground, otherTips, history);
      if (areAllNeeded) return { commits, ground };
    }
    const reachesOthers = trace.kind === 'reaches-back-on-others';
    const hasReached = await (reachesOthers ? history.reachBackOnOthers() : history.reachBack());
    if (hasReached || reachesOthers) continue;
    if (hidesCommit()) throw hiddenCommit();
    throw trace.kind === 'complete' ? tooMuch(remoteUrl, taken.target) : unproven();
  }
}

function nothingNew(): Refusal {
  return new Refusal('nothing-new', 'nothing to propose', [
    'Upstream already has everything in this push. Commit something first.',
  ]);
}

function unproven(): Refusal {
  return new Refusal('fetch-first', 'fetch first', [
    'The push is based on commits that the service cannot find upstream.',
    'Run "git fetch", rebase your work, then push again.',
    'If it is based on another branch of upstream, push to refs/for/<that branch>.',
  ]);
}

/** A pack does not say which files belong to which ref, so none of them may leave. */
function tooMuch(remoteUrl: string, target: PushTarget): Refusal {
  const refspec = target.kind === 'branch' ? target.branch : '<your branch>:refs/for/<base>';
  return new Refusal('one-branch', 'push one branch only', [
    'This push contains commits, tags or files that its first branch does not need. Nothing was sent.',
    'Push that branch alone:',
    `  git push --no-follow-tags ${remoteUrl} ${shellWord(refspec)}`,
  ]);
}
