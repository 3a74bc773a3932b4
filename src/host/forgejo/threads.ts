/**
 * What the bot writes on Forgejo and Gitea: comments on issues and pull requests, and new issues.
 *
 * Creating a comment or an issue is never retried: if the answer is lost, it may exist, and a second one would be worse
 * than an error. Reads, edits and deletions have the same result when repeated, so they are retried.
 */
import type { Clock } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import type { CommentWithText, NewIssue, PostedComment, PostedIssue, ThreadHost } from '../code-host.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { expectAddress, expectList, expectNumber, expectStatus } from '../rest/answer.ts';
import { openCalls, type RestAccess, type RestCalls } from '../rest/octokit.ts';
import { expectClosed, limited, ThreadWrites } from '../rest/thread-writes.ts';
import type { AnsweredComment, AnsweredUser } from './answers.ts';
import { call, lookUp, pagesOf } from './calls.ts';

const ISSUE = '/repos/{owner}/{repo}/issues/{index}';
const COMMENT = '/repos/{owner}/{repo}/issues/comments/{id}';
/** A repository with more labels has most of them for machines. */
const MAX_LABEL_PAGES = 10;
const MAX_KNOWN_THREADS = 1_000;

/** Threads that exist, or did when this isolate looked. */
const knownThreads = new Recent<true>({ most: MAX_KNOWN_THREADS });

export class ForgejoThreads implements ThreadHost {
  readonly #calls: RestCalls;
  readonly #writes: ThreadWrites;

  constructor(access: RestAccess & { clock: Clock }) {
    this.#calls = openCalls(access);
    this.#writes = new ThreadWrites(this.#calls, lookUp);
  }

  async createComment(repository: RepositoryName, number: number, text: string): Promise<PostedComment> {
    return this.#writes.once(repository, async ({ owner, name: repo }) => {
      const place = { owner, repo, index: number, request: limited() };
      await this.#expectThread(place);
      const answer = await call<AnsweredComment>(this.#calls.octokit, `POST ${ISSUE}/comments`, {
        ...place,
        data: { body: text },
      });
      expectStatus(answer, 201);
      return { id: expectNumber(answer.data.id), url: expectAddress(answer.data.html_url) };
    });
  }

  async createIssue(repository: RepositoryName, { title, body, labels }: NewIssue): Promise<PostedIssue> {
    return this.#writes.once(repository, async ({ owner, name: repo }) => {
      const place = { owner, repo, request: limited() };
      const ids = labels.length === 0 ? [] : await this.#labelIds(place, labels);
      const answer = await call<{ number: number; html_url: string }>(
        this.#calls.octokit,
        'POST /repos/{owner}/{repo}/issues',
        // Labels by someone without push rights are dropped.
        { ...place, data: { title, body, labels: ids } },
      );
      expectStatus(answer, 201);
      return { number: expectNumber(answer.data.number), url: expectAddress(answer.data.html_url) };
    });
  }

  async ownComments(
    { owner, name: repo }: RepositoryName,
    number: number,
    since: number,
  ): Promise<CommentWithText[]> {
    const { octokit, retried } = this.#calls;
    const botId = await retried(async () =>
      expectNumber((await call<AnsweredUser>(octokit, 'GET /user', { request: limited() })).data.id),
    );
    return retried(async () => {
      const query = { owner, repo, index: number, since: new Date(since).toISOString(), request: limited() };
      // All at once: this list has no pages.
      const answer = await call<readonly AnsweredComment[]>(octokit, `GET ${ISSUE}/comments`, query);
      expectStatus(answer, 200);
      return expectList(answer.data)
        .filter(({ user }) => user?.id === botId)
        .map(({ id, html_url, body }) => ({
          id: expectNumber(id),
          url: expectAddress(html_url),
          text: body ?? '',
        }));
    });
  }

  async editComment(
    repository: RepositoryName,
    id: number,
    change: (text: string) => string | null,
  ): Promise<void> {
    const edit = async (place: RepositoryName): Promise<void> => {
      const body = change((await this.#comment(place, id)).body ?? '');
      if (body === null) return;
      const named = { owner: place.owner, repo: place.name, id, data: { body }, request: limited() };
      const { data } = await call<AnsweredComment>(this.#calls.octokit, `PATCH ${COMMENT}`, named);
      if (expectNumber(data.id) !== id) throw new TypeError('the host answers with another comment');
    };
    await this.#writes.unlessGone(repository, edit, (place) => this.#comment(place, id));
  }

  async deleteComment(repository: RepositoryName, id: number): Promise<void> {
    const remove = async ({ owner, name: repo }: RepositoryName): Promise<void> => {
      const place = { owner, repo, id, request: limited() };
      expectStatus(await call(this.#calls.octokit, `DELETE ${COMMENT}`, place), 204);
    };
    await this.#writes.unlessGone(repository, remove, (place) => this.#comment(place, id));
  }

  async closeIssue(repository: RepositoryName, number: number): Promise<void> {
    const { octokit } = this.#calls;
    const placed = ({ owner, name: repo }: RepositoryName) => {
      return { owner, repo, index: number, request: limited() };
    };
    const close = async (place: RepositoryName): Promise<void> => {
      const named = { ...placed(place), data: { state: 'closed' } };
      const { data } = await call<{ number: number; state: string }>(octokit, `PATCH ${ISSUE}`, named);
      expectClosed(data, number);
    };
    await this.#writes.unlessGone(repository, close, (place) => call(octokit, `GET ${ISSUE}`, placed(place)));
  }

  async #comment({ owner, name: repo }: RepositoryName, id: number): Promise<AnsweredComment> {
    const place = { owner, repo, id, request: limited() };
    const { data } = await call<AnsweredComment>(this.#calls.octokit, `GET ${COMMENT}`, place);
    // Another comment's text, or none, is not to be written over this one's.
    if (expectNumber(data.id) !== id) throw new TypeError('the host answers with another comment');
    return data;
  }

  /** A comment on a missing thread would be answered with 500, as if it might have been posted. */
  async #expectThread(place: { owner: string; repo: string; index: number }): Promise<void> {
    const { owner, repo, index } = place;
    const key = `${this.#calls.apiUrl} ${fullName({ owner, name: repo })}#${index}`.toLowerCase();
    if (knownThreads.get(key) !== null) return;
    await call(this.#calls.octokit, `GET ${ISSUE}`, place);
    knownThreads.set(key, true);
  }

  /** Of the labels that the repository has. */
  async #labelIds(place: Readonly<Record<string, unknown>>, names: readonly string[]): Promise<number[]> {
    const ids: number[] = [];
    let pages = 0;
    const list = pagesOf<{ id: number; name: string }>(
      this.#calls.octokit,
      'GET /repos/{owner}/{repo}/labels',
      place,
    );
    for await (const page of list) {
      ids.push(...page.filter(({ name }) => names.includes(name)).map(({ id }) => expectNumber(id)));
      if (ids.length >= names.length || (pages += 1) === MAX_LABEL_PAGES) break;
    }
    return ids;
  }
}
