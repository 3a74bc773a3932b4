/**
 * Reads from GitHub what others do to the bot's pull requests: the account's notifications feed says which ones were
 * touched, and the pull request itself says how.
 *
 * Nothing is written, and no notification is marked as read: the operator may use the same account in a browser, so the
 * feed is asked for both read and unread ones. Nothing is retried: the caller comes back in a minute.
 */
import type { Octokit } from '@octokit/rest';
import type {
  Account,
  ActivityCall,
  ActivityHost,
  Conversation,
  Feed,
  FeedThread,
  PullRequestState,
  Remark,
} from '../code-host.ts';
import { activityCall, moment, pullRequestThread, remarksSince } from '../rest/activity.ts';
import { expectList, expectLogin, expectNumber } from '../rest/answer.ts';
import { ifPublic } from '../rest/conversation.ts';
import { openOctokit, type RestAccess } from '../rest/octokit.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { isRequestFailure } from '../rest/request-failure.ts';
import { unlessGone } from '../rest/unless-gone.ts';
import { readConversation } from './conversation.ts';
import { lookUp } from './look-up.ts';

const TIMEOUT_MS = 10_000;
/** The most that GitHub gives at once. */
const THREADS_PER_PAGE = 50;
const REMARKS_PER_PAGE = 100;
/** How often the feed may be read when its answer does not say so. */
const USUAL_POLL_INTERVAL_S = 60;

export class GitHubActivity implements ActivityHost {
  readonly #octokit: Octokit;
  readonly #apiUrl: string;

  /** @param beforeCall is told of each call, further pages included; what it throws comes instead of the call. */
  constructor(access: RestAccess, beforeCall: (call: ActivityCall) => void) {
    this.#octokit = openOctokit(access, TIMEOUT_MS);
    this.#apiUrl = access.apiUrl;
    this.#octokit.hook.before('request', ({ url }) => beforeCall(activityCall(url)));
  }

  async account(): Promise<Account> {
    const { data } = await this.#octokit.rest.users.getAuthenticated();
    return { id: expectNumber(data.id), login: expectLogin(data.login) };
  }

  async feed(
    since: number,
    ifModifiedSince: string | null,
    wantsMore: (page: readonly FeedThread[]) => boolean,
  ): Promise<Feed> {
    const query = {
      all: true,
      participating: true,
      since: moment(since),
      per_page: THREADS_PER_PAGE,
    };
    const list = this.#octokit.rest.activity.listNotificationsForAuthenticatedUser;
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
  }

  async pullRequest({ owner, name: repo }: RepositoryName, number: number): Promise<PullRequestState | null> {
    return unlessGone(async () => {
      const { data: pull } = await this.#octokit.rest.pulls.get({ owner, repo, pull_number: number });
      return {
        number: pull.number,
        url: pull.html_url,
        authorId: pull.user?.id ?? null,
        branch: pull.head.ref,
        mergedAt: pull.merged_at,
        closedAt: pull.closed_at,
      };
    });
  }

  async remarks(
    { owner, name: repo }: RepositoryName,
    number: number,
    since: number,
  ): Promise<readonly Remark[] | null> {
    const { rest } = this.#octokit;
    const thread = { owner, repo, per_page: REMARKS_PER_PAGE };
    const from = moment(since);
    return unlessGone(async () => {
      const [comments, reviews] = await Promise.all([
        this.#octokit.paginate(
          rest.issues.listComments,
          { ...thread, issue_number: number, since: from },
          // A page of another shape must not pass for a thread without comments.
          ({ data }) => [...expectList(data)],
        ),
        // Reviews cannot be asked for from a moment on.
        this.#octokit.paginate(rest.pulls.listReviews, { ...thread, pull_number: number }, ({ data }) => [
          ...expectList(data),
        ]),
      ]);
      return remarksSince(from, comments, reviews);
    });
  }

  async conversation(repository: RepositoryName, number: number): Promise<Conversation | null> {
    const calls = { octokit: this.#octokit, apiUrl: this.#apiUrl };
    return unlessGone(() =>
      ifPublic(calls, repository, lookUp, () => readConversation(this.#octokit, repository, number)),
    );
  }
}

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
