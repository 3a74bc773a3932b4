/**
 * Issues. Labels are dropped silently, as on GitHub: those that the repository does not have, and
 * all of them if the account may not push (docs.github.com/rest/issues/issues#create-an-issue:
 * "Only users with push access can set labels").
 */
import type { Repository, User } from '../records.ts';
import type { Answer, ApiCall } from './api-call.ts';
import { json, page, requireViewer, validationFailed } from './api-call.ts';
import { closeOrReopen, requireOpenRepository, selectByState, textErrors } from './issue-rules.ts';
import { renderIssue } from './render-issue.ts';
import type { Route } from './route.ts';
import { calledIssue, repositoryRoute } from './route.ts';

export const issueRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/search/issues',
    documentation: 'search/search#search-issues-and-pull-requests',
    handle: searchIssues,
  },
  repositoryRoute('GET', '/issues', 'issues/issues#list-repository-issues', listIssues),
  repositoryRoute('POST', '/issues', 'issues/issues#create-an-issue', createIssue),
  repositoryRoute('GET', '/issues/:number', 'issues/issues#get-an-issue', getIssue),
  repositoryRoute('PATCH', '/issues/:number', 'issues/issues#update-an-issue', updateIssue),
];

function listIssues(call: ApiCall, repository: Repository): Answer {
  const { searchParams: query } = call.url;
  const [creator, since] = [query.get('creator'), query.get('since')];
  const issues = selectByState(call, repository.issues)
    .filter(({ author }) => creator === null || author.toLowerCase() === creator.toLowerCase())
    .filter(({ updatedAt }) => since === null || Date.parse(updatedAt) >= Date.parse(since));
  return page(call, issues, (issue) => renderIssue(call.host, repository, issue));
}

/** Answers the one search that is offered: one account's open pull requests. */
function searchIssues(call: ApiCall): Answer {
  const { store } = call.host;
  const [, author = ''] = /^is:pr is:open author:(\S+)$/.exec(call.url.searchParams.get('q') ?? '') ?? [];
  if (author === '') throw validationFailed({ resource: 'Search', field: 'q', code: 'invalid' });
  const found = store.records.repositories.flatMap((repository) =>
    repository.issues
      .filter((issue) => issue.pull !== null && issue.state === 'open')
      .filter((issue) => issue.author.toLowerCase() === author.toLowerCase())
      .map((issue) => ({ repository, issue })),
  );
  const listed = page(call, found, ({ repository, issue }) => ({
    ...renderIssue(call.host, repository, issue),
    score: 1,
  }));
  const items = JSON.parse(String(listed.body)) as unknown[];
  return json(200, { total_count: found.length, incomplete_results: false, items }, listed.headers);
}

function createIssue(call: ApiCall, repository: Repository): Answer {
  const { host, payload } = call;
  const viewer = requireViewer(call);
  requireOpenRepository(repository);
  const { title, body, labels } = payload;
  const errors = textErrors(title, body);
  if (errors.length > 0) throw validationFailed(...errors);
  const issue = host.addIssue(repository, {
    author: viewer.login,
    title: (title as string).trim(),
    body: typeof body === 'string' ? body : null,
    labels: settableLabels(repository, viewer, labels),
    pull: null,
  });
  return json(201, renderIssue(host, repository, issue));
}

function getIssue(call: ApiCall, repository: Repository): Answer {
  return json(200, renderIssue(call.host, repository, calledIssue(call, repository)));
}

function updateIssue(call: ApiCall, repository: Repository): Answer {
  const issue = calledIssue(call, repository);
  closeOrReopen(call, repository, issue);
  const { labels } = call.payload;
  const viewer = requireViewer(call);
  if (labels !== undefined && mayLabel(repository, viewer)) issue.labels = knownLabels(repository, labels);
  return json(200, renderIssue(call.host, repository, issue));
}

function mayLabel(repository: Repository, viewer: User): boolean {
  return viewer.login === repository.owner;
}

function settableLabels(repository: Repository, viewer: User, wanted: unknown): string[] {
  const known = knownLabels(repository, wanted);
  return mayLabel(repository, viewer) ? known : [];
}

/** Finds the labels that exist. A label is given by its name or as an object with a name. */
function knownLabels(repository: Repository, wanted: unknown): string[] {
  if (wanted === undefined) return [];
  if (!Array.isArray(wanted)) {
    throw validationFailed({ resource: 'Issue', code: 'invalid', field: 'labels' });
  }
  const names = new Set(
    wanted.map((label: unknown) =>
      typeof label === 'object' && label !== null && 'name' in label ? label.name : label,
    ),
  );
  return repository.labels.filter((label) => names.has(label));
}
