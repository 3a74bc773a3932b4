/**
 * Which commits of a push are new, where in upstream they stand, and what leaves: they, or one made
 * of them, signed off if wanted. What they stand on must be proved upstream's, and all of the pack
 * be needed by the one branch taken.
 * Proved by test/durable/pull-request/dates-of.test.ts and test/e2e/push/push-history.test.ts.
 */
import { latin1, utf8 } from '../../git/bytes.ts';
import type { Memory } from '../../git/memory.ts';
import { datesOf, undatedOf } from '../../durable/pull-request/record.ts';
import { areAllNeeded, tagTarget } from '../../git/objects/all-needed.ts';
import { AnonymousCommits, type DateOf } from '../../git/objects/anonymize.ts';
import { pullRequestText } from '../../git/objects/commit-message.ts';
import { type CommitIdentity, lineEnd, parseHistory, startsWith } from '../../git/objects/commit.ts';
import type { NewCommit, NewCommits } from '../../git/objects/found-commits.ts';
import { traceNewCommits } from '../../git/objects/new-commits.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { OwnIds } from '../../git/objects/own-ids.ts';
import { type Plan, planCommits, type PlannedCommits } from '../../git/objects/planned-commits.ts';
import { type Reword, rewordedCommits } from '../../git/objects/reword.ts';
import type { SigningKey } from '../../git/objects/ssh-signature.ts';
import type { KeptObjects } from '../../git/pack/kept-objects.ts';
import { hiddenCommit } from '../../git/pack/late-deltas.ts';
import { isDeletion } from '../../git/wire/push-request.ts';
import { branchName, type Ref } from '../../git/wire/ref-advertisement.ts';
import { oneLine } from '../../words/host-text.ts';
import { newestWork } from '../../text/pull-request-text.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import type { PushOptions } from '../receive/push-options.ts';
import type { Received } from '../receive/receive.ts';
import { type CommandTarget, oneBranchCommand, shellWord, withdrawalCommand } from '../reply/commands.ts';
import type { ClaimedUpdate } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import type { GitQuestions, Place } from './questions.ts';

/** Bytes of a commit to read: the author's line stands behind the parents'. */
const MAX_HEAD_BYTES = 4_096;

export interface Work {
  /** Parents before children; at least one. */
  readonly commits: NewCommits;
  /** The upstream commits that they stand on. */
  readonly boundary: ReadonlySet<Oid>;
}

/** Where the pack's commits are. */
type Kept = Pick<KeptObjects, 'withOid'>;

/**
 * Lists upstream's history as far back as it takes.
 * @param advice the address, the door and the base, for commands.
 * @throws Refusal, ProtocolError
 */
export async function findWork(
  { pack, taken, commandList, options }: Received,
  history: UpstreamHistory,
  { remoteUrl, branch, door }: Pick<CommandTarget, 'remoteUrl' | 'door'> & { readonly branch: string },
  memory: Pick<Memory, 'worked'>,
): Promise<Work> {
  const { newId: tip, refName } = taken.command;
  const others = commandList.filter((command) => command !== taken.command && !isDeletion(command));
  const otherTips = others.map(({ newId }) => newId);
  const { kept, namedBases } = pack;
  refuseTag(kept, tip, { remoteUrl, refName, door });
  /** Whether an entry is a delta of one of upstream's commits, as far as these are known. */
  const hidesCommit = (): boolean => {
    for (const oid of namedBases.oids()) if (history.isKnown(oid)) return true;
    return false;
  };
  for (;;) {
    if (hidesCommit()) throw hiddenCommit();
    const trace = traceNewCommits(tip, kept, history);
    await memory.worked(kept.bytes);
    if (trace.kind === 'complete') {
      const { commits, boundary } = trace;
      if (commits.length === 0)
        throw new Refusal('nothing-new', 'nothing to propose', [
          'Upstream already has everything in this push. Commit something first.',
          ...(options.prHash === null ? [] : withdrawalAdvice(options.prHash, { remoteUrl, door })),
        ]);
      if (areAllNeeded(kept, commits, boundary, otherTips, history)) return { commits, boundary };
    }
    const reachesOthers = trace.kind === 'reaches-back-on-others';
    const hasReached = await (reachesOthers ? history.reachBackOnOthers() : history.reachBack());
    if (hasReached || reachesOthers) continue;
    if (hidesCommit()) throw hiddenCommit();
    if (trace.kind === 'unproven' && namedBases.has(trace.missing)) throw hiddenCommit();
    if (trace.kind !== 'complete')
      throw new Refusal('fetch-first', 'fetch first', [
        'The push is based on commits that the service cannot find upstream. Run this, and push again:',
        `  git pull --rebase ${remoteUrl} ${shellWord(branch)}`,
        'If your work is for another branch of upstream, name that in the command, and push with: -o base=<branch>',
      ]);
    // A pack does not say which files belong to which ref, so none of them may leave.
    throw new Refusal('one-branch', 'push one branch only', [
      'This push contains commits, tags or files that its first branch does not need. Nothing was sent.',
      'Push that branch alone:',
      `  ${oneBranchCommand(tip, { remoteUrl, refName, door })}`,
    ]);
  }
}

