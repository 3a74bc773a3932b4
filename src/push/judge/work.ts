/**
 * Which commits of a push are new, on which of upstream's they stand, and what is made of them: commits that leave, or one
 * of them all. Nothing may leave unless everything that it
 * stands on is proved to be upstream's, and everything in the pack is needed by the one branch that is taken.
 */
import { utf8 } from '../../git/bytes.ts';
import { type Commit, parseHistory } from '../../git/objects/commit.ts';
import { pullRequestText } from '../../git/objects/commit-message.ts';
import { areAllNeeded, type NewCommits, traceNewCommits } from '../../git/objects/new-commits.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { OwnIds, type Plan, planCommits } from '../../git/objects/planned-commits.ts';
import { type Command, isDeletion } from '../../git/wire/push-request.ts';
import { hiddenCommit } from '../../git/pack/late-deltas.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import { Refusal } from '../reply/refusal.ts';
import { shellWord } from '../reply/banner.ts';
import type { PushOptions } from '../receive/push-options.ts';
import type { Received, ReceivedPack } from '../receive/receive.ts';
import { newestWork } from '../verdict/verdict.ts';
import type { SignOff } from './sign-off.ts';

const SHOWN_ID_LENGTH = 12;

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
      if (areAllNeeded(kept.objects(), commits, ground, otherTips, history)) return { commits, ground };
    }
    const reachesOthers = trace.kind === 'reaches-back-on-others';
    const hasReached = await (reachesOthers ? history.reachBackOnOthers() : history.reachBack());
    if (hasReached || reachesOthers) continue;
    if (hidesCommit()) throw hiddenCommit();
    if (trace.kind === 'unproven' && namedBases.has(trace.missing)) throw hiddenCommit();
    throw trace.kind === 'complete' ? tooMuch(remoteUrl, taken.command) : unproven();
  }
}

/** Of the commits in a pack, those that one of them is made of. */
export function commitsFrom(kept: ReceivedPack['kept'], tip: Oid | null): ReadonlySet<Oid> {
  const found = new Set<Oid>();
  const left = tip === null ? [] : [tip];
  for (let oid = left.pop(); oid !== undefined; oid = left.pop()) {
    const object = found.has(oid) ? undefined : kept.withOid(oid);
    if (object?.type !== 'commit') continue;
    found.add(oid);
    left.push(...parseHistory(object.content).parents);
  }
  return found;
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
function tooMuch(remoteUrl: string, { newId, refName }: Command): Refusal {
  // Nobody here knows what the branch is called at home, and HEAD may be another one.
  const refspec = `${newId.slice(0, SHOWN_ID_LENGTH)}:${refName}`;
  return new Refusal('one-branch', 'push one branch only', [
    'This push contains commits, tags or files that its first branch does not need. Nothing was sent.',
    'Push that branch alone:',
    `  git push --no-follow-tags ${remoteUrl} ${shellWord(refspec)}`,
  ]);
}

/**
 * The commits that leave: all new ones, or one that is made of them.
 * @param signOff null: the messages stay as they are.
 * @param newestOf the upstream commit that contains all others of them; null if there is none.
 * @throws Refusal if they cannot become one.
 */
export async function planWork(
  { commits: pushed, ground }: Work,
  options: Pick<PushOptions, 'squash' | 'title' | 'description'>,
  signOff: SignOff | null,
  newestOf: (ground: ReadonlySet<Oid>) => Promise<Oid | null>,
): Promise<Plan> {
  const commits = signOff?.signed(pushed) ?? pushed;
  const ownIds = new OwnIds(idsOf(commits));
  if (!options.squash) return planCommits(commits, ownIds);
  // If there are several and none contains the others, the one commit could undo changes of some of them.
  const parent = ground.size > 1 ? await newestOf(ground) : [...ground][0];
  if (parent === undefined || parent === null) {
    throw new Refusal('squash', 'the commits cannot be squashed', [
      'They are based on several upstream commits, none of which contains the others, or on no upstream commit.',
      'Rebase them instead of merging, or push without "-o squash".',
    ]);
  }
  const { oid, commit } = commits.at(-1)!;
  // The tip's files.
  const newest = newestCommit(commits);
  const words = squashedMessage(options, newest.commit);
  // The options may have replaced the part of the message that was signed.
  const message = signOff?.signedMessage(newest.oid, words.message) ?? words.message;
  const squashed: Commit = { ...commit, ...words, message, parents: [parent] };
  return planCommits([{ oid, commit: squashed }], ownIds);
}

/** A line for the person, if the squashed commit has another message than the tip. */
export function warningOfSquash(
  { commits }: Work,
  { squash, title }: Pick<PushOptions, 'squash' | 'title'>,
): string[] {
  const isOther = squash && title === null && newestCommit(commits).oid !== commits.at(-1)?.oid;
  return isOther ? ['The squashed commit has the message of your newest commit that is not a merge.'] : [];
}

function newestCommit(commits: NewCommits) {
  const at = (place: number) => commits.at(place)!;
  return at(newestWork(commits.length, (place) => at(place).commit.parents.length > 1));
}

function* idsOf(commits: NewCommits): Generator<Oid> {
  for (const { oid } of commits) yield oid;
}

/** Of the one commit of a squashed push. Without options, the tip's message byte for byte. */
function squashedMessage(
  options: Pick<PushOptions, 'title' | 'description'>,
  tip: Pick<Commit, 'message' | 'encoding'>,
): Pick<Commit, 'message' | 'encoding'> {
  const { title, description } = options;
  if (title === null && description === null) return { message: tip.message, encoding: tip.encoding };
  const text = pullRequestText(tip);
  const whole = `${title ?? text.title}\n\n${description ?? text.body}`;
  return { message: utf8(`${whole.trimEnd()}\n`), encoding: null };
}
