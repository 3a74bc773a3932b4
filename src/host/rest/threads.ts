/**
 * What the bot writes on a code host: comments on issues and pull requests, and new issues. Each write goes to the
 * repository's present name, and ends within a time that somebody waits.
 *
 * Creating a comment or an issue is never retried: if the host's answer is lost, it may exist, and a second one would
 * be worse than an error. Reads, edits and deletions have the same result when repeated, so they are retried.
 */
import type { Clock } from '../../isolate/clock.ts';
import type { CommentWithText, NewIssue, PostedComment, PostedIssue, ThreadHost } from '../code-host.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { HostError } from '../../host-error.ts';
import { expectAddress, expectNumber, expectStatus, expectThread } from './answer.ts';
import { openCalls, type RestAccess, type RestCalls } from './octokit.ts';
import type { Answer, AnsweredRemark, ReadDialect, RepositoryPlace, ThreadPlace } from './reads.ts';
import { underCurrentName } from './renamed.ts';

const TIMEOUT_MS = 10_000;

/** A comment. */
export interface CommentPlace extends RepositoryPlace {
  readonly id: number;
}

/** How one kind of host is asked. */
export interface ThreadDialect extends Pick<ReadDialect, 'account' | 'comments' | 'lookUp'> {
  createComment(
    calls: RestCalls,
    thread: ThreadPlace,
    body: string,
  ): Promise<Answer<Pick<AnsweredRemark, 'id' | 'html_url'>>>;
  createIssue(
    calls: RestCalls,
    place: RepositoryPlace,
    issue: NewIssue,
  ): Promise<Answer<{ readonly number: number; readonly html_url: string }>>;
  comment(calls: RestCalls, place: CommentPlace): Promise<Answer<Pick<AnsweredRemark, 'id' | 'body'>>>;
  editComment(
    calls: RestCalls,
    place: CommentPlace,
    body: string,
  ): Promise<Answer<Pick<AnsweredRemark, 'id'>>>;
  deleteComment(calls: RestCalls, place: CommentPlace): Promise<Answer<unknown>>;
  issue(calls: RestCalls, place: ThreadPlace): Promise<Answer<{ readonly html_url: string }>>;
  closeIssue(
    calls: RestCalls,
    place: ThreadPlace,
  ): Promise<Answer<{ readonly number: number; readonly state: string }>>;
}

export class RestThreads implements ThreadHost {
  readonly #calls: RestCalls;
  readonly #dialect: ThreadDialect;

  constructor(access: RestAccess & { readonly clock: Clock }, dialect: ThreadDialect) {
    this.#calls = openCalls(access);
    this.#dialect = dialect;
  }

