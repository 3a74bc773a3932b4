/** As much of GitHub's REST interface as the service needs, for the stand-in host. */
import { git, mustGit } from './git.ts';
import {
  BOT,
  BOT_TOKEN,
  type Comment,
  type Recorded,
  type Repositories,
  type Repository,
  type RestAnswer,
  type Thread,
  timestamp,
  touch,
} from './records.ts';

interface Call {
  readonly host: Repositories;
  readonly repository: Repository;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly query: URLSearchParams;
  /** The text that the groups of the route match. */
  readonly part: string;
}

type Handler = (call: Call) => RestAnswer | Promise<RestAnswer>;

const SCOPES = { 'X-OAuth-Scopes': 'delete_repo, notifications, public_repo, workflow' };
const NOT_FOUND: RestAnswer = { status: 404, json: { message: 'Not Found' } };

const ROUTES: readonly (readonly [RegExp, Handler])[] = [
  [/^GET $/, ({ host, repository }) => json(repositoryJson(host, repository))],
  [/^GET \/contents\/(.+)$/, contents],
  [/^POST \/forks$/, fork],
  [/^POST \/merge-upstream$/, mergeUpstream],
  [/^GET \/git\/ref\/(.+)$/, getRef],
  [/^POST \/git\/refs$/, createRef],
  [/^PATCH \/git\/refs\/(.+)$/, updateRef],
  [/^DELETE \/git\/refs\/(.+)$/, deleteRef],
  [/^GET \/pulls$/, listPulls],
  [/^POST \/pulls$/, createPull],
  [/^GET \/pulls\/(\d+)$/, async (call) => json(await pullJson(call, threadOf(call)))],
  [/^PATCH \/pulls\/(\d+)$/, editPull],
  [/^GET \/pulls\/(\d+)\/(?:reviews|comments|files)$/, () => json([])],
  [/^GET \/issues$/, (call) => json(call.repository.threads.map((thread) => issueJson(call, thread)))],
  [/^POST \/issues$/, createIssue],
  [/^GET \/issues\/(\d+)$/, (call) => json(issueJson(call, threadOf(call)))],
  [/^POST \/issues\/(\d+)\/comments$/, createComment],
  [/^GET \/issues\/(\d+)\/comments$/, listComments],
  [/^GET \/issues\/comments\/(\d+)$/, (call) => json(commentJson(call, ...commentOf(call)))],
  [/^PATCH \/issues\/comments\/(\d+)$/, editComment],
  [/^DELETE \/issues\/comments\/(\d+)$/, deleteComment],
];

class NotFound extends Error {}

export async function answerRest(host: Repositories, request: Recorded, url: URL): Promise<RestAnswer> {
  const authorization = request.headers['authorization'] ?? '';
  if (!authorization.endsWith(` ${BOT_TOKEN}`)) return { status: 401, json: { message: 'Bad credentials' } };
  const path = url.pathname.slice('/api'.length);
  if (path === '/user') return { status: 200, json: user(BOT), headers: SCOPES };
  if (path === '/notifications') return notifications(host);
  const [, owner = '', name = '', rest = ''] = /^\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  const repository = host.repositories.get(`${owner}/${name}`);
  const call = `${request.method} ${rest}`;
  const [pattern, handle] = ROUTES.find(([route]) => route.test(call)) ?? [];
  if (repository === undefined || pattern === undefined || handle === undefined) return NOT_FOUND;
  const part = decodeURIComponent(pattern.exec(call)?.[1] ?? '');
  const text = request.body.toString();
  const sent = (text === '' ? {} : JSON.parse(text)) as Call['sent'];
  try {
    return await handle({ host, repository, sent, query: url.searchParams, part });
  } catch (error) {
    if (error instanceof NotFound) return NOT_FOUND;
    throw error;
  }
}

function json(value: unknown, status = 200): RestAnswer {
  return { status, json: value };
}

function invalid(message: string): RestAnswer {
  return json(
    { message: 'Validation Failed', errors: [{ resource: 'PullRequest', code: 'custom', message }] },
    422,
  );
}

async function contents({ repository, part }: Call): Promise<RestAnswer> {
  const shown = await git(repository.path, ['cat-file', 'blob', `HEAD:${part}`]);
  if (shown.code !== 0) return NOT_FOUND;
  const content = Buffer.from(shown.stdout);
  const file = {
    type: 'file',
    encoding: 'base64',
    content: content.toString('base64'),
    size: content.length,
  };
  return json({ ...file, name: part, path: part });
}

async function fork({ host, repository }: Call): Promise<RestAnswer> {
  return json(repositoryJson(host, await host.fork(repository)), 202);
}

