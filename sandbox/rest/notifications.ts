/**
 * Notifications of the bot: one thread for each of its issues and pull requests that someone else
 * touched, and for each in which it was mentioned. Polling works as GitHub wants it:
 * `If-Modified-Since` is answered with 304 while there
 * is nothing new, and `X-Poll-Interval` says how long to wait. HTTP dates have whole seconds, so
 * two events of one second count as one.
 */
import type { NotificationThread } from '../records.ts';
import type { Answer, ApiCall } from './api-call.ts';
import { Refusal, empty, json, notFound, numberParam, page, requireViewer } from './api-call.ts';
import { commentApiUrl, pullApiUrl } from './render-issue.ts';
import { minimalRepository, repositoryApiUrl } from './render-repository.ts';
import type { Route } from './route.ts';

const DOCUMENTATION = 'activity/notifications';

export const notificationRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/notifications',
    documentation: `${DOCUMENTATION}#list-notifications-for-the-authenticated-user`,
    handle: listThreads,
  },
  {
    method: 'PUT',
    path: '/notifications',
    documentation: `${DOCUMENTATION}#mark-notifications-as-read`,
    handle: markAllRead,
  },
  {
    method: 'GET',
    path: '/notifications/threads/:id',
    documentation: `${DOCUMENTATION}#get-a-thread`,
    handle: (call) => json(200, renderThread(call, calledThread(call))),
  },
  {
    method: 'PATCH',
    path: '/notifications/threads/:id',
    documentation: `${DOCUMENTATION}#mark-a-thread-as-read`,
    handle: markRead,
  },
];

function listThreads(call: ApiCall): Answer {
  requireViewer(call);
  const query = call.url.searchParams;
  const { threads } = call.host.store.records;
  const lastModified = lastChange(threads);
  const headers = {
    'x-poll-interval': String(call.host.pollSeconds),
    ...(lastModified !== null && { 'last-modified': lastModified.toUTCString() }),
  };
  const knownSince = Date.parse(call.headers['if-modified-since'] ?? '');
  if (lastModified !== null && lastModified.getTime() <= knownSince) return empty(304, headers);
  const since = momentParam(call, 'since');
  const before = momentParam(call, 'before');
  const shown = threads
    .filter((thread) => thread.unread || query.get('all') === 'true')
    .filter((thread) => since === null || Date.parse(thread.updatedAt) >= since)
    .filter((thread) => before === null || Date.parse(thread.updatedAt) < before)
    .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  const answer = page(call, shown, (thread) => renderThread(call, thread));
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function markAllRead(call: ApiCall): Answer {
  requireViewer(call);
  for (const thread of call.host.store.records.threads) read(call, thread);
  return empty(205);
}

function markRead(call: ApiCall): Answer {
  read(call, calledThread(call));
  return empty(205);
}

function read(call: ApiCall, thread: NotificationThread): void {
  thread.unread = false;
  thread.lastReadAt = call.host.store.timestamp();
  call.host.store.changed();
}

function calledThread(call: ApiCall): NotificationThread {
  requireViewer(call);
  const id = numberParam(call, 'id');
  const thread = call.host.store.records.threads.find((candidate) => candidate.id === id);
  if (!thread) throw notFound();
  return thread;
}

function renderThread(call: ApiCall, thread: NotificationThread) {
  const { host } = call;
  const repository = host.store.repositoryById(thread.repositoryId);
  const issue = repository?.issues[thread.issueNumber - 1];
  if (!repository || !issue) throw new Error(`notification thread ${thread.id} is about nothing`);
  const subjectUrl = issue.pull
    ? pullApiUrl(host, repository, issue)
    : `${repositoryApiUrl(host, repository)}/issues/${issue.number}`;
  const { latestCommentId } = thread;
  return {
    id: String(thread.id),
    unread: thread.unread,
    reason: thread.reason,
    updated_at: thread.updatedAt,
    last_read_at: thread.lastReadAt,
    subject: {
      title: issue.title,
      url: subjectUrl,
      latest_comment_url:
        latestCommentId === null ? subjectUrl : commentApiUrl(host, repository, latestCommentId),
      type: issue.pull ? 'PullRequest' : 'Issue',
    },
    repository: minimalRepository(host, repository),
    url: `${host.apiUrl}/notifications/threads/${thread.id}`,
    subscription_url: `${host.apiUrl}/notifications/threads/${thread.id}/subscription`,
  };
}

function lastChange(threads: readonly NotificationThread[]): Date | null {
  const latest = threads.map((thread) => Date.parse(thread.updatedAt));
  return latest.length === 0 ? null : new Date(Math.max(...latest));
}

function momentParam(call: ApiCall, name: string): number | null {
  const text = call.url.searchParams.get(name);
  if (text === null) return null;
  const moment = Date.parse(text);
  if (Number.isNaN(moment)) throw new Refusal(422, `Invalid '${name}' parameter`);
  return moment;
}
