/**
 * What the place says that a push goes to: whether the repository takes it, by which rules, and which pull request it
 * updates. The half of judging that asks the host's interface; a delayed push runs it when it is published.
 */
import type { Repository } from '../../host/code-host.ts';
import { oneLine } from '../../host-text.ts';
import { WORKFLOW_HOME, WORKFLOWS } from '../../policy/community-files.ts';
import {
  closedSentence,
  OPEN_POLICY,
  type Policy,
  POLICY_PATH,
  policyRefusal,
  workflowSentence,
} from '../../policy/policy.ts';
import type { ChangedEntry } from '../changes.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { missingKey } from '../pr-key.ts';
import type { ClaimedUpdate } from '../push-run.ts';
import type { PushSettings } from '../push-host.ts';
import type { Stated } from '../receive/push-options.ts';
import { Refusal } from '../reply/refusal.ts';
import {
  isUpdate,
  type NamedPullRequest,
  type OpenPlace,
  type PushedWork,
  statedText,
} from '../verdict/verdict.ts';
import type { Place, Questions } from './questions.ts';

/** @throws Refusal if it takes no pull requests, or none of ours. */
export function openPlace(
  { repository, policy }: Place,
  {
    maxRepositoryMb,
    issueFormUrl,
    pullRequestFooter,
  }: Pick<PushSettings, 'maxRepositoryMb' | 'issueFormUrl' | 'pullRequestFooter'>,
  { isSignedOff, stated }: Pick<PushedWork, 'isSignedOff' | 'stated'>,
): Omit<OpenPlace, 'named'> {
  const notAccepted = (why: string): Refusal => {
    const takesIssues = policyRefusal(policy ?? OPEN_POLICY, repository, 'issues') === null;
    const instead = takesIssues ? [`You can open an issue instead: ${issueFormUrl(repository)}`] : [];
    return new Refusal('policy', 'not accepted by the repository', [why, ...instead]);
  };
  const sizeMb = Math.ceil(repository.sizeKb / 1024);
  if (sizeMb > maxRepositoryMb) {
    throw new Refusal('repository-size', 'the repository is too large', [
      `${fullName(repository)} has ${sizeMb} MB; this service accepts repositories of up to ${maxRepositoryMb} MB.`,
    ]);
  }
  if (repository.isArchived) {
    throw new Refusal('archived', 'the repository is archived', [
      `${fullName(repository)} accepts no more changes.`,
    ]);
  }
  if (repository.pullRequests !== 'all') {
    throw notAccepted(closedSentence(repository, repository.pullRequests));
  }
  if (policy === undefined) {
    throw new Refusal('policy-unread', 'the policy of the repository could not be read', [
      'Nothing was changed. Push again later.',
    ]);
  }
  const refusal = policyRefusal(policy ?? OPEN_POLICY, repository, 'pull_requests');
  if (refusal !== null) throw notAccepted(refusal);
  if (policy?.requiresSignOff && !isSignedOff) throw unsigned(repository);
  const footer = statedText(stated) + (policy?.pullRequestFooter ? pullRequestFooter : '');
  return { repository, footer, policyLimits: policy?.limits ?? [] };
}

/**
 * What the repository wants to read in the description, which an open pull request keeps unless the push replaces it.
 * @throws Refusal if something is missing, or the issue is not one that is open. One call of the host if there is an issue.
 */
export async function checkStated(
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
  throw new Refusal('stated', 'the issue is not open', [
    `${fullName(repository)}#${issue} ${why}. Name an open issue: -o issue=<number>`,
  ]);
}

/** @throws Refusal if the repository takes no changes of workflows. */
export function workflowLines(
  changed: readonly ChangedEntry[] | null,
  repository: RepositoryName,
  { refusesWorkflows, community: { hasWorkflows } }: Policy,
): readonly string[] {
  const isWorkflow = ({ path, oid }: ChangedEntry) =>
    WORKFLOWS.test(path) || (hasWorkflows && oid === null && WORKFLOW_HOME.test(path));
  const paths = changed?.filter(isWorkflow).map(({ path }) => path);
  if (refusesWorkflows && paths?.length !== 0) {
    throw new Refusal('workflows', 'the repository takes no changes of workflows', [
      `The ${POLICY_PATH} of ${fullName(repository)} says so.`,
      paths === undefined
        ? 'The service could not check whether this push has any. Push again later, or fewer files at once.'
        : `Leave out ${oneLine(paths[0] ?? '')}, in every commit, then push again.`,
    ]);
  }
  if (paths === undefined)
    return hasWorkflows ? ['The service could not check whether you change workflows.'] : [];
  return paths.length === 0 ? [] : [workflowSentence(paths)];
}

function unsigned(repository: Repository): Refusal {
  return new Refusal('sign-off', 'a sign-off is required', [
    `${fullName(repository)} takes only commits under the Developer Certificate of Origin: its ${POLICY_PATH} says so.`,
    'Read it at https://developercertificate.org/. To affirm it under the name of the bot, push again with: -o sign-off',
  ]);
}

export interface Named {
  /** Null: the push names no pull request, or one that nobody knows. */
  readonly named: Omit<NamedPullRequest, 'tip'> | null;
  readonly claim: ClaimedUpdate | null;
}

/**
 * The pull request that a push names with `-o pr-hash`, claimed. If nobody knows it, the person is told.
 * @param listed its claim, if the service has it in its list; otherwise only the host knows it.
 * @param mayOpen whether the push would open another one.
 * @throws Refusal if another push to it is in progress, or its key is missing.
 */
export async function findNamed(
  questions: Pick<Questions, 'findPullRequest' | 'hashMeant' | 'noteFirst' | 'claim'>,
  repository: RepositoryName,
  {
    prHash,
    title,
    description,
    hasKey,
  }: Pick<PushedWork, 'prHash' | 'hasKey'> & Record<'title' | 'description', unknown>,
  listed: ClaimedUpdate | null,
  mayOpen: boolean,
): Promise<Named> {
  if (prHash === null) return { named: null, claim: null };
  const pullRequest = await questions.findPullRequest(prHash, listed?.recorded ?? null);
  if (pullRequest === null) {
    const meant = await questions.hashMeant(prHash);
    const question = meant === null ? '' : ` Did you mean ${meant}?`;
    const unknown = `o pull request of ${fullName(repository)} has that pr-hash.${question}`;
    await questions.noteFirst(mayOpen ? `NEW pull request: n${unknown}` : `N${unknown}`);
    return { named: null, claim: null };
  }
  const claim = listed ?? (await questions.claim(prHash));
  const changesTexts = title !== null || description !== null;
  if (isUpdate({ named: { pullRequest } }) && changesTexts && !hasKey) throw missingKey('texts');
  return { named: { prHash, pullRequest }, claim };
}
