/**
 * Writes the bot's comments and issues on a code host, each within a time for which somebody waits.
 * Creating is repeated only if the host has said that it did nothing. If its answer was lost, it
 * may have been done, and a second comment would be worse than an error. Everything else is
 * retried.
 * Proved by test/host/github-writes.test.ts and test/sandbox/host-contract.test.ts.
 */
import { HostError, unlessMissing } from '../../words/host-error.ts';
import { Recent } from '../../isolate/recent.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import type { CommentWithText, NewIssue, PostedComment, PostedIssue } from '../code-host.ts';
import { expectAddress, expectNumber, expectStatus, expectThread } from './answer.ts';
import {
  appOf,
  idOf,
  lookUpRepository,
  placeOf,
  readAccount,
  readComments,
  underCurrentName,
} from './reads.ts';
import { Rest, type RestAccess } from './rest.ts';

const ISSUE = '/repos/{owner}/{repo}/issues/{issue_number}';
const COMMENT = '/repos/{owner}/{repo}/issues/comments/{comment_id}';
/** Maximum number of pages of labels. A repository with more has most of them for machines. */
const MAX_LABEL_PAGES = 10;
const REFUSED = 'The code host shows it, but does not let this service change it.';

/** Threads that existed when this isolate looked. */
const knownThreads = new Recent<true>({ most: 1_000 });

export class RestThreads {
  readonly #rest: Rest;

  constructor(access: RestAccess) {
    this.#rest = new Rest(access, { timeoutMs: 10_000 });
  }

