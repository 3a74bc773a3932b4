/**
 * Where a push goes: repository, pull request, branch. A delayed one asks the host's interface when
 * published.
 * Proved by test/push/judge/judge.test.ts and test/e2e/push/told-before.test.ts.
 */
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import { closedTo, muteRefusal, OPEN_POLICY, policyRefusal } from '../../policy/policy.ts';
import { statedText } from '../../text/pull-request-text.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import { type Finding, say, warn } from '../../words/finding.ts';
import { oneLine } from '../../words/host-text.ts';
import { nearName } from '../../words/near-name.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import type { PushSettings, PushStore } from '../push-host.ts';
import { type ClaimedUpdate, missingKey, type Pushed } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate, type NamedPullRequest, type OpenPlace, type PushedWork } from '../verdict.ts';
import type { Memory } from '../../git/memory.ts';
import type { Compared, ComparedAs } from '../same-work.ts';
import type { Findings } from './findings.ts';
import type { Place, Upstream } from './questions.ts';
import { demands, notShown } from './rules/place.ts';
import type { Work } from './work.ts';

/** Circumstances that judging needs besides the push and upstream. */
export interface Circumstances {
  readonly settings: PushSettings;
  readonly botLogin: string;
  /** The claim of the pull request that the push names, if the service has that in its list. */
  readonly listed: ClaimedUpdate | null;
  readonly records: Records;
  readonly memory: Memory;
  /** Seconds since 1970. */
  readonly now: number;
  /** Why the client's limits would refuse what a preview shows; null: they would not. */
  readonly refusal: Refusal | null;
  /**
   * Where the host's interface is not asked: whether the pull request that the push names is open,
   * by the service's own record; true also if its pr-hash is not valid.
   */
  readonly wasOpen: boolean;
}

/** The service's own records, which may be asked at any time. */
export interface Records extends Pick<PushStore, 'recorded'> {
  /** Compares a push, as the function of this name, for the first time. */
  compare(push: Pick<PushedWork, 'commits' | 'entryCount'>, as: ComparedAs): Promise<Compared>;
}

/** Branches in a list of those that there are. */
const MOST_NAMED = 10;
/** Refs among which a misspelt branch is looked for. */
const MOST_COMPARED = 1_000;

/** Code of the finding that the push names a pull request which nobody knows. */
export const UNKNOWN_HASH = 'unknown-hash';

const NOT_OPEN = [
  'It was merged or closed while your change waited.',
  'Push again without pr-hash if you want a new one.',
];

/** Where a push goes. */
export interface Destination extends Base {
  readonly born: BornUpstream;
  /** The answers of the place; null: it is not asked yet. */
  readonly open: Omit<OpenPlace, 'named'> | null;
  /** The pull request that the push names; null: none, or one that nobody knows. */
  readonly named: Omit<NamedPullRequest, 'tip'> | null;
  /** The claim on the pull request that is updated, or whose branch is used again. */
  readonly claim: ClaimedUpdate | null;
  /** Whether an open pull request is updated, as far as is known. */
  readonly updates: boolean;
}

/** @throws Refusal if the push can go nowhere */
export async function findDestination(
  pushed: Pushed,
  upstream: Upstream,
  place: Place | null,
  { settings, listed, refusal, wasOpen }: Circumstances,
  findings: Findings,
): Promise<Destination> {
  const { options, taken } = pushed;
  const { prKey, signOff: isSignedOff } = options;
  const branch = namedBase(pushed) ?? (taken.target.kind === 'branch' ? taken.target.branch : null);
  const born = bornUpstream(upstream, branch);
  // Where doubles are refused, only publishing shows whether a new one opens.
  const mayOpen = settings.pushDoubles === 'tell' && refusal === null;
  const push = { ...options, hasKey: prKey !== null, isSignedOff, stated: options };
  const found =
    place === null
      ? { open: null, named: null, claim: listed }
      : await askPlace(place, settings, push, listed, { mayOpen, mustBeOpen: false }, findings);
  const updates = place === null ? wasOpen : isUpdate(found);
  const current = isUpdate(found) ? (found.named?.pullRequest.base ?? null) : null;
  const standIn = {
    base: born.defaultBranch,
    isBaseNamed: false,
    isBaseRefused: true,
    isGuess: born.hasAllBranches,
  };
  const base = await findings.valueOr(() => chooseBase(place, pushed, current, born), standIn);
  if (!base.isBaseRefused) findings.add(unlistedBranches(born, base));
  return { born, updates, ...found, ...base };
}

