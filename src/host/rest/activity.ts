/**
 * Reads what others do to the bot's pull requests, which its notifications list, and what is said
 * on any thread. It marks no notification as read, because the operator may use the account, too.
 * Nothing is retried: the callers come back by themselves.
 * Proved by test/host/bad-answers.test.ts and test/sandbox/host-contract.test.ts.
 */
import { hostFailureOf, unlessMissing } from '../../words/host-error.ts';
import { parseRepositoryName, type RepositoryName } from '../../words/repository-name.ts';
import type {
  Account,
  Conversation,
  Feed,
  FeedThread,
  ListedThread,
  MovedThread,
  PullRequestState,
  ReadRemarks,
} from '../code-host.ts';
import { expectAddress, expectList, expectNumber, expectText, expectThread } from './answer.ts';
import {
  type AnsweredReview,
  isSent,
  newestLines,
  type PullPlace,
  readConversation,
} from './conversation.ts';
import {
  branchOf,
  idOf,
  lookUpRepository,
  placeOf,
  pullRequestsOf,
  readAccount,
  firstComments,
  isSince,
  readPull,
} from './reads.ts';
import type { AppAccount } from './actor.ts';
import { fromComment, fromLine, fromReview } from './remarks.ts';
import { Rest, type RestAccess, type RestHabits } from './rest.ts';

const ISSUES = 'GET /repos/{owner}/{repo}/issues';
const REVIEWS = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';

/** The beginning of a title that a list has: most hosts take no longer one. */
const MOST_OF_A_TITLE = 256;

/** Interval between reads of the feed, if its answer names none. */
const USUAL_POLL_INTERVAL_S = 60;

const NOBODY = {
  token: '',
  backOff: { throwIfPaused: async () => {}, observe: () => null },
  tokenWatch: { observe: () => {} },
  callMeter: { observe: () => {} },
} satisfies Partial<RestAccess>;

/** Something that the service has opened. */
type OpenedThread = Pick<FeedThread, 'number' | 'isIssue' | 'updatedAt'>;

export class RestActivity {
  readonly #rest: Rest;
  /** Asks without the token. Answers say nothing of the account's token and limits. */
  readonly #public: Rest;

  /**
   * Prepares reads.
   * @param beforeCall is called with each call, further pages included. If it throws, the call is
   * not made.
   */
  constructor(access: RestAccess, beforeCall: () => void) {
    const habits: RestHabits = {
      timeoutMs: 10_000,
      isPatient: false,
      beforeCall,
    };
    this.#rest = new Rest(access, habits);
    this.#public = new Rest({ ...access, ...NOBODY }, habits);
  }