  /**
   * Posts a comment. **Once.**
   * @throws HostError
   */
  async createComment(
    repository: RepositoryName,
    issue_number: number,
    body: string,
  ): Promise<PostedComment> {
    const created = this.#once(repository, async (name) => {
      if (this.#rest.differences.looksBeforeComment) await this.#lookAt(name, issue_number);
      const comment = { ...placeOf(name), issue_number, body };
      const answer = await this.#rest.call(`POST ${ISSUE}/comments`, comment);
      expectStatus(answer, 201);
      return { id: expectNumber(answer.data.id), url: expectAddress(answer.data.html_url), ...byApp(answer) };
    });
    return created.catch(async (error: unknown) => {
      // If the new place cannot be found, the first error says more.
      const to = await this.#movedTo(repository, issue_number, error).catch(() => null);
      if (to === null) throw error;
      const says = `it is ${fullName(to.repository)}#${to.index} now`;
      throw new HostError('moved', `The issue was transferred: ${says}.`, error, { says });
    });
  }

  /**
   * Checks that a thread exists, unless this isolate has seen it before.
   * @throws HostError
   */
  async expectThread(repository: RepositoryName, number: number): Promise<void> {
    const look = (name: RepositoryName) => this.#rest.retried(() => this.#lookAt(name, number));
    await underCurrentName(this.#rest, repository, look);
  }

  /**
   * Opens an issue. **Once.** If the host refuses it because the bot may not set its labels, as few
   * hosts do, it is opened without them.
   * @throws HostError
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

  #createIssue(repository: RepositoryName, { labels: names, ...text }: NewIssue): Promise<PostedIssue> {
    return this.#once(repository, async (name) => {
      // The types know labels only by name.
      const labels = (await this.#labels(name, names)) as string[];
      const issue = { ...placeOf(name), ...text, labels };
      const answer = await this.#rest.call('POST /repos/{owner}/{repo}/issues', issue);
      expectStatus(answer, 201);
      const { number, html_url: url } = answer.data;
      return { number: expectNumber(number), url: expectAddress(url), ...byApp(answer) };
    });
  }

  /**
   * Lists the comments of the account, and of the App, on a thread that were created or changed
   * since a moment.
   * @param since is in milliseconds since 1970.
   */
  async ownComments(repository: RepositoryName, number: number, since: number): Promise<CommentWithText[]> {
    const { id: botId } = await readAccount(this.#rest);
    return this.#rest.retried(async () => {
      const comments = await readComments(this.#rest, repository, number, new Date(since).toISOString());
      const own: CommentWithText[] = [];
      for (const { id, html_url, body, user } of comments) {
        const app = await appOf(this.#rest, user);
        if (app === undefined && idOf(user) !== botId) continue;
        const posted = { id: expectNumber(id), url: expectAddress(html_url), text: body ?? '' };
        own.push({ ...posted, ...byApp({ app }) });
      }
      return own;
    });
  }

  /**
   * Replaces a comment's text by `change(text)`, unless that is null. It succeeds if the comment is
   * gone.
   * @param app is the number of the App that has posted it; null: the account has.
   */
  async editComment(
    repository: RepositoryName,
    comment_id: number,
    change: (text: string) => string | null,
    app: number | null,
  ): Promise<void> {
    const rest = this.#rest.by(app);
    const edit = async (name: RepositoryName): Promise<void> => {
      const body = change(await this.#textOf(name, comment_id));
      if (body === null) return;
      const { data } = await rest.call(`PATCH ${COMMENT}`, { ...placeOf(name), comment_id, body });
      if (expectNumber(data.id) !== comment_id) throw new TypeError('the host answers with another comment');
    };
    await this.#unlessGone(repository, edit, (name) => this.#textOf(name, comment_id));
  }

  /**
   * Deletes a comment. It succeeds if the comment is gone.
   * @param app as for `editComment`.
   */
  async deleteComment(repository: RepositoryName, comment_id: number, app: number | null): Promise<void> {
    const rest = this.#rest.by(app);
    const remove = async (name: RepositoryName): Promise<void> =>
      expectStatus(await rest.call(`DELETE ${COMMENT}`, { ...placeOf(name), comment_id }), 204);
    await this.#unlessGone(repository, remove, (name) => this.#textOf(name, comment_id));
  }

  /**
   * Closes an issue. It succeeds if the issue is gone.
   * @param app as for `editComment`.
   */
  async closeIssue(repository: RepositoryName, number: number, app: number | null): Promise<void> {
    await this.#close(repository, number, app).catch(async (error: unknown) => {
      // The first error tells more than one about where it has moved.
      const to = await this.#movedTo(repository, number, error).catch(() => null);
      if (to === null) throw error;
      await this.#close(to.repository, to.index, app);
    });
  }

  #close(repository: RepositoryName, issue_number: number, app: number | null): Promise<void> {
    const rest = this.#rest.by(app);
    const close = async (name: RepositoryName): Promise<void> => {
      const change = { ...placeOf(name), issue_number, state: 'closed' } as const;
      const { data } = await rest.call(`PATCH ${ISSUE}`, change);
      if (expectNumber(data.number) !== issue_number || data.state !== 'closed')
        throw new TypeError('the host answers with another issue');
    };
    return this.#unlessGone(repository, close, (name) => this.#issue(name, issue_number));
  }

  async #lookAt(repository: RepositoryName, number: number): Promise<void> {
    const key = `${this.#rest.apiUrl} ${fullName(repository)}#${number}`.toLowerCase();
    if (knownThreads.get(key) !== null) return;
    await this.#issue(repository, number);
    knownThreads.set(key, true);
  }

  async #issue(repository: RepositoryName, issue_number: number) {
    return (await this.#rest.call(`GET ${ISSUE}`, { ...placeOf(repository), issue_number })).data;
  }

  /**
   * Returns labels as the host wants them: by name, or as the numbers of those that the repository
   * has.
   */
  async #labels(repository: RepositoryName, names: readonly string[]): Promise<readonly (string | number)[]> {
    if (names.length === 0 || !this.#rest.differences.labelsByNumber) return names;
    const ids: number[] = [];
    let pages = 0;
    for await (const { data } of this.#rest.pages('GET /repos/{owner}/{repo}/labels', placeOf(repository))) {
      ids.push(...data.filter(({ name }) => names.includes(name)).map(({ id }) => expectNumber(id)));
      if (ids.length >= names.length || (pages += 1) === MAX_LABEL_PAGES) break;
    }
    return ids;
  }

  /**
   * Finds an issue that was transferred to another public repository.
   * @returns null if it was not, or the other one is private.
   * @throws HostError, TypeError if that cannot be seen.
   */
  async #movedTo(repository: RepositoryName, number: number, error: unknown) {
    if (!(error instanceof HostError) || error.code !== 'moved') return null;
    const issue = await this.#rest.retried(() => this.#issue(repository, number));
    const to = expectThread(issue.html_url);
    const isHere = fullName(to.repository).toLowerCase() === fullName(repository).toLowerCase();
    return isHere || (await lookUpRepository(this.#rest, to.repository)).isPrivate ? null : to;
  }

  async #textOf(repository: RepositoryName, comment_id: number): Promise<string> {
    const { data } = await this.#rest.call(`GET ${COMMENT}`, { ...placeOf(repository), comment_id });
    // Another comment's text, or none, must not be written over this one's.
    if (expectNumber(data.id) !== comment_id) throw new TypeError('the host answers with another comment');
    return data.body ?? '';
  }

  #once<T>(repository: RepositoryName, create: (repository: RepositoryName) => Promise<T>): Promise<T> {
    return underCurrentName(this.#rest, repository, (name) => this.#rest.retried(() => create(name), false));
  }

  /**
   * Makes a change, which succeeds if its object is gone. A host that says so is asked a second
   * time, because the change would never be tried again. It must show the repository, too: all that
   * is in one that is private for a while comes back with it.
   * @throws HostError `missing` if the repository is not shown, `refused` if the object is.
   */
  async #unlessGone(
    repository: RepositoryName,
    change: (repository: RepositoryName) => Promise<void>,
    read: (repository: RepositoryName) => Promise<unknown>,
  ): Promise<void> {
    const call = (make: (repository: RepositoryName) => Promise<unknown>) =>
      underCurrentName(this.#rest, repository, (name) => this.#rest.retried(() => make(name)));
    await call(change).catch(async (error: unknown) => {
      const isMissing = error instanceof HostError && error.code === 'missing';
      if (!isMissing) throw error;
      if ((await unlessMissing(() => call(read))) !== null) throw new HostError('refused', REFUSED, error);
      await lookUpRepository(this.#rest, repository);
    });
  }
}

/** Names the App that has made a call. */
const byApp = ({ app }: { readonly app?: number | undefined }): { readonly app?: number } =>
  app === undefined ? {} : { app };
