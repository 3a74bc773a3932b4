/**
 * Pull requests. A new one is checked as GitHub checks it: both branches exist, in one network; it
 * is not open already; it has commits to merge, and a common history. That takes at most one git
 * process.
 */
import { readRef } from '../bare-repository.ts';
import type { Comparison } from '../commits.ts';
import { compareTips, patchText, readCommits } from '../commits.ts';
import type { Host } from '../host.ts';
import type { Issue, Pull, Repository } from '../records.ts';
import type { Answer, ApiCall, FieldError } from './api-call.ts';
import { Refusal, json, notFound, page, requireViewer, validationFailed } from './api-call.ts';
import { reaches } from './app-permissions.ts';
import { closeOrReopen, requireOpenRepository, selectByState, textErrors } from './issue-rules.ts';
import { repositoryCommit } from './render-git.ts';
import { pullFull, pullSimple } from './render-issue.ts';
import type { Route } from './route.ts';
import { calledIssue, repositoryRoute } from './route.ts';

export const pullRoutes: readonly Route[] = [
  repositoryRoute('GET', '/pulls', 'pulls/pulls#list-pull-requests', listPulls),
  repositoryRoute('POST', '/pulls', 'pulls/pulls#create-a-pull-request', createPull),
  repositoryRoute('GET', '/pulls/:number', 'pulls/pulls#get-a-pull-request', getPull),
  repositoryRoute('PATCH', '/pulls/:number', 'pulls/pulls#update-a-pull-request', updatePull),
  repositoryRoute(
    'GET',
    '/pulls/:number/commits',
    'pulls/pulls#list-commits-on-a-pull-request',
    listPullCommits,
  ),
];

type PullIssue = Issue & { readonly pull: Pull };

function listPulls(call: ApiCall, repository: Repository): Answer {
  const query = call.url.searchParams;
  const head = query.get('head');
  const base = query.get('base');
  const pulls = selectByState(call, repository.issues)
    .filter((issue): issue is PullIssue => issue.pull !== null)
    // On GitHub, too, a head without an owner filters nothing.
    .filter((issue) => !head?.includes(':') || headLabel(call.host, issue.pull) === head)
    .filter((issue) => base === null || issue.pull.baseRef === base);
  return page(call, pulls, (issue) => pullSimple(call.host, repository, issue, issue.pull));
}

async function createPull(call: ApiCall, repository: Repository): Promise<Answer> {
  const { host, payload } = call;
  const viewer = requireViewer(call);
  requireOpenRepository(repository);
  const { title, head, base, body } = payload;
  if (typeof head !== 'string' || typeof base !== 'string') {
    const missing = [typeof base === 'string' ? '' : '"base"', typeof head === 'string' ? '' : '"head"'];
    throw new Refusal(422, `Invalid request.\n\n${missing.filter(Boolean).join(', ')} wasn't supplied.`);
  }
  const errors = textErrors(title, body);
  if (errors.length > 0) throw validationFailed(...errors);
  const ends = findEnds(host, repository, head, base);
  const label = `${ends.headRepository.owner}:${ends.headRef}`;
  refuseSecond(repository, ends, base, label);
  const draft = payload['draft'] === true;
  requireMayOpen(repository, viewer.login, draft);
  requireMayLendFork(call, ends.headRepository);
  const { baseSha, headRepository, headSha } = ends;
  const { oids, related } = await compare(host, repository, baseSha, headRepository, headSha);
  if (!related) {
    const message = `The ${label} branch has no history in common with ${repository.owner}:${base}`;
    throw validationFailed(pullError(message));
  }
  if (oids.length === 0) {
    throw validationFailed(pullError(`No commits between ${repository.owner}:${base} and ${label}`));
  }
  // Another call may have opened it while git was running.
  refuseSecond(repository, ends, base, label);
  requireMayOpen(repository, viewer.login, draft);
  const pull: Pull = {
    headRepositoryId: ends.headRepository.id,
    headRef: ends.headRef,
    headSha: ends.headSha,
    baseRef: base,
    baseSha: ends.baseSha,
    maintainerCanModify: payload['maintainer_can_modify'] === true,
    draft,
    mergedAt: null,
    mergedBy: null,
    mergeCommitSha: null,
  };
  const issue = host.addIssue(repository, {
    author: viewer.login,
    title: (title as string).trim(),
    body: typeof body === 'string' ? body : null,
    labels: [],
    pull,
  });
  return json(201, pullFull(host, repository, issue, pull, oids.length));
}