async function mergeUpstream({ repository, sent }: Call): Promise<RestAnswer> {
  const ref = `refs/heads/${String(sent['branch'])}`;
  if (repository.parent === null) return json({ message: 'not a fork' }, 422);
  await mustGit(repository.path, ['fetch', '--quiet', repository.parent.path, `${ref}:${ref}`]);
  return json({ message: 'Successfully fetched', merge_type: 'fast-forward', base_branch: ref });
}

async function getRef({ repository, part }: Call): Promise<RestAnswer> {
  const found = await git(repository.path, ['rev-parse', '--verify', `refs/${part}`]);
  return found.code === 0 ? json(refJson(`refs/${part}`, found.stdout.trim())) : NOT_FOUND;
}

async function createRef({ repository, sent }: Call): Promise<RestAnswer> {
  const [ref, sha] = [String(sent['ref']), String(sent['sha'])];
  const made = await git(repository.path, ['update-ref', ref, sha, '0'.repeat(40)]);
  return made.code === 0 ? json(refJson(ref, sha), 201) : json({ message: 'Reference already exists' }, 422);
}

async function updateRef({ repository, part, sent }: Call): Promise<RestAnswer> {
  await mustGit(repository.path, ['update-ref', `refs/${part}`, String(sent['sha'])]);
  return json(refJson(`refs/${part}`, String(sent['sha'])));
}

async function deleteRef({ repository, part }: Call): Promise<RestAnswer> {
  await mustGit(repository.path, ['update-ref', '-d', `refs/${part}`]);
  return { status: 204 };
}

async function listPulls(call: Call): Promise<RestAnswer> {
  const { repository, query } = call;
  const [head, state] = [query.get('head'), query.get('state') ?? 'open'];
  const pulls = repository.threads.filter(
    (thread) =>
      thread.pull !== null &&
      (state === 'all' || thread.state === state) &&
      (head === null || head === `${BOT}:${thread.pull.head}`),
  );
  return json(await Promise.all(pulls.toReversed().map((thread) => pullJson(call, thread))));
}

async function createPull(call: Call): Promise<RestAnswer> {
  const { repository, sent } = call;
  const [owner, head = ''] = String(sent['head']).split(':');
  const base = String(sent['base']);
  if (owner !== BOT) return invalid('head is invalid');
  const isOpen = repository.threads.some(({ pull, state }) => pull?.head === head && state === 'open');
  if (isOpen) return invalid(`A pull request already exists for ${BOT}:${head}.`);
  const thread = add(repository, { ...textsOf(sent), labels: [], pull: { head, base, isMerged: false } });
  return json(await pullJson(call, thread), 201);
}

async function editPull(call: Call): Promise<RestAnswer> {
  const { sent } = call;
  const thread = threadOf(call);
  const names = (['state', 'title', 'body'] as const).filter((name) => typeof sent[name] === 'string');
  touch(thread, Object.fromEntries(names.map((name) => [name, sent[name]])));
  return json(await pullJson(call, thread));
}

function createIssue(call: Call): RestAnswer {
  const { repository, sent } = call;
  const labels = Array.isArray(sent['labels']) ? (sent['labels'] as string[]) : [];
  return json(issueJson(call, add(repository, { ...textsOf(sent), labels, pull: null })), 201);
}

function createComment(call: Call): RestAnswer {
  const thread = threadOf(call);
  const comment = { id: nextId++, body: String(call.sent['body']), by: BOT, at: timestamp() };
  thread.comments.push(comment);
  return json(commentJson(call, thread, comment), 201);
}

function listComments(call: Call): RestAnswer {
  const thread = threadOf(call);
  return json(thread.comments.map((comment) => commentJson(call, thread, comment)));
}

function editComment(call: Call): RestAnswer {
  const [thread, comment] = commentOf(call);
  comment.body = String(call.sent['body']);
  return json(commentJson(call, thread, comment));
}

function deleteComment(call: Call): RestAnswer {
  const [thread, comment] = commentOf(call);
  thread.comments.splice(thread.comments.indexOf(comment), 1);
  return { status: 204 };
}

/** Pull requests that somebody else has touched are unread. */
function notifications(host: Repositories): RestAnswer {
  const unread = [...host.repositories.values()].flatMap((repository) =>
    repository.threads
      .filter(
        ({ pull, state, comments }) => pull !== null && (state === 'closed' || comments.some(isByOther)),
      )
      .map((thread) => ({
        id: `${repository.owner}-${repository.name}-${thread.number}`,
        unread: true,
        reason: 'author',
        updated_at: thread.updatedAt,
        last_read_at: null,
        subject: {
          title: thread.title,
          type: 'PullRequest',
          url: `${apiUrl(host, repository)}/pulls/${thread.number}`,
          latest_comment_url: null,
        },
        repository: repositoryJson(host, repository),
      })),
  );
  return { ...json(unread), headers: { 'X-Poll-Interval': '1', 'Last-Modified': new Date().toUTCString() } };
}

const isByOther = ({ by }: Comment): boolean => by !== BOT;

