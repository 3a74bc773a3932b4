/**
 * Where a push goes: repository, pull request, branch. A delayed one asks the host's interface when
 * published.
 * Proved by test/push/judge/judge.test.ts and test/e2e/push/told-before.test.ts.
 */
import type { ChangedEntry } from '../../edit/tree-comparison.ts';
import type { Memory } from '../../git/memory.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import { HostError } from '../../words/host-error.ts';
import { oneLine } from '../../words/host-text.ts';
import { told } from '../../leaks/messages.ts';
import { WORKFLOW_HOME, WORKFLOWS } from '../../policy/community-files.ts';
import {
  closedTo,
  OPEN_POLICY,
  type Policy,
  POLICY_PATH,
  policyRefusal,
  workflowSentence,
} from '../../policy/policy.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { statedText } from '../../text/pull-request-text.ts';
import { SHOWN_ID_LENGTH } from '../../upstream/tree-reader.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import type { PushSettings } from '../push-host.ts';
import { type ClaimedUpdate, missingKey, type Pushed } from '../push-run.ts';
import type { Stated } from '../receive/push-options.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate, type NamedPullRequest, type OpenPlace, type PushedWork } from '../verdict.ts';
import type { Place, Questions, Upstream } from './questions.ts';
import type { Work } from './work.ts';

/** What judging needs besides the push and upstream. */
export interface Circumstances {
  readonly settings: PushSettings;
  readonly botLogin: string;
  /** The claim of the pull request that the push names, if the service has that in its list. */
  readonly listed: ClaimedUpdate | null;
  readonly memory: Memory;
  /** Seconds since 1970. */
  readonly now: number;
  /** Why the client's limits would refuse what a preview shows; null: they would not. */
  readonly refusal: Refusal | null;
  /**
   * Where the place is not asked: whether the pull request that it names is open, by the service's
   * own record.
   */
  readonly wasOpen: boolean;
}

/** Branches in a list of those that there are. */
const MOST_NAMED = 10;

const NOT_OPEN = [
  'It was merged or closed while your change waited.',
  'Push again without pr-hash if you want a new one.',
];

/** Where a push goes, as far as that can be said before its commits are known. @throws Refusal */
export async function findDestination(
  pushed: Pushed,
  upstream: Upstream,
  asked: Place | null,
  { settings, listed, refusal }: Circumstances,
  questions: Questions,
) {
  const { options, taken } = pushed;
  const { prKey, signOff: isSignedOff } = options;
  const branch = namedBase(pushed) ?? (taken.target.kind === 'branch' ? taken.target.branch : null);
  const born = bornUpstream(upstream, branch);
  // Where doubles are refused, only publishing shows whether a new one opens.
  const mayOpen = settings.pushDoubles === 'tell' && refusal === null;
  const push = { ...options, hasKey: prKey !== null, isSignedOff, stated: options };
  const found =
    asked === null
      ? { open: null, named: null, claim: listed }
      : await askPlace(questions, asked, settings, push, listed, { mayOpen, mustBeOpen: false });
  const updated = isUpdate(found) ? found.named : null;
  const current = updated?.pullRequest.base ?? null;
  return { born, updated, ...found, ...(await chooseBase(questions, pushed, current, born)) };
}

type Asking = Pick<PushedWork, 'prHash' | 'hasKey' | 'isSignedOff' | 'stated'> &
  Readonly<Record<'title' | 'description', unknown>>;

/**
 * What the place says of a push, live or delayed, besides its branches: it takes pull requests, and
 * this one; which one is named, claimed.
 * @param claim null: only the host may know the named one.
 * @throws Refusal
 * @param how whether a new one may open; whether the named one must be open.
 */
export async function askPlace(
  questions: Questions,
  asked: Place,
  settings: PushSettings,
  push: Asking,
  claim: ClaimedUpdate | null,
  { mayOpen, mustBeOpen }: { readonly mayOpen: boolean; readonly mustBeOpen: boolean },
) {
  const open = openPlace(asked, settings, push);
  const found = await findNamed(questions, open.repository, push, claim, mayOpen);
  if (mustBeOpen && !isUpdate(found)) {
    const cause = found.named === null ? notShown() : undefined;
    throw new Refusal('not-open', 'the pull request is not open any more', NOT_OPEN, { cause });
  }
  if (!isUpdate(found) || push.description !== null) await checkStated(questions, asked, push.stated);
  return { open, ...found };
}