async function getPull(call: ApiCall, repository: Repository): Promise<Answer> {
  const issue = calledPull(call, repository);
  if (call.headers.accept?.includes('application/vnd.github.patch'))
    return patchAnswer(call.host, repository, issue);
  return json(200, await renderFull(call.host, repository, issue));
}

async function patchAnswer(host: Host, repository: Repository, { pull }: PullIssue): Promise<Answer> {
  const head = headRepositoryOf(host, repository, pull);
  const base = { path: host.pathOf(repository), oid: pull.baseSha };
  const body = await patchText(base, { path: host.pathOf(head), oid: pull.headSha });
  return { status: 200, headers: { 'content-type': 'application/vnd.github.patch; charset=utf-8' }, body };
}

async function updatePull(call: ApiCall, repository: Repository): Promise<Answer> {
  const issue = calledPull(call, repository);
  if (call.payload['state'] === 'open' && issue.state === 'closed')
    requireReopenable(call.host, repository, issue);
  if (call.payload['base'] !== undefined) rebase(call.host, repository, issue, call.payload['base']);
  closeOrReopen(call, repository, issue);
  return json(200, await renderFull(call.host, repository, issue));
}

/** Points a pull request at another branch of its repository. */
function rebase(host: Host, repository: Repository, { pull }: PullIssue, base: unknown): void {
  const baseSha =
    typeof base === 'string' ? readRef(host.pathOf(repository), `refs/heads/${base}`) : undefined;
  if (baseSha === undefined)
    throw validationFailed({ resource: 'PullRequest', field: 'base', code: 'invalid' });
  pull.baseRef = base as string;
  pull.baseSha = baseSha;
}

/** Refuses to reopen a pull request whose head has moved since it was closed, as GitHub does. */
function requireReopenable(host: Host, repository: Repository, { pull }: PullIssue): void {
  const head = headRepositoryOf(host, repository, pull);
  const oid = readRef(host.pathOf(head), `refs/heads/${pull.headRef}`);
  if (pull.mergedAt === null && oid === pull.headSha) return;
  const reason =
    pull.mergedAt !== null
      ? 'The pull request was merged.'
      : `The ${pull.headRef} branch ${oid === undefined ? 'has been deleted' : 'was force-pushed or recreated'}.`;
  throw validationFailed({
    resource: 'PullRequest',
    code: 'invalid',
    field: 'state',
    message: `state cannot be changed. ${reason}`,
  });
}

async function listPullCommits(call: ApiCall, repository: Repository): Promise<Answer> {
  const { host } = call;
  const { pull } = calledPull(call, repository);
  const head = headRepositoryOf(host, repository, pull);
  const base = { path: host.pathOf(repository), oid: pull.baseSha };
  const { oids } = await compareTips(base, { path: host.pathOf(head), oid: pull.headSha });
  const commits = await readCommits(host.pathOf(head), oids);
  return page(call, commits, (commit) => repositoryCommit(host, repository, commit));
}

interface Ends {
  readonly headRepository: Repository;
  readonly headRef: string;
  readonly headSha: string;
  readonly baseSha: string;
}

/**
 * Finds both branches; `head` is `branch`, or `owner:branch` of another repository of the network.
 */
function findEnds(host: Host, repository: Repository, head: string, base: string): Ends {
  const colon = head.indexOf(':');
  const owner = colon < 0 ? repository.owner : head.slice(0, colon);
  const headRef = head.slice(colon + 1);
  const root = host.store.rootOf(repository);
  const headRepository = host.store.records.repositories.find(
    (other) => other.owner.toLowerCase() === owner.toLowerCase() && host.store.rootOf(other) === root,
  );
  const headSha = headRepository && readRef(host.pathOf(headRepository), `refs/heads/${headRef}`);
  const baseSha = readRef(host.pathOf(repository), `refs/heads/${base}`);
  const errors: FieldError[] = [];
  if (baseSha === undefined) errors.push({ resource: 'PullRequest', field: 'base', code: 'invalid' });
  if (headSha === undefined) errors.push({ resource: 'PullRequest', field: 'head', code: 'invalid' });
  if (!headRepository || headSha === undefined || baseSha === undefined) throw validationFailed(...errors);
  return { headRepository, headRef, headSha, baseSha };
}