/** Refuses a tag that is pushed under the name of a branch. @throws Refusal */
function refuseTag(kept: Kept, tip: Oid, to: CommandTarget): void {
  if (kept.withOid(tip)?.type !== 'tag') return;
  let named = tip;
  // A tag may name a tag. An id cannot name itself, so this ends.
  for (let each = kept.withOid(named); each?.type === 'tag'; each = kept.withOid(named))
    named = tagTarget(each.content);
  throw new Refusal('one-branch', 'tags are not accepted, because they contain a name', [
    'Nothing was sent. Push the commit that the tag names:',
    `  ${oneBranchCommand(named, to)}`,
  ]);
}

function withdrawalAdvice(prHash: string, to: Pick<CommandTarget, 'remoteUrl' | 'door'>): string[] {
  return ['To withdraw the pull request:', `  ${withdrawalCommand(prHash, null, to)}`];
}

/** @property bot whose commits are nobody's. */
interface Surroundings {
  readonly base: Ref;
  readonly defaultBranch: Ref;
  readonly remoteUrl: string;
  readonly bot: CommitIdentity;
  /** Whether the host must not learn yet what the push stands on. */
  readonly isQuiet: boolean;
}

/** Upstream commits that work may stand on to be compared with the base: a rebase leaves one. */
const MOST_BOUNDARIES = 20;

/**
 * Refuses work that shares no history with its base: the host would take all commits, upstream's
 * former ones among them, in the bot's name, and then open no pull request.
 * @throws Refusal
 */
export async function refuseUnrelated(
  { commits, boundary }: Work,
  history: Pick<UpstreamHistory, 'has' | 'branchesHolding'>,
  { remoteUrl, bot, ...where }: Surroundings,
  git: Pick<GitQuestions, 'isApart'>,
): Promise<void> {
  if (!(await isUnrelated(boundary, history, where, git))) return;
  const [boundaryOid] = boundary;
  throw unrelated(where.base, remoteUrl, boundaryOid, othersIn(commits, bot).at(-1)?.oid);
}

/** Whether work shares no history with its base, as far as that can be known. */
export async function isUnrelated(
  boundary: ReadonlySet<Oid>,
  history: Pick<UpstreamHistory, 'has' | 'branchesHolding'>,
  { base, defaultBranch, isQuiet }: Pick<Surroundings, 'base' | 'defaultBranch' | 'isQuiet'>,
  git: Pick<GitQuestions, 'isApart'>,
): Promise<boolean> {
  if (boundary.size === 0 || boundary.size > MOST_BOUNDARIES) return boundary.size === 0;
  const tips = new Set<Oid>();
  for (const oid of boundary) {
    if (history.has(base.oid, oid)) return false;
    if (history.has(defaultBranch.oid, oid)) {
      tips.add(defaultBranch.oid);
      continue;
    }
    // The tip of any other branch would tell what the push stands on.
    if (isQuiet) return false;
    const holders = history.branchesHolding(new Set([oid]));
    if (holders.some(({ name }) => name === base.name)) return false;
    tips.add(holders[0]?.oid ?? oid);
  }
  return git.isApart(base.oid, [...tips]);
}

/**
 * Says that the host would find no history in common, and how to mend it.
 * @param boundaryOid an upstream commit that the work stands on; none: it stands on nothing.
 * @param last where the commits of others end, if it stands on nothing.
 */
export function unrelated(base: Ref, remoteUrl: string, boundaryOid?: Oid, last?: Oid): Refusal {
  const name = oneLine(branchName(base));
  const from = boundaryOid ?? last;
  return new Refusal('base', 'no history in common', [
    `Your commits stand on no commit of the branch "${name}": upstream may have replaced its history, or it is another branch.`,
    ...(boundaryOid === undefined
      ? []
      : ['Name the branch that they are for with -o base=<branch>, or move them:']),
    `  git fetch ${remoteUrl} ${shellWord(name)}`,
    `  git rebase --onto FETCH_HEAD ${from === undefined ? '--root' : from.slice(0, 12)}`,
    ...(boundaryOid === undefined && last !== undefined
      ? ['This leaves out everything up to the last commit by another author.']
      : []),
    'Then push again.',
  ]);
}

/** The commits by others than the author of the newest one and the bot, oldest first. */
export function othersIn(commits: NewCommits, { name, email }: CommitIdentity): NewCommit[] {
  const own = new Set([authorOf(commits.at(-1)!), `author ${name} <${email}`]);
  const others: NewCommit[] = [];
  for (const commit of commits) if (!own.has(authorOf(commit))) others.push(commit);
  return others;
}

/**
 * Finds the files that the work began with, where it may end with the same. Null: it does not, or
 * nobody knows.
 * @param entryCount folders and files in the pack: with some, a single commit changes something.
 * @param treeOf answers null if the host is not asked, or did not answer.
 */