  async account(): Promise<Account> {
    return readAccount(this.#rest);
  }

  /** Returns the App's account; null: the service has no App. */
  async appAccount(): Promise<AppAccount | null> {
    return this.#rest.appAccount();
  }

  /**
   * Tells if the host hides the bot's account, and so its pull requests, from everybody else.
   * @returns null if the host does not say.
   */
  async isHidden(login: string): Promise<boolean | null> {
    if (!this.#rest.differences.hidesFlagged) return false;
    return this.#public.call('GET /users/{username}', { username: login }).then(
      () => false,
      // Without a token, others may have used up the calls of this address.
      (error: unknown) => (hostFailureOf(error).status === 404 ? true : null),
    );
  }

  /**
   * Lists the pull requests and issues that were touched since a moment.
   * @param since is in milliseconds since 1970.
   * @param wantsMore gets each page, the newest first, and says whether to go on to the next.
   */
  async feed(
    since: number,
    ifModifiedSince: string | null,
    wantsMore: (page: readonly FeedThread[]) => boolean,
  ): Promise<Feed> {
    const query = { all: true, since: moment(since), ...this.#rest.differences.feedQuery };
    // Further pages are requested without the condition, because an old page may be unmodified.
    const condition = ifModifiedSince === null ? {} : { 'if-modified-since': ifModifiedSince };
    const threads: FeedThread[] = [];
    let said: Omit<Feed, 'threads'> | null = null;
    for await (const { status, header, data } of this.#rest.pages('GET /notifications', query, condition)) {
      const seconds = Number(header('x-poll-interval') ?? Number.NaN);
      const pollIntervalMs = (Number.isFinite(seconds) ? seconds : USUAL_POLL_INTERVAL_S) * 1000;
      if (status === 304) return { threads: null, lastModified: ifModifiedSince, pollIntervalMs };
      said ??= { lastModified: header('last-modified'), pollIntervalMs };
      const shown = data.flatMap((entry) => threadIn(entry));
      threads.push(...shown);
      if (!wantsMore(shown)) break;
    }
    if (said === null) throw new TypeError('the host answers without a page');
    return { threads, ...said };
  }

  /**
   * Lists what an account has opened in a repository and was touched since a moment: a hundred
   * threads at most, the newest first.
   * @param since is in milliseconds since 1970.
   */
  async touchedBy(
    repository: RepositoryName,
    login: string,
    since: number,
  ): Promise<readonly OpenedThread[]> {
    const { byAuthor, page } = this.#rest.differences;
    const query = { ...placeOf(repository), state: 'all', sort: 'updated', since: moment(since) } as const;
    // The App may be installed where the account sees nothing.
    const answer = await unlessMissing(() =>
      this.#rest.call(ISSUES, { ...page, ...query, [byAuthor]: login }),
    );
    // A host may ignore what it does not know.
    const own = expectList(answer?.data ?? []).filter(({ user }) => user?.login === login);
    return own.map(({ number, pull_request, updated_at }) => {
      return { number: expectNumber(number), isIssue: !pull_request, updatedAt: Date.parse(updated_at) };
    });
  }

  /** Reads a pull request, or returns null if the host no longer shows it. */
  async pullRequest(repository: RepositoryName, number: number): Promise<PullRequestState | null> {
    return unlessMissing(async () => {
      const pull = await readPull(this.#rest, repository, number);
      const branch = branchOf(this.#rest, pull);
      return {
        number: expectNumber(pull.number),
        url: expectAddress(pull.html_url),
        authorId: idOf(pull.user),
        branch,
        ...(branch === null && { id: expectNumber(pull.id) }),
        mergedAt: pull.merged_at,
        closedAt: pull.closed_at,
      };
    });
  }

  /**
   * Lists what was said on a pull request since a moment, of many comments only the first.
   * @param since is in milliseconds since 1970.
   * @returns null if the host no longer shows it.
   */
  async remarks(repository: RepositoryName, number: number, since: number): Promise<ReadRemarks | null> {
    const from = moment(since);
    const pull = { ...placeOf(repository), pull_number: number };
    return unlessMissing(async () => {
      const [{ comments, readTo }, reviews] = await Promise.all([
        firstComments(this.#rest, repository, number, from),
        this.#reviews(pull, from),
      ]);
      // Each remark on a line belongs to a review, which has the same time or a later one.
      const all = reviews.length === 0 ? [] : await newestLines(this.#rest, pull, reviews);
      const lines = all.filter(({ created_at }) => isSince(from, created_at)).map(fromLine);
      return { remarks: [...comments.map(fromComment), ...reviews.map(fromReview)], readTo, lines };
    });
  }

  /** Lists comments as `remarks` does, without the reviews. An issue has no others. */
  async comments(repository: RepositoryName, number: number, since: number): Promise<ReadRemarks | null> {
    const from = moment(since);
    return unlessMissing(async () => {
      const { comments, readTo } = await firstComments(this.#rest, repository, number, from);
      return { remarks: comments.map(fromComment), readTo, lines: [] };
    });
  }

  /**
   * Lists the reviews since a moment, from which on they cannot be requested. Only those of the
   * last page keep their texts, because many may be long.
   */
  async #reviews(pull: PullPlace, since: string): Promise<readonly AnsweredReview[]> {
    let found: AnsweredReview[] = [];
    for await (const { data } of this.#rest.pages(REVIEWS, pull)) {
      const recent = data.filter((one) => isSent(one) && isSince(since, one.submitted_at ?? ''));
      if (recent.length > 0) found = [...found.map((one) => ({ ...one, body: '' })), ...recent];
    }
    return found;
  }

  /**
   * Reads an issue or a pull request as the public sees it, with some ten calls at most.
   * @returns null if the public does not see it.
   */
  async conversation(repository: RepositoryName, number: number): Promise<Conversation | MovedThread | null> {
    return unlessMissing(async () => {
      if (!(await this.#isPublic(repository))) return null;
      const found = await readConversation(this.#rest, repository, number);
      if (!('movedTo' in found)) return found;
      const to = expectThread(found.movedTo);
      const [here, there] = await Promise.all([
        lookUpRepository(this.#rest, repository),
        lookUpRepository(this.#rest, to.repository),
      ]);
      if (there.isPrivate) return null;
      // The host also redirects from the old name of a repository.
      if (here.id !== there.id) return found;
      const renamed = await readConversation(this.#rest, there, to.index);
      return 'movedTo' in renamed ? null : renamed;
    });
  }

  /**
   * Lists the newest open issues and pull requests, the newest first, with two calls at most.
   * @returns null if the public does not see the repository.
   */
  async newestThreads(repository: RepositoryName): Promise<readonly ListedThread[] | null> {
    return unlessMissing(async () => {
      if (!(await this.#isPublic(repository))) return null;
      const query = { ...placeOf(repository), ...this.#rest.differences.beginning, state: 'open' as const };
      const { data } = await this.#rest.call(ISSUES, query);
      const listed = expectList(data).map(({ number, title, created_at, pull_request }) => ({
        number: expectNumber(number),
        title: expectText(title).slice(0, MOST_OF_A_TITLE),
        isPullRequest: Boolean(pull_request),
        openedAt: expectText(created_at),
      }));
      return listed.toSorted((one, other) => other.number - one.number);
    });
  }

  /** Tells if the public sees a repository, because the bot may see more. */
  async #isPublic(repository: RepositoryName): Promise<boolean> {
    const { apiUrl, clock } = this.#rest;
    if (pullRequestsOf(apiUrl, repository, clock.now()) !== null) return true;
    return !(await lookUpRepository(this.#rest, repository)).isPrivate;
  }
}

/**
 * Names of pull requests and issues in notifications: GitHub's, and Gitea's
 * (services/convert/notification.go).
 */
const THREAD_TYPES = new Set<unknown>(['PullRequest', 'Pull', 'Issue']);

/** The fields of a feed's entry that are used. */
interface AnsweredEntry {
  readonly id?: string | number | null;
  /** The reason, which only GitHub names. */
  readonly reason?: string;
  readonly subject?: { readonly type?: string; readonly url?: string | null } | null;
  readonly repository?: { readonly name?: string; readonly owner?: { readonly login?: string } } | null;
  readonly updated_at?: string | null;
}

/**
 * Reads the thread of an entry, as a list of one. The list is empty if the entry is of
 * something else, or unclear.
 * @throws TypeError
 */
function threadIn(entry: AnsweredEntry): FeedThread[] {
  const { id, reason, subject, repository: named, updated_at } = entry;
  if (subject === undefined && named === undefined) throw new TypeError('the host lists something else');
  const number = Number(/\/(?:issues|pulls)\/(\d+)$/.exec(subject?.url ?? '')?.[1]);
  const updatedAt = Date.parse(updated_at ?? '');
  const repository = parseRepositoryName(named?.owner?.login ?? '', named?.name ?? '');
  const isUsable = THREAD_TYPES.has(subject?.type) && (id ?? '') !== '' && !Number.isNaN(number + updatedAt);
  if (!isUsable || repository === null) return [];
  const isIssue = subject?.type === 'Issue';
  return [{ id: String(id), isIssue, isByBot: reason === 'author', repository, number, updatedAt }];
}

/**
 * Writes a time as hosts compare it: in ISO 8601, rounded down to seconds.
 * @param ms is in milliseconds since 1970.
 */
function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