type Asking = Pick<PushedWork, 'prHash' | 'hasKey' | 'isSignedOff' | 'stated'> &
  Readonly<Record<'title' | 'description', unknown>>;

/**
 * Asks the place, for a live or a delayed push, whether it takes pull requests, and this one. Finds
 * and claims the one that the push names.
 * @param claim null: only the host may know the named one.
 * @param how whether a new one may open; whether the named one must be open.
 * @throws Refusal
 */
export async function askPlace(
  place: Place,
  settings: PushSettings,
  push: Asking,
  claim: ClaimedUpdate | null,
  how: { readonly mayOpen: boolean; readonly mustBeOpen: boolean },
  findings: Findings,
): Promise<Pick<Destination, 'named' | 'claim'> & { readonly open: Omit<OpenPlace, 'named'> }> {
  const open = openPlace(place, settings, push);
  const found = await findNamed(place, push, claim, how.mayOpen, findings);
  await findings.run(() => keyForTexts(push, found));
  if (how.mustBeOpen && !isUpdate(found)) {
    const cause = found.named === null ? notShown() : undefined;
    throw new Refusal('not-open', 'the pull request is not open any more', NOT_OPEN, { cause });
  }
  const describes = !isUpdate(found) || push.description !== null;
  await findings.run(() => demands(place, push, describes));
  return { open, ...found };
}

/** @throws Refusal if it takes no pull requests, or none of ours. */
function openPlace(
  { repository, policy: known }: Place,
  settings: PushSettings,
  { stated }: Pick<PushedWork, 'stated'>,
): Omit<OpenPlace, 'named'> {
  const { maxRepositoryMb, pullRequestFooter } = settings;
  const name = fullName(repository);
  const policy = known ?? OPEN_POLICY;
  const sizeMb = Math.ceil(repository.sizeKb / 1024);
  if (sizeMb > maxRepositoryMb)
    throw new Refusal('repository-size', 'the repository is too large', [
      `${name} has ${sizeMb} MB; this service accepts repositories of up to ${maxRepositoryMb} MB.`,
    ]);
  if (repository.isArchived)
    throw new Refusal('archived', 'the repository is archived', [`${name} accepts no more changes.`]);
  if (repository.pullRequests === 'all' && known === undefined)
    throw new Refusal('policy-unread', 'the policy of the repository could not be read', [
      'Nothing was changed. Push again later.',
    ]);
  const why = policyRefusal(closedTo(policy, repository.pullRequests), repository, 'pull_requests');
  if (why !== null) {
    const takesIssues = policyRefusal(policy, repository, 'issues') === null;
    const instead = takesIssues
      ? [`You can open an issue instead: ${settings.issueFormUrl(repository)}`]
      : [];
    throw new Refusal('policy', 'not accepted by the repository', [...why.split('\n'), ...instead]);
  }
  const footer = statedText(stated) + (policy.pullRequestFooter ? pullRequestFooter : '');
  return { repository, footer, policyLimits: policy.limits };
}

/**
 * Finds and claims the pull request that a push names. One that nobody knows counts as none, which
 * the person is told.
 * @throws Refusal
 */
async function findNamed(
  { repository, policy, ask }: Place,
  { prHash }: Asking,
  claim: ClaimedUpdate | null,
  mayOpen: boolean,
  findings: Findings,
): Promise<Pick<Destination, 'named' | 'claim'>> {
  if (prHash === null) return { named: null, claim: null };
  const pullRequest = await ask.findPullRequest(prHash, claim?.recorded ?? null);
  if (pullRequest === null) {
    const meant = await ask.hashMeant(prHash);
    const question = meant === null ? '' : ` Did you mean ${meant}?`;
    const thus = mayOpen ? ', so this would open a NEW one' : '';
    const line = `No pull request of ${fullName(repository)} has that pr-hash${thus}.${question}`;
    findings.add(warn(UNKNOWN_HASH, line));
    return { named: null, claim: null };
  }
  const muted = policy && pullRequest.isOpen ? muteRefusal(policy, repository, pullRequest.number) : null;
  if (muted !== null) throw new Refusal('policy', 'not accepted by the repository', muted.split('\n'));
  return { named: { prHash, pullRequest }, claim: claim ?? (await ask.claim(prHash)) };
}

