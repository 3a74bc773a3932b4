/**
 * Reads from GitHub what others do to the bot's pull requests: the account's notifications feed says which ones were
 * touched, and the pull request itself says how.
 *
 * Nothing is written, and no notification is marked as read: the operator may use the same account in a browser, so the
 * feed is asked for both read and unread ones. Nothing is retried: the caller comes back in a minute.
 */
import type { Octokit } from '@octokit/rest';
import { openOctokit, type RestAccess } from './octokit.ts';
import type { RepositoryName } from './repository-name.ts';
import { isRequestFailure } from './request-failure.ts';

const TIMEOUT_MS = 10_000;
/** The most that GitHub gives at once. */
const THREADS_PER_PAGE = 50;
const REMARKS_PER_PAGE = 100;
/** How often the feed may be read when its answer does not say so. */
const USUAL_POLL_INTERVAL_S = 60;

/** A pull request that someone touched. */
export interface FeedThread {
  readonly id: string;
  readonly repository: RepositoryName;
  readonly number: number;
  /** Milliseconds since 1970, in whole seconds. */
  readonly updatedAt: number;
}

export interface Feed {
  /** Null: nothing has changed since the given time. */
  readonly threads: readonly FeedThread[] | null;
  /** Sent back unchanged in the next request. */
  readonly lastModified: string | null;
  readonly pollIntervalMs: number;
}

/** A comment, or a review with all its remarks. */
export interface Remark {
  /** Names it among all remarks of its pull request: `comment:<id>` or `review:<id>`. */
  readonly key: string;
  readonly author: string | null;
  readonly url: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface PullRequestActivity {
  readonly number: number;
  readonly url: string;
  readonly author: string | null;
  /** The branch to be merged. */
  readonly branch: string;
  readonly mergedAt: string | null;
  readonly closedAt: string | null;
  readonly remarks: readonly Remark[];
}

export class GitHubActivity {
  readonly #octokit: Octokit;

  constructor(access: RestAccess) {
    this.#octokit = openOctokit(access, TIMEOUT_MS);
  }

  async botLogin(): Promise<string> {
    return (await this.#octokit.rest.users.getAuthenticated()).data.login;
  }

  /** The pull requests that were touched since a moment, unless nothing has changed since `ifModifiedSince`. */
  async feed(since: number, ifModifiedSince: string | null): Promise<Feed> {
    const query = {
      all: true,
      participating: true,
      since: `${new Date(since).toISOString().slice(0, 19)}Z`,
      per_page: THREADS_PER_PAGE,
    };
    const list = this.#octokit.rest.activity.listNotificationsForAuthenticatedUser;
    try {
      const headers = ifModifiedSince === null ? {} : { 'if-modified-since': ifModifiedSince };
      let answer = await list({ ...query, headers });
      const lastModified = answer.headers['last-modified'] ?? null;
      const pollIntervalMs = pollInterval(answer.headers);
      const threads = answer.data.flatMap(pullRequestThread);
      // Further pages are requested without the condition, because an old page may be unmodified.
      for (let page = 2; answer.headers.link?.includes('rel="next"'); page++) {
        answer = await list({ ...query, page });
        threads.push(...answer.data.flatMap(pullRequestThread));
      }
      return { threads, lastModified, pollIntervalMs };
    } catch (error) {
      if (!isRequestFailure(error) || error.status !== 304) throw error;
      const pollIntervalMs = pollInterval(error.response?.headers ?? {});
      return { threads: null, lastModified: ifModifiedSince, pollIntervalMs };
    }
  }

  /** The state of a pull request; null if the host no longer shows it. */
  async activity({ owner, name: repo }: RepositoryName, number: number): Promise<PullRequestActivity | null> {
    const { rest } = this.#octokit;
    try {
      const [{ data: pull }, comments, reviews] = await Promise.all([
        rest.pulls.get({ owner, repo, pull_number: number }),
        this.#octokit.paginate(rest.issues.listComments, {
          owner,
          repo,
          issue_number: number,
          per_page: REMARKS_PER_PAGE,
        }),
        this.#octokit.paginate(rest.pulls.listReviews, {
          owner,
          repo,
          pull_number: number,
          per_page: REMARKS_PER_PAGE,
        }),
      ]);
      return {
        number: pull.number,
        url: pull.html_url,
        author: pull.user?.login ?? null,
        branch: pull.head.ref,
        mergedAt: pull.merged_at,
        closedAt: pull.closed_at,
        remarks: [
          ...comments.map((comment) => ({
            key: `comment:${comment.id}`,
            author: comment.user?.login ?? null,
            url: comment.html_url,
            at: comment.created_at,
          })),
          // Every remark on a line of code belongs to a review, even if it is the only one in it.
          ...reviews.map((review) => ({
            key: `review:${review.id}`,
            author: review.user?.login ?? null,
            url: review.html_url,
            at: review.submitted_at ?? '',
          })),
        ],
      };
    } catch (error) {
      if (isRequestFailure(error) && [404, 410, 451].includes(error.status)) return null;
      throw error;
    }
  }
}

function pollInterval(headers: Readonly<Record<string, string | number | undefined>>): number {
  const seconds = Number(headers['x-poll-interval']);
  return (Number.isFinite(seconds) ? seconds : USUAL_POLL_INTERVAL_S) * 1000;
}

type Notification = Awaited<
  ReturnType<Octokit['rest']['activity']['listNotificationsForAuthenticatedUser']>
>['data'][number];

/** A notification about a pull request; none for one about anything else. */
function pullRequestThread({ id, subject, repository, updated_at }: Notification): FeedThread[] {
  // The API's types do not allow null, but a discussion has no address.
  const number = /\/pulls\/(\d+)$/.exec(subject.url ?? '')?.[1];
  if (subject.type !== 'PullRequest' || number === undefined) return [];
  return [
    {
      id,
      repository: { owner: repository.owner.login, name: repository.name },
      number: Number(number),
      updatedAt: Date.parse(updated_at),
    },
  ];
}
