/** How GitHub is asked for what others do to the bot's pull requests. */
import type { Octokit } from '@octokit/rest';
import type { FeedThread } from '../code-host.ts';
import { type ActivityDialect, pullRequestThread } from '../rest/activity.ts';
import { expectList } from '../rest/answer.ts';
import { isRequestFailure } from '../rest/request-failure.ts';
import { readConversation } from './conversation.ts';
import { GITHUB_READS, PAGE_SIZE } from './reads.ts';

/** The most that GitHub gives of the feed at once. */
const THREADS_PER_PAGE = 50;
/** How often the feed may be read when its answer does not say so. */
const USUAL_POLL_INTERVAL_S = 60;

export const GITHUB_ACTIVITY: ActivityDialect = {
  ...GITHUB_READS,

  async feed({ rest }, since, ifModifiedSince, wantsMore) {
    const query = { all: true, participating: true, since, per_page: THREADS_PER_PAGE };
    const list = rest.activity.listNotificationsForAuthenticatedUser;
    try {
      const headers = ifModifiedSince === null ? {} : { 'if-modified-since': ifModifiedSince };
      let answer = await list({ ...query, headers });
      const lastModified = answer.headers['last-modified'] ?? null;
      const pollIntervalMs = pollInterval(answer.headers);
      let shown = threadsOf(answer.data);
      const threads = [...shown];
      // Further pages are requested without the condition, because an old page may be unmodified.
      for (let page = 2; wantsMore(shown) && answer.headers.link?.includes('rel="next"'); page++) {
        answer = await list({ ...query, page });
        shown = threadsOf(answer.data);
        threads.push(...shown);
      }
      return { threads, lastModified, pollIntervalMs };
    } catch (error) {
      if (!isRequestFailure(error) || error.status !== 304) throw error;
      const pollIntervalMs = pollInterval(error.response?.headers ?? {});
      return { threads: null, lastModified: ifModifiedSince, pollIntervalMs };
    }
  },

  /** They cannot be asked for from a moment on. */
  reviews({ rest, paginate }, { owner, repo, index }) {
    const query = { owner, repo, pull_number: index, per_page: PAGE_SIZE };
    return paginate(rest.pulls.listReviews, query, ({ data }) => [...expectList(data)]);
  },

  conversation: readConversation,
};

function pollInterval(headers: Readonly<Record<string, string | number | undefined>>): number {
  const seconds = Number(headers['x-poll-interval']);
  return (Number.isFinite(seconds) ? seconds : USUAL_POLL_INTERVAL_S) * 1000;
}

type Notifications = Awaited<
  ReturnType<Octokit['rest']['activity']['listNotificationsForAuthenticatedUser']>
>['data'];

function threadsOf(entries: Notifications): FeedThread[] {
  return entries.flatMap((entry) => pullRequestThread(entry, 'PullRequest', entry.reason === 'author'));
}