/** Refuses other texts for an open pull request from whoever has no key. */
function keyForTexts({ title, description, hasKey }: Asking, found: Pick<Destination, 'named'>): Finding[] {
  const changesTexts = title !== null || description !== null;
  return isUpdate(found) && changesTexts && !hasKey ? [missingKey('texts')] : [];
}

/** Upstream with a branch that pull requests can be for. */
export type BornUpstream = Upstream & { readonly defaultBranch: Ref };

/**
 * @param branch stands in for a missing default branch.
 * @throws Refusal if there is neither
 */
export function bornUpstream(upstream: Upstream, branch: string | null): BornUpstream {
  const { repository, refs } = upstream;
  const defaultBranch = upstream.defaultBranch ?? (branch === null ? null : findListed(upstream, branch));
  if (defaultBranch !== null) return { ...upstream, defaultBranch };
  throw noDefaultBranch(repository, refs);
}

/** Refuses a repository without a default branch: it is empty, or its default branch is gone. */
function noDefaultBranch(repository: RepositoryName, refs: readonly Ref[]): Refusal {
  const branches = listedBranches(refs);
  if (branches === null)
    return new Refusal('empty', 'the repository is empty', [
      `${fullName(repository)} has no commit yet, so there is nothing to open a pull request against.`,
    ]);
  return new Refusal('base', 'there is no default branch', [
    `The default branch of ${fullName(repository)} does not exist. It has ${branches}.`,
    'Name one of them with -o base=<branch>.',
  ]);
}

/** Lists the branches of upstream, such as `"main", "next" and 7 more`; null: there is none. */
function listedBranches(refs: readonly Ref[]): string | null {
  const branches = refs.filter(({ name }) => name.startsWith('refs/heads/'));
  const names = branches.slice(0, MOST_NAMED).map((ref) => `"${shortName(ref)}"`);
  const more = branches.length > MOST_NAMED ? ` and ${branches.length - MOST_NAMED} more` : '';
  return branches.length === 0 ? null : `${names.join(', ')}${more}`;
}

/** The branch that the person names: with the option `base`, or behind `refs/for/`. */
function namedBase({ options, taken: { target } }: Pushed): string | null {
  return options.base ?? (target.kind === 'for' ? target.base : null);
}

interface Base {
  readonly base: Ref;
  /** If not, an open pull request keeps its base. */
  readonly isBaseNamed: boolean;
  /** There is none: the default branch stands in, and what is said of it would not be true. */
  readonly isBaseRefused: boolean;
  /** Nothing says which branch, and all are listed: this is the default branch. */
  readonly isGuess: boolean;
}

/**
 * The first of these that exists: the one that the person names; the present base of an open pull
 * request (`current`); the branch with the pushed one's name; the default branch, unless the work
 * says otherwise.
 * @throws Refusal
 */
async function chooseBase(
  place: Place | null,
  pushed: Pushed,
  current: string | null,
  upstream: BornUpstream,
): Promise<Base> {
  const { repository, refs, hasAllBranches, defaultBranch } = upstream;
  const { target } = pushed.taken;
  const find = (branch: string | null) => findBase(place, upstream, branch);
  const named = namedBase(pushed);
  if (named !== null) {
    const base = await find(named);
    if (base !== null) return { base, isBaseNamed: true, isBaseRefused: false, isGuess: false };
    const before = pushed.options.base === null ? branchBefore(refs, named) : null;
    throw missingBranch(repository, refs, named, before ?? nearBranch(refs, named));
  }
  const present = await find(current);
  // The host is never asked for this name, because the person may have chosen it for themselves
  // alone.
  const known = present ?? (target.kind === 'branch' ? findListed(upstream, target.branch) : null);
  const base = known ?? defaultBranch;
  return { base, isBaseNamed: false, isBaseRefused: false, isGuess: known === null && hasAllBranches };
}

