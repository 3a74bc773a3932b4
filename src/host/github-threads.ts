/**
 * What the bot writes on GitHub: comments on issues and pull requests, and new issues.
 *
 * Creating a comment or an issue is never retried: if the host's answer is lost, it may exist, and a second one would
 * be worse than an error. Reads, edits and deletions have the same result when repeated, so they are retried.
 */
import type { Octokit } from '@octokit/rest';
import type { Clock } from '../clock.ts';
import { failureStatus } from './github-activity.ts';
import { HostError } from './host-error.ts';
import { openOctokit, type RestAccess, type RetriedCalls, retriedCalls } from './octokit.ts';
import type { RepositoryName } from './repository-name.ts';

const TIMEOUT_MS = 10_000;
const COMMENTS_PER_PAGE = 100;
/** The statuses for something that does not exist, no longer exists, or may not be shown. */
const GONE: ReadonlySet<number | undefined> = new Set([404, 410, 451]);

export interface PostedComment {
  readonly id: number;
  readonly url: string;
}

export interface CommentWithText extends PostedComment {
  readonly text: string;
}

export interface NewIssue {
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
}

export class GitHubThreads {
  readonly #octokit: Octokit;
  readonly #retried: RetriedCalls;

  constructor(options: RestAccess & { clock: Clock }) {
    this.#octokit = openOctokit(options);
    this.#retried = retriedCalls(options);
  }

  /** @throws HostError; after `unreachable` the comment may exist. */
  async createComment(
    { owner, name: repo }: RepositoryName,
    number: number,
    text: string,
  ): Promise<PostedComment> {
    const { data } = await this.#once(() =>
      this.#octokit.rest.issues.createComment({
        owner,
        repo,
        issue_number: number,
        body: text,
        request: limited(),
      }),
    );
    return { id: data.id, url: data.html_url };
  }

  /** @throws HostError; after `unreachable` the issue may exist. */
  async createIssue(
    { owner, name: repo }: RepositoryName,
    { title, body, labels }: NewIssue,
  ): Promise<{ number: number; url: string }> {
    const { data } = await this.#once(() =>
      this.#octokit.rest.issues.create({ owner, repo, title, body, labels: [...labels], request: limited() }),
    );
    return { number: data.number, url: data.html_url };
  }

  /** The bot's comments on a thread that were created or changed since a given time. */
  async ownComments(
    { owner, name: repo }: RepositoryName,
    number: number,
    since: number,
  ): Promise<CommentWithText[]> {
    const { issues, users } = this.#octokit.rest;
    const { data: bot } = await this.#retried(() => users.getAuthenticated({ request: limited() }));
    const comments = await this.#retried(() =>
      this.#octokit.paginate(issues.listComments, {
        owner,
        repo,
        issue_number: number,
        since: new Date(since).toISOString(),
        per_page: COMMENTS_PER_PAGE,
        request: limited(),
      }),
    );
    return comments
      .filter(({ user }) => user?.id === bot.id)
      .map(({ id, html_url, body }) => ({ id, url: html_url, text: body ?? '' }));
  }

  /**
   * Replaces the comment's text by `change(text)`; null leaves it unchanged. A comment that is gone is not an error.
   */
  async editComment(
    { owner, name: repo }: RepositoryName,
    id: number,
    change: (text: string) => string | null,
  ): Promise<void> {
    const { issues } = this.#octokit.rest;
    const place = { owner, repo, comment_id: id };
    await this.#unlessGone(async () => {
      const { data } = await issues.getComment({ ...place, request: limited() });
      const text = change(data.body ?? '');
      if (text !== null) await issues.updateComment({ ...place, body: text, request: limited() });
    });
  }

  /** A comment that is gone is not an error. */
  async deleteComment({ owner, name: repo }: RepositoryName, id: number): Promise<void> {
    await this.#unlessGone(() =>
      this.#octokit.rest.issues.deleteComment({ owner, repo, comment_id: id, request: limited() }),
    );
  }

  async #unlessGone(call: () => Promise<unknown>): Promise<void> {
    try {
      await this.#retried(call);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  /** Retried only if the host said that it did nothing. */
  #once<T>(call: () => Promise<T>): Promise<T> {
    return this.#retried(async () => {
      try {
        return await call();
      } catch (error) {
        const status = failureStatus(error);
        if (status !== undefined && status < 500) throw error;
        throw new HostError('unreachable', 'The code host did not answer as expected.', error);
      }
    });
  }
}

/** Whether the host failed because the comment, the thread or the repository does not exist (any more). */
export function isGone(error: unknown): boolean {
  return error instanceof HostError && GONE.has(failureStatus(error.cause));
}

function limited(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(TIMEOUT_MS) };
}