export async function findBoundaryTree(
  { commits, boundary }: Work,
  entryCount: number,
  treeOf: (commit: Oid) => Promise<Oid | null>,
): Promise<Oid | null> {
  const [boundaryOid, another] = boundary;
  const mayBe = entryCount === 0 || commits.length > 1;
  return boundaryOid === undefined || another !== undefined || !mayBe ? null : treeOf(boundaryOid);
}

/** Tells whether the work ends with the files that it began with, as after a revert. */
export function changesNothing(
  { commits, boundary }: Work,
  entryCount: number,
  boundaryTree: Oid | null,
): boolean {
  if (boundary.size !== 1) return false;
  return boundaryTree === null ? entryCount === 0 : boundaryTree === commits.at(-1)?.commit.tree;
}

/** Name and address, as their bytes stand there. Without patterns, because a push has thousands. */
export function authorOf({ content }: Pick<NewCommit, 'content'>): string | undefined {
  const head = content.subarray(0, MAX_HEAD_BYTES);
  for (let start = 0, end = 0; start < head.length; start = end + 1) {
    end = lineEnd(head, start);
    if (startsWith(head, start, 'author ')) return latin1(head, start, end).split('>', 1)[0];
  }
  return undefined;
}

/** Finds those commits in a pack that one of them is made of: itself and its ancestors. */
export function commitsFrom(kept: Kept, tip: Oid | null): ReadonlySet<Oid> {
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

/**
 * The commits that leave: all new ones, or one made of them.
 * @param reword null: messages stay.
 * @throws Refusal
 */
export async function planWork(
  { commits: pushed, boundary }: Work,
  { squash, title, description }: Pick<PushOptions, 'squash' | 'title' | 'description'>,
  reword: Reword | null,
  newestOf: (boundary: ReadonlySet<Oid>) => Promise<Oid | null>,
  memory: Pick<Memory, 'worked'>,
): Promise<Plan> {
  const ownIds = new OwnIds(idsOf(pushed));
  if (!squash) {
    const commits = reword === null ? pushed : await rewordedCommits(pushed, reword, memory);
    return planCommits(commits, ownIds, memory);
  }
  // If there are several and none contains the others, the one commit could undo changes of some of
  // them.
  const parent = boundary.size > 1 ? await newestOf(boundary) : [...boundary][0];
  if (parent === undefined || parent === null) {
    throw new Refusal('squash', 'the commits cannot be squashed', [
      'Your commits are based on several upstream commits, none of which contains the others, or on none.',
      'Rebase them instead of merging, or push without "-o squash".',
    ]);
  }
  const tip = pushed.at(-1)!;
  const newest = newestCommit(pushed);
  const reworded = (words: Uint8Array): Uint8Array => reword?.(newest, words) ?? words;
  let { encoding } = newest.commit;
  let message = reworded(newest.commit.message);
  if (title !== null || description !== null) {
    const text = pullRequestText({ encoding, message });
    // The options may replace the part of the message that was reworded.
    message = reworded(utf8(`${`${title ?? text.title}\n\n${description ?? text.body}`.trimEnd()}\n`));
    encoding = null;
  }
  // The tip's files.
  const { tree, committedAt } = tip.commit;
  const commit = { tree, committedAt, message, encoding, parents: [parent] };
  return planCommits([{ oid: tip.oid, content: tip.content, commit }], ownIds);
}

/** Asks for the upstream commit that contains all others. */
export function newestBoundary(place: Place | null): (boundary: ReadonlySet<Oid>) => Promise<Oid | null> {
  if (place !== null) return (boundary) => place.ask.newestOf(boundary);
  return async () => {
    throw new Refusal('squash', 'the commits cannot be squashed and delayed', [
      'Your commits are based on several upstream commits. Rebase them instead of merging, or push without a delay.',
    ]);
  };
}

/** The dates of commits that are published at `now`, in seconds since 1970. */
export function datesNow(
  commits: PlannedCommits,
  bot: CommitIdentity,
  claim: ClaimedUpdate | null,
  now: number,
): DateOf {
  return datesOf(undatedOf(commits, bot), claim?.dates ?? [], now).dateOf;
}

/** The commits as they would leave at `now`. */
export function commitsNow(
  published: Parameters<typeof datesNow>,
  signingKey: SigningKey | null,
  memory: Pick<Memory, 'claim' | 'worked'>,
): Promise<AnonymousCommits> {
  const [commits, bot] = published;
  return AnonymousCommits.make(commits, bot, datesNow(...published), signingKey, memory);
}

/** The original ids, but those that are public anyway. */
export function* idsOf(
  commits: NewCommits,
  publics: Pick<AnonymousCommits, 'has'> | null = null,
): Generator<Oid> {
  for (const { oid } of commits) if (publics?.has(oid) !== true) yield oid;
}

/** The newest commit that is not a merge. */
export function newestCommit(commits: NewCommits): NewCommit {
  const at = (place: number) => commits.at(place)!;
  return at(newestWork(commits.length, (place) => at(place).commit.parents.length > 1));
}