/**
 * Refuses a base that upstream does not have, and names the branches that it has.
 * @param named by the person; null: the default branch is not there.
 */
export function missingBase(repository: RepositoryName, refs: readonly Ref[], named: string | null): Refusal {
  if (named === null) return noDefaultBranch(repository, refs);
  return missingBranch(repository, refs, named, nearBranch(refs, named));
}

/** @param meant the one that somebody may have misspelt; null: none is near. */
function missingBranch(
  repository: RepositoryName,
  refs: readonly Ref[],
  named: string,
  meant: string | null,
): Refusal {
  const question = meant === null ? '' : ` Did you mean "${oneLine(meant)}"?`;
  const line = `${fullName(repository)} has no branch "${oneLine(named)}". It has ${listedBranches(refs) ?? 'none'}.${question}`;
  return new Refusal('base', 'there is no such base branch', [line], {
    needs: [`base=${meant ?? '<branch>'}`],
  });
}

/** Warns that commits of branches which were not listed would count as the person's own. */
function unlistedBranches(
  { repository, hasAllBranches }: BornUpstream,
  { base, isBaseNamed }: Pick<Base, 'base' | 'isBaseNamed'>,
): Finding[] {
  if (hasAllBranches || isBaseNamed) return [];
  return warn(
    'unlisted-branches',
    `${fullName(repository)} has more branches than this service reads. If your work is not based on "${shortName(base)}", add: -o base=<branch>`,
  );
}

/**
 * Answers null if there is no such branch.
 * @param place null: the host must not be asked for a branch by its name yet.
 * @throws Refusal
 */
export async function findBase(
  place: Place | null,
  upstream: Upstream,
  branch: string | null,
): Promise<Ref | null> {
  if (branch === null) return null;
  const listed = findListed(upstream, branch);
  if (listed !== null || upstream.hasAllBranches) return listed;
  if (place !== null) return place.ask.findBranch(branch);
  throw new Refusal('base', 'the base branch is not listed', [
    'This repository has more branches than the service lists, and it asks for none by its name before the push is published. Push without a delay.',
  ]);
}

/** The branch whose name is nearly the same; null: there is none among the first ones. */
function nearBranch(refs: readonly Ref[], named: string): string | null {
  const listed = refs
    .slice(0, MOST_COMPARED)
    .flatMap(({ name }) => /^refs\/heads\/(.+)/.exec(name)?.[1] ?? []);
  return nearName(named, listed) ?? null;
}

/**
 * The branch that a topic was written behind: `main/topic`, `main%topic=x`, as AGit and Gerrit have
 * it.
 */
function branchBefore(refs: readonly Ref[], named: string): string | null {
  const branches = new Set(refs.map(({ name }) => name));
  const ends = [...named.matchAll(/[/%]/g)].map(({ index }) => index).toReversed();
  const end = ends.find((at) => branches.has(`refs/heads/${named.slice(0, at)}`));
  return end === undefined ? null : named.slice(0, end);
}

/**
 * Finds the one branch, such as a release's, that work for no named base stands on alone; null:
 * there is none.
 */
export function baseOfWork(
  { isGuess }: Pick<Base, 'isGuess'>,
  { boundary }: Work,
  history: UpstreamHistory,
): Ref | null {
  const [oid, another] = boundary;
  return isGuess && oid !== undefined && another === undefined ? history.ownerOf(oid) : null;
}

/** Says for which branch the pull request is. */
export function otherBase(owner: Ref | null): Finding[] {
  if (owner === null) return [];
  return say(
    'other-base',
    `Your work is based on "${shortName(owner)}", so the pull request is for that branch. For another one, add: -o base=<branch>`,
  );
}

export function shortName({ name }: Ref): string {
  return oneLine(name.slice('refs/heads/'.length));
}

function findListed({ refs }: Upstream, branch: string): Ref | null {
  return refs.find(({ name }) => name === `refs/heads/${branch}`) ?? null;
}
