/**
 * Where a push goes: repository, pull request, and branch (base-branch.ts). A delayed one asks the
 * host's interface when published.
 * Proved by test/push/judge/judge.test.ts and test/e2e/push/told-before.test.ts.
 */
import { closedTo, muteRefusal, OPEN_POLICY, policyRefusal } from '../../policy/policy.ts';
import { statedText } from '../../text/pull-request-text.ts';
import { type Finding, warn } from '../../words/finding.ts';
import { fullName } from '../../words/repository-name.ts';
import type { PushSettings, PushStore } from '../push-host.ts';
import { type ClaimedUpdate, missingKey, type Pushed } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate, type NamedPullRequest, type OpenPlace, type PushedWork } from '../verdict.ts';
import type { Memory } from '../../git/memory.ts';
import type { Compared, ComparedAs } from '../same-work.ts';
import {
  type ChosenBase,
  type BornUpstream,
  bornUpstream,
  chooseBase,
  namedBase,
  unlistedBranches,
} from './base-branch.ts';
import type { Findings } from './findings.ts';
import type { Place, Upstream } from './questions.ts';
import { demands, notShown } from './rules/place.ts';

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

/** Code of the finding that the push names a pull request which nobody knows. */
export const UNKNOWN_HASH = 'unknown-hash';

const NOT_OPEN = [
  'It was merged or closed while your change waited.',
  'Push again without pr-hash if you want a new one.',
];

/** Where a push goes. */
export interface Destination extends ChosenBase {
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
