/**
 * What the bot writes on GitHub: comments on issues and pull requests, and new issues.
 *
 * Creating a comment or an issue is never retried: if the host's answer is lost, it may exist, and a second one would
 * be worse than an error. Reads, edits and deletions have the same result when repeated, so they are retried.
 */
import type { Octokit } from '@octokit/rest';
import type { Clock } from '../../isolate/clock.ts';
import type { CommentWithText, NewIssue, PostedComment, PostedIssue, ThreadHost } from '../code-host.ts';
import { expectAddress, expectList, expectNumber, expectStatus } from '../rest/answer.ts';
import { HostError } from '../../host-error.ts';
import { openCalls, type RestAccess, type RestCalls, type RetriedCalls } from '../rest/octokit.ts';
import { expectClosed, limited, ThreadWrites } from '../rest/thread-writes.ts';
import { lookUp } from './look-up.ts';
import type { RepositoryName } from '../../repository-name.ts';

const COMMENTS_PER_PAGE = 100;

export class GitHubThreads implements ThreadHost {
  readonly #calls: RestCalls;
  readonly #writes: ThreadWrites;
  readonly #retried: RetriedCalls;

  constructor(access: RestAccess & { clock: Clock }) {
    this.#calls = openCalls(access);
    this.#writes = new ThreadWrites(this.#calls, lookUp);
    this.#retried = this.#calls.retried;
  }

  get #octokit(): Octokit {
    return this.#calls.octokit;
  }

  async createComment(repository: RepositoryName, number: number, text: string): Promise<PostedComment> {
    return this.#writes.once(repository, async ({ owner, name: repo }) => {
      const answer = await this.#octokit.rest.issues.createComment({
        owner,
        repo,
        issue_number: number,
        body: text,
        request: limited(),
      });
      expectStatus(answer, 201);
      return { id: expectNumber(answer.data.id), url: expectAddress(answer.data.html_url) };
    });
  }

  /**
   * Most hosts drop the labels of an account that may not set them. One that refuses the issue for them, and says so, is
   * asked once more, without them.
   */
  async createIssue(repository: RepositoryName, issue: NewIssue): Promise<PostedIssue> {
    try {
      return await this.#createIssue(repository, issue);
    } catch (error) {
      const isForLabels =
        error instanceof HostError && error.code === 'refused' && /label/i.test(error.said ?? '');
      if (!isForLabels || issue.labels.length === 0) throw error;
      return this.#createIssue(repository, { ...issue, labels: [] });
    }
  }

  #createIssue(repository: RepositoryName, { title, body, labels }: NewIssue): Promise<PostedIssue> {
    return this.#writes.once(repository, async ({ owner, name: repo }) => {
      const issue = { owner, repo, title, body, labels: [...labels] };
      const answer = await this.#octokit.rest.issues.create({ ...issue, request: limited() });
      expectStatus(answer, 201);
      return { number: expectNumber(answer.data.number), url: expectAddress(answer.data.html_url) };
    });
  }

  async ownComments(
    { owner, name: repo }: RepositoryName,
    number: number,
    since: number,
  ): Promise<CommentWithText[]> {
    const { issues, users } = this.#octokit.rest;
    const botId = await this.#retried(async () =>
      expectNumber((await users.getAuthenticated({ request: limited() })).data.id),
    );
    const list = {
      owner,
      repo,
      issue_number: number,
      since: new Date(since).toISOString(),
      per_page: COMMENTS_PER_PAGE,
    };
    return this.#retried(() =>
      this.#octokit.paginate(issues.listComments, { ...list, request: limited() }, (page) => {
        // A page of another shape is not to pass for a thread without comments.
        expectStatus(page, 200);
        return expectList(page.data)
          .map(({ id, user, html_url, body }) => ({
            id: expectNumber(id),
            user,
            url: html_url,
            text: body ?? '',
          }))
          .filter(({ user }) => user?.id === botId)
          .map(({ id, url, text }) => ({ id, url: expectAddress(url), text }));
      }),
    );
  }

  async editComment(
    repository: RepositoryName,
    id: number,
    change: (text: string) => string | null,
  ): Promise<void> {
    const { issues } = this.#octokit.rest;
    const edit = async (place: RepositoryName): Promise<void> => {
      const text = change((await this.#comment(place, id)).body ?? '');
      if (text === null) return;
      const named = { owner: place.owner, repo: place.name, comment_id: id };
      const { data } = await issues.updateComment({ ...named, body: text, request: limited() });
      if (expectNumber(data.id) !== id) throw new TypeError('the host answers with another comment');
    };
    await this.#writes.unlessGone(repository, edit, (place) => this.#comment(place, id));
  }

  async deleteComment(repository: RepositoryName, id: number): Promise<void> {
    const remove = async ({ owner, name: repo }: RepositoryName): Promise<void> => {
      const place = { owner, repo, comment_id: id };
      expectStatus(await this.#octokit.rest.issues.deleteComment({ ...place, request: limited() }), 204);
    };
    await this.#writes.unlessGone(repository, remove, (place) => this.#comment(place, id));
  }

  async closeIssue(repository: RepositoryName, number: number): Promise<void> {
    const { issues } = this.#octokit.rest;
    const placed = ({ owner, name: repo }: RepositoryName) => {
      return { owner, repo, issue_number: number, request: limited() };
    };
    const close = async (place: RepositoryName): Promise<void> => {
      const { data } = await issues.update({ ...placed(place), state: 'closed' });
      expectClosed(data, number);
    };
    await this.#writes.unlessGone(repository, close, async (place) => issues.get(placed(place)));
  }

  async #comment({ owner, name: repo }: RepositoryName, id: number): Promise<{ body?: string }> {
    const place = { owner, repo, comment_id: id };
    const { data } = await this.#octokit.rest.issues.getComment({ ...place, request: limited() });
    // Another comment's text, or none, is not to be written over this one's.
    if (expectNumber(data.id) !== id) throw new TypeError('the host answers with another comment');
    return data;
  }
}
