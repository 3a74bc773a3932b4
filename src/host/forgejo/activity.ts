/**
 * Reads from Forgejo and Gitea what others do to the bot's pull requests: the account's notifications say which ones
 * were touched, and the pull request itself says how.
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
import type { RepositoryName } from '../../repository-name.ts';
import { activityCall, moment, pullRequestThread, remarksSince } from '../rest/activity.ts';
import { expectAddress, expectList, expectLogin, expectNumber } from '../rest/answer.ts';
import { ifPublic } from '../rest/conversation.ts';
import { openOctokit, type RestAccess } from '../rest/octokit.ts';
import { unlessGone } from '../rest/unless-gone.ts';
import {
  type AnsweredComment,
  type AnsweredPull,
  type AnsweredReview,
  type AnsweredUser,
  isSent,
} from './answers.ts';
import { call, lookUp, pagesOf } from './calls.ts';
import { readConversation } from './conversation.ts';

const TIMEOUT_MS = 10_000;
/** The server does not say how often its feed may be read. */
const POLL_INTERVAL_MS = 60_000;
const PULL = '/repos/{owner}/{repo}/pulls/{index}';

export class ForgejoActivity implements ActivityHost {
  readonly #octokit: Octokit;
  readonly #apiUrl: string;

  /** @param beforeCall is told of each call, further pages included; what it throws comes instead of the call. */
  constructor(access: RestAccess, beforeCall: (call: ActivityCall) => void) {
    this.#octokit = openOctokit(access, TIMEOUT_MS);
    this.#apiUrl = access.apiUrl;
    this.#octokit.hook.before('request', ({ url }) => beforeCall(activityCall(url)));
  }

  async account(): Promise<Account> {
    const { data } = await call<AnsweredUser>(this.#octokit, 'GET /user');
    return { id: expectNumber(data.id), login: expectLogin(data.login) };
  }

  /** There is no condition that would save reading it. */
  async feed(
    since: number,
    _ifModifiedSince: string | null,
    wantsMore: (page: readonly FeedThread[]) => boolean,
  ): Promise<Feed> {
    const query = { all: true, since: moment(since), 'subject-type': 'Pull' };
    const threads: FeedThread[] = [];
    for await (const page of pagesOf<Parameters<typeof pullRequestThread>[0]>(
      this.#octokit,
      'GET /notifications',
      query,
    )) {
      // It does not say why the bot is told.
      const shown = page.flatMap((entry) => pullRequestThread(entry, 'Pull', false));
      threads.push(...shown);
      if (!wantsMore(shown)) break;
    }
    return { threads, lastModified: null, pollIntervalMs: POLL_INTERVAL_MS };
  }

  async pullRequest({ owner, name: repo }: RepositoryName, index: number): Promise<PullRequestState | null> {
    return unlessGone(async () => {
      const { data } = await call<AnsweredPull>(this.#octokit, `GET ${PULL}`, { owner, repo, index });
      return {
        number: expectNumber(data.number),
        url: expectAddress(data.html_url),
        authorId: data.user?.id ?? null,
        branch: data.head.label,
        mergedAt: data.merged_at,
        closedAt: data.closed_at,
      };
    });
  }

  async remarks(
    { owner, name: repo }: RepositoryName,
    index: number,
    since: number,
  ): Promise<readonly Remark[] | null> {
    const place = { owner, repo, index };
    const from = moment(since);
    return unlessGone(async () => {
      const [comments, reviews] = await Promise.all([this.#comments(place, from), this.#reviews(place)]);
      return remarksSince(from, comments, reviews);
    });
  }

  async conversation(repository: RepositoryName, number: number): Promise<Conversation | null> {
    const calls = { octokit: this.#octokit, apiUrl: this.#apiUrl };
    return unlessGone(() =>
      ifPublic(calls, repository, lookUp, () => readConversation(this.#octokit, repository, number)),
    );
  }

  /** All at once: this list has no pages. */
  async #comments(place: object, since: string): Promise<readonly AnsweredComment[]> {
    const route = 'GET /repos/{owner}/{repo}/issues/{index}/comments';
    const { data } = await call<readonly AnsweredComment[]>(this.#octokit, route, { ...place, since });
    // An answer of another shape must not pass for a thread without comments.
    return expectList(data);
  }

  /** Reviews cannot be asked for from a moment on. */
  async #reviews(place: object): Promise<readonly AnsweredReview[]> {
    const reviews: AnsweredReview[] = [];
    for await (const page of pagesOf<AnsweredReview>(this.#octokit, `GET ${PULL}/reviews`, { ...place })) {
      reviews.push(...page.filter(isSent));
    }
    return reviews;
  }
}