  async createComment(repository: RepositoryName, index: number, text: string): Promise<PostedComment> {
    const created = this.#once(repository, async (place) => {
      const answer = await this.#dialect.createComment(this.#calls, { ...place, index }, text);
      expectStatus(answer, 201);
      return { id: expectNumber(answer.data.id), url: expectAddress(answer.data.html_url) };
    });
    return created.catch(async (error: unknown) => {
      const to = await this.#movedTo(repository, index, error).catch(() => null);
      if (to === null) throw error;
      const says = `it is ${fullName(to.repository)}#${to.index} now`;
      throw new HostError('moved', `The issue was transferred: ${says}.`, error, { says });
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
        error instanceof HostError && error.code === 'refused' && /label/i.test(error.failure.says);
      if (!isForLabels || issue.labels.length === 0) throw error;
      return this.#createIssue(repository, { ...issue, labels: [] });
    }
  }

  #createIssue(repository: RepositoryName, issue: NewIssue): Promise<PostedIssue> {
    return this.#once(repository, async (place) => {
      const answer = await this.#dialect.createIssue(this.#calls, place, issue);
      expectStatus(answer, 201);
      return { number: expectNumber(answer.data.number), url: expectAddress(answer.data.html_url) };
    });
  }

  async ownComments(repository: RepositoryName, index: number, since: number): Promise<CommentWithText[]> {
    const { octokit, retried } = this.#calls;
    const botId = await retried(async () => {
      const { data } = await this.#dialect.account(octokit, { request: limited() });
      return expectNumber(data.id);
    });
    return retried(async () => {
      const thread = { ...placeOf(repository), index };
      const comments = await this.#dialect.comments(octokit, thread, new Date(since).toISOString());
      return comments
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
    const edit = async (name: RepositoryName): Promise<void> => {
      const text = change(await this.#textOf(name, id));
      if (text === null) return;
      const { data } = await this.#dialect.editComment(this.#calls, { ...placeOf(name), id }, text);
      if (expectNumber(data.id) !== id) throw new TypeError('the host answers with another comment');
    };
    await this.#unlessGone(repository, edit, (name) => this.#textOf(name, id));
  }

  async deleteComment(repository: RepositoryName, id: number): Promise<void> {
    const remove = async (name: RepositoryName): Promise<void> =>
      expectStatus(await this.#dialect.deleteComment(this.#calls, { ...placeOf(name), id }), 204);
    await this.#unlessGone(repository, remove, (name) => this.#textOf(name, id));
  }

  async closeIssue(repository: RepositoryName, index: number): Promise<void> {
    await this.#close(repository, index).catch(async (error: unknown) => {
      const to = await this.#movedTo(repository, index, error).catch(() => null);
      if (to === null) throw error;
      await this.#close(to.repository, to.index);
    });
  }

  #close(repository: RepositoryName, index: number): Promise<void> {
    const close = async (name: RepositoryName): Promise<void> => {
      const { data } = await this.#dialect.closeIssue(this.#calls, { ...placeOf(name), index });
      if (expectNumber(data.number) !== index || data.state !== 'closed')
        throw new TypeError('the host answers with another issue');
    };
    return this.#unlessGone(repository, close, (name) =>
      this.#dialect.issue(this.#calls, { ...placeOf(name), index }),
    );
  }

  /** Where an issue stands that was transferred to another public repository; null: nowhere, or nobody knows. */
  async #movedTo(repository: RepositoryName, index: number, error: unknown) {
    if (!(error instanceof HostError) || error.code !== 'moved') return null;
    const to = await this.#calls.retried(async () => {
      const { data } = await this.#dialect.issue(this.#calls, { ...placeOf(repository), index });
      return expectThread(data.html_url);
    });
    const isHere = fullName(to.repository).toLowerCase() === fullName(repository).toLowerCase();
    return isHere || (await this.#dialect.lookUp(this.#calls, to.repository)).isPrivate ? null : to;
  }

  async #textOf(repository: RepositoryName, id: number): Promise<string> {
    const { data } = await this.#dialect.comment(this.#calls, { ...placeOf(repository), id });
    // Another comment's text, or none, is not to be written over this one's.
    if (expectNumber(data.id) !== id) throw new TypeError('the host answers with another comment');
    return data.body ?? '';
  }

  /** Something new. @throws HostError */
  #once<T>(repository: RepositoryName, create: (place: RepositoryPlace) => Promise<T>): Promise<T> {
    return this.#renamed(repository, (name) => this.#calls.once(() => create(placeOf(name))));
  }

  /**
   * A change that may be repeated; of what is gone, it is none. A host that says so is asked once more, because it would
   * never be tried again.
   * @param read what is to be changed. @throws HostError
   */
  async #unlessGone(
    repository: RepositoryName,
    change: (repository: RepositoryName) => Promise<void>,
    read: (repository: RepositoryName) => Promise<unknown>,
  ): Promise<void> {
    const call = (make: (repository: RepositoryName) => Promise<unknown>) =>
      this.#renamed(repository, (name) => this.#calls.retried(() => make(name)));
    const refusal = await call(change).then(() => null, ifGone);
    if (refusal === null || (await call(read).then(() => null, ifGone)) !== null) return;
    throw refusal;
  }

  #renamed<T>(repository: RepositoryName, write: (repository: RepositoryName) => Promise<T>): Promise<T> {
    return underCurrentName((name) => this.#dialect.lookUp(this.#calls, name), repository, write);
  }
}

function placeOf({ owner, name }: RepositoryName): RepositoryPlace {
  return { owner, repo: name, request: limited() };
}

/** @throws any other error */
function ifGone(error: unknown): unknown {
  if (error instanceof HostError && error.code === 'missing') return error;
  throw error;
}

/** The time limit of one call. */
function limited(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(TIMEOUT_MS) };
}