/** @throws Refusal if it takes no pull requests, or none of ours. */
function openPlace(
  { repository, policy: known }: Place,
  settings: PushSettings,
  { isSignedOff, stated }: Pick<PushedWork, 'isSignedOff' | 'stated'>,
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
  if (policy.requiresSignOff && !isSignedOff)
    throw new Refusal('sign-off', 'a sign-off is required', [
      `${name} takes only commits under the Developer Certificate of Origin: its ${POLICY_PATH} says so.`,
      'Read it at https://developercertificate.org/. To affirm it under the name of the bot, push again with: -o sign-off',
    ]);
  const footer = statedText(stated) + (policy.pullRequestFooter ? pullRequestFooter : '');
  return { repository, footer, policyLimits: policy.limits };
}

/**
 * What the description has to say, unless it stays what it is.
 * @throws Refusal if one is missing, or no open issue
 */
async function checkStated(
  questions: Pick<Questions, 'issue'>,
  { repository, policy }: Place,
  { ai, issue }: Stated,
): Promise<void> {
  const missing = [
    ...(policy?.requiresAi && ai === null ? ['-o ai=none, -o ai=assisted or -o ai=generated'] : []),
    ...(policy?.requiresIssue && issue === null ? ['-o issue=<number of an open issue>'] : []),
  ];
  if (missing.length > 0)
    throw new Refusal('stated', 'the repository asks for more', [
      `The ${POLICY_PATH} of ${fullName(repository)} requires it. Push again with: ${missing.join(', and ')}`,
    ]);
  const why = issue === null ? null : await questions.issue(issue);
  if (why === null) return;
  const lines = [`${fullName(repository)}#${issue} ${why}. Give the number of an open issue.`];
  const cause = why === 'does not exist' ? notShown() : undefined;
  throw new Refusal('stated', 'the issue is not open', lines, { cause });
}

/**
 * The cause of what follows from it: the host may be wrong once, so a delayed push is tried again.
 */
function notShown(): HostError {
  return new HostError('missing', 'The code host does not show it.', undefined, { status: 404 });
}

/** @throws Refusal if the repository takes no changes of workflows. */
export function workflowLines(
  changed: readonly ChangedEntry[] | null,
  repository: RepositoryName,
  { refusesWorkflows, community: { hasWorkflows } }: Policy,
  mayHaveSome = hasWorkflows,
): readonly string[] {
  const isWorkflow = ({ path, oid }: ChangedEntry) =>
    WORKFLOWS.test(path) || (hasWorkflows && oid === null && WORKFLOW_HOME.test(path));
  const paths = changed?.filter(isWorkflow).map(({ path }) => path);
  if (refusesWorkflows && paths?.length !== 0)
    throw new Refusal('workflows', 'the repository takes no changes of workflows', [
      `The ${POLICY_PATH} of ${fullName(repository)} says so.`,
      paths === undefined
        ? 'The service could not check whether this push has any. Rebase onto the base branch, or push fewer commits at once.'
        : `Leave out ${oneLine(paths[0] ?? '')}, then push again.`,
    ]);
  if (paths === undefined)
    return mayHaveSome ? ['The service could not check whether you change workflows.'] : [];
  return paths.length === 0 ? [] : [workflowSentence(paths)];
}

/**
 * Ids of submodules' commits leave unchanged; nobody can get private ones. Asking the host would
 * tell it the ids.
 */
export function submoduleLines(changed: readonly ChangedEntry[] | null): readonly string[] {
  if (changed === null)
    return ['This repository has submodules. The service could not check whether you change one.'];
  const submodules = changed.flatMap(({ path, oid, isSubmodule }) =>
    isSubmodule ? [`${oneLine(path)} at ${oid?.slice(0, SHOWN_ID_LENGTH)}`] : [],
  );
  if (submodules.length === 0) return [];
  return [
    ...told('This push changes submodules. It names these commits:', submodules),
    'Publish them in the submodules too, or nobody can get them. Ids of your own commits can be recognised.',
  ];
}

/**
 * The pull request that a push names, claimed; null: none, or one that nobody knows, which the
 * person is told.
 * @throws Refusal if another push to it is running, or its key is missing
 */
async function findNamed(
  questions: Questions,
  repository: RepositoryName,
  push: Asking,
  claim: ClaimedUpdate | null,
  mayOpen: boolean,
): Promise<{ readonly named: Omit<NamedPullRequest, 'tip'> | null; readonly claim: ClaimedUpdate | null }> {
  const { prHash, title, description, hasKey } = push;
  if (prHash === null) return { named: null, claim: null };
  const pullRequest = await questions.findPullRequest(prHash, claim?.recorded ?? null);
  if (pullRequest === null) {
    const meant = await questions.hashMeant(prHash);
    const question = meant === null ? '' : ` Did you mean ${meant}?`;
    const no = mayOpen ? 'NEW pull request: no' : 'No';
    await questions.reply.note(`${no} pull request of ${fullName(repository)} has that pr-hash.${question}`);
    return { named: null, claim: null };
  }
  const named = { prHash, pullRequest };
  const claimed = claim ?? (await questions.claim(prHash));
  const changesTexts = title !== null || description !== null;
  if (isUpdate({ named }) && changesTexts && !hasKey) throw missingKey('texts');
  return { named, claim: claimed };
}