let nextId = 1000;

function textsOf({ title, body }: Call['sent']): Pick<Thread, 'title' | 'body'> {
  return { title: textOf(title), body: textOf(body) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function add(repository: Repository, facts: Pick<Thread, 'title' | 'body' | 'labels' | 'pull'>): Thread {
  const thread: Thread = {
    ...facts,
    number: repository.threads.length + 1,
    state: 'open',
    updatedAt: timestamp(),
    comments: [],
  };
  repository.threads.push(thread);
  return thread;
}

function threadOf({ repository, part }: Call): Thread {
  const thread = repository.threads.find(({ number }) => String(number) === part);
  if (thread === undefined) throw new NotFound();
  return thread;
}

function commentOf({ repository, part }: Call): [Thread, Comment] {
  for (const thread of repository.threads) {
    const comment = thread.comments.find(({ id }) => String(id) === part);
    if (comment !== undefined) return [thread, comment];
  }
  throw new NotFound();
}

function user(login: string) {
  return { login, id: login === BOT ? 7 : 8, type: 'User' };
}

function apiUrl(host: Repositories, { owner, name }: Repository): string {
  return `${host.url}/api/repos/${owner}/${name}`;
}

function htmlUrl({ host, repository }: Pick<Call, 'host' | 'repository'>, { number, pull }: Thread): string {
  return `${host.url}/${repository.owner}/${repository.name}/${pull === null ? 'issues' : 'pull'}/${number}`;
}

function repositoryJson(host: Repositories, repository: Repository): Record<string, unknown> {
  const { owner, name, branch, parent, sizeKb } = repository;
  return {
    id: [...host.repositories.values()].indexOf(repository) + 1,
    name,
    full_name: `${owner}/${name}`,
    owner: user(owner),
    private: false,
    visibility: 'public',
    html_url: `${host.url}/${owner}/${name}`,
    clone_url: `${host.url}/${owner}/${name}.git`,
    url: apiUrl(host, repository),
    default_branch: branch,
    size: sizeKb,
    archived: false,
    disabled: false,
    fork: parent !== null,
    has_issues: true,
    has_pull_requests: true,
    pull_request_creation_policy: 'all',
    permissions: { pull: true, push: owner === BOT, admin: owner === BOT },
    ...(parent !== null && { parent: repositoryJson(host, parent), source: repositoryJson(host, parent) }),
  };
}

function refJson(ref: string, sha: string) {
  return { ref, object: { type: 'commit', sha } };
}

function issueJson(call: Pick<Call, 'host' | 'repository'>, thread: Thread): Record<string, unknown> {
  const { number, title, body, state, labels, updatedAt, comments, pull } = thread;
  return {
    id: number,
    number,
    title,
    body,
    state,
    locked: false,
    user: user(BOT),
    labels: labels.map((name) => ({ name })),
    comments: comments.length,
    html_url: htmlUrl(call, thread),
    url: `${apiUrl(call.host, call.repository)}/issues/${number}`,
    created_at: updatedAt,
    updated_at: updatedAt,
    closed_at: state === 'closed' ? updatedAt : null,
    ...(pull !== null && { pull_request: { html_url: htmlUrl(call, thread) } }),
  };
}

async function pullJson(call: Call, thread: Thread): Promise<Record<string, unknown>> {
  const { host, repository } = call;
  const { pull, number, updatedAt } = thread;
  if (pull === null) throw new NotFound();
  const forked = await host.fork(repository);
  const tip = await git(forked.path, ['rev-parse', '--verify', `refs/heads/${pull.head}`]);
  const sha = tip.code === 0 ? tip.stdout.trim() : '0'.repeat(40);
  return {
    ...issueJson(call, thread),
    url: `${apiUrl(host, repository)}/pulls/${number}`,
    draft: false,
    merged: pull.isMerged,
    merged_at: pull.isMerged ? updatedAt : null,
    merged_by: pull.isMerged ? user('octo') : null,
    maintainer_can_modify: true,
    head: {
      label: `${BOT}:${pull.head}`,
      ref: pull.head,
      sha,
      user: user(BOT),
      repo: repositoryJson(host, forked),
    },
    base: {
      label: `${repository.owner}:${pull.base}`,
      ref: pull.base,
      sha,
      repo: repositoryJson(host, repository),
    },
  };
}

function commentJson(call: Call, thread: Thread, { id, body, by, at }: Comment): Record<string, unknown> {
  return {
    id,
    body,
    user: user(by),
    author_association: 'NONE',
    html_url: `${htmlUrl(call, thread)}#issuecomment-${id}`,
    url: `${apiUrl(call.host, call.repository)}/issues/comments/${id}`,
    issue_url: `${apiUrl(call.host, call.repository)}/issues/${thread.number}`,
    created_at: at,
    updated_at: at,
  };
}