/** Refuses a second open pull request for the same head and base. */
function refuseSecond(repository: Repository, ends: Ends, base: string, label: string): void {
  const open = repository.issues.some(
    (issue) =>
      issue.state === 'open' &&
      issue.pull?.headRepositoryId === ends.headRepository.id &&
      issue.pull.headRef === ends.headRef &&
      issue.pull.baseRef === base,
  );
  if (open) throw validationFailed(pullError(`A pull request already exists for ${label}.`));
}

/**
 * Refuses pull requests in three cases. The repository takes none, or only those of collaborators
 * (https://github.blog/changelog/2026-02-13-new-repository-settings-for-configuring-pull-request-access/).
 * Or the account has as many open as the repository allows, without drafts
 * (https://github.blog/changelog/2026-06-17-limit-open-pull-requests-for-users-without-write-access/).
 * At the limit the REST interface answers 404
 * (https://github.com/citrineos/citrineos-core/pull/1103), as it once did to an account for no
 * known reason (https://github.com/anchore/syft/issues/5222). Its answer in the other two cases is
 * not known. GraphQL answers with the same error where only collaborators may
 * (https://github.com/github/gh-stack/issues/429) as at the limit
 * (https://github.com/morluto/rea/discussions/4832), so REST has the same here. The order of
 * several errors is not known either.
 */
function requireMayOpen(repository: Repository, login: string, isDraft: boolean): void {
  const { pullRequests, pullRequestCap, issues, owner } = repository;
  if (pullRequests === 'none') throw notFound();
  if (login === owner) return;
  if (pullRequests === 'collaborators') throw notFound();
  if (pullRequestCap === null || isDraft) return;
  const open = issues.filter(
    ({ author, state, pull }) => author === login && state === 'open' && pull?.draft === false,
  );
  if (open.length >= pullRequestCap) throw notFound();
}

/**
 * Refuses an App that lets maintainers push to a fork in which it is not installed, which it does
 * unless it says no (sigmavirus24/github3.py#1031).
 */
function requireMayLendFork({ credential, payload }: ApiCall, fork: Repository): void {
  const isLent = payload['maintainer_can_modify'] !== false;
  if (typeof credential !== 'object' || credential === null || !isLent || reaches(credential, fork)) return;
  const message = "fork_collab Fork collab can't be granted by someone without permission";
  throw validationFailed({ resource: 'PullRequest', code: 'custom', field: 'fork_collab', message });
}

/** Compares both branches, as for a merge. */
function compare(
  host: Host,
  repository: Repository,
  baseSha: string,
  headOwner: Repository,
  headSha: string,
): Promise<Comparison> {
  return compareTips(
    { path: host.pathOf(repository), oid: baseSha },
    { path: host.pathOf(headOwner), oid: headSha },
  );
}

async function renderFull(host: Host, repository: Repository, issue: PullIssue) {
  const { pull } = issue;
  const head = headRepositoryOf(host, repository, pull);
  const { oids } = await compare(host, repository, pull.baseSha, head, pull.headSha);
  return pullFull(host, repository, issue, pull, oids.length);
}

function calledPull(call: ApiCall, repository: Repository): PullIssue {
  const issue = calledIssue(call, repository);
  if (!issue.pull) throw notFound();
  return issue as PullIssue;
}

function headRepositoryOf(host: Host, repository: Repository, pull: Pull): Repository {
  return host.store.repositoryById(pull.headRepositoryId) ?? repository;
}

function headLabel(host: Host, pull: Pull): string {
  const owner = host.store.repositoryById(pull.headRepositoryId)?.owner ?? host.bot.login;
  return `${owner}:${pull.headRef}`;
}

function pullError(message: string): FieldError {
  return { resource: 'PullRequest', code: 'custom', message };
}