/** Upstream with a branch that pull requests can be for. */
type BornUpstream = Upstream & { readonly defaultBranch: Ref };

/**
 * @param branch stands in for a missing default branch.
 * @throws Refusal if no pull request can be for any
 */
export function bornUpstream(upstream: Upstream, branch: string | null): BornUpstream {
  const { repository, refs } = upstream;
  const defaultBranch = upstream.defaultBranch ?? (branch === null ? null : findListed(upstream, branch));
  if (defaultBranch !== null) return { ...upstream, defaultBranch };
  const branches = refs.filter(({ name }) => name.startsWith('refs/heads/'));
  if (branches.length === 0)
    throw new Refusal('empty', 'the repository is empty', [
      `${fullName(repository)} has no commit yet, so there is nothing to open a pull request against.`,
    ]);
  const names = branches.slice(0, MOST_NAMED).map((ref) => `"${shortName(ref)}"`);
  const more = branches.length > MOST_NAMED ? ` and ${branches.length - MOST_NAMED} more` : '';
  throw new Refusal('base', 'there is no default branch', [
    `The default branch of ${fullName(repository)} does not exist. It has ${names.join(', ')}${more}.`,
    'Name one of them with -o base=<branch>.',
  ]);
}

/** The branch that the person names: with the option `base`, or behind `refs/for/`. */
function namedBase({ options, taken: { target } }: Pushed): string | null {
  return options.base ?? (target.kind === 'for' ? target.base : null);
}

interface Base {
  readonly base: Ref;
  /** If not, an open pull request keeps its base. */
  readonly isBaseNamed: boolean;
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
  questions: Questions,
  pushed: Pushed,
  current: string | null,
  upstream: BornUpstream,
): Promise<Base> {
  const { repository, refs, hasAllBranches, defaultBranch } = upstream;
  const { target } = pushed.taken;
  const find = (branch: string | null) => findBase(questions, upstream, branch);
  const name = fullName(repository);
  const named = namedBase(pushed);
  if (named !== null) {
    const base = await find(named);
    if (base !== null) return { base, isBaseNamed: true, isGuess: false };
    const meant = pushed.options.base === null ? branchBefore(refs, named) : null;
    throw new Refusal('base', 'there is no such base branch', [
      `${name} has no branch "${oneLine(named)}". Name an existing branch with -o base=<branch>.`,
      ...(meant === null ? [] : [`A topic is not needed: push to refs/for/${oneLine(meant)}`]),
    ]);
  }
  const present = await find(current);
  // The host is never asked for this name, because the person may have chosen it for themselves
  // alone.
  const known = present ?? (target.kind === 'branch' ? findListed(upstream, target.branch) : null);
  const base = known ?? defaultBranch;
  // Commits of branches that were not listed would count as the person's own.
  if (!hasAllBranches)
    questions.note(
      `${name} has more branches than this service reads. If your work is not based on "${shortName(base)}", push to refs/for/<base>.`,
    );
  return { base, isBaseNamed: false, isGuess: known === null && hasAllBranches };
}

/** Null: there is no such branch. @throws Refusal */
export async function findBase({ findBranch }: Questions, upstream: Upstream, branch: string | null) {
  if (branch === null) return null;
  return findListed(upstream, branch) ?? (upstream.hasAllBranches ? null : findBranch(branch));
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
 * Where work for no named base stands on a commit of one other branch alone, such as a release's:
 * that branch.
 */
export function baseOfWork(
  questions: Questions,
  { isGuess }: Pick<Base, 'isGuess'>,
  { boundary }: Work,
  history: UpstreamHistory,
): Ref | null {
  const [oid, another] = boundary;
  const owner = isGuess && oid !== undefined && another === undefined ? history.ownerOf(oid) : null;
  if (owner === null) return null;
  questions.note(
    `Your work is based on "${shortName(owner)}", so the pull request is for that branch. For another one, add: -o base=<branch>`,
  );
  return owner;
}

function shortName({ name }: Ref): string {
  return oneLine(name.slice('refs/heads/'.length));
}

function findListed({ refs }: Upstream, branch: string): Ref | null {
  return refs.find(({ name }) => name === `refs/heads/${branch}`) ?? null;
}
