/**
 * Reads what others do to the bot's pull requests (its notifications say to which), and what is
 * said on any thread. It marks none as read, as the operator may use the account, too. Nothing is
 * retried: the caller comes back in a minute.
 * Proved by test/host/bad-answers.test.ts and test/sandbox/host-contract.test.ts.
 */
import { hostFailureOf, unlessMissing } from '../../words/host-error.ts';
import { parseRepositoryName, repositoryKey, type RepositoryName } from '../../words/repository-name.ts';
import type {
  Account,
  Conversation,
  Feed,
  FeedThread,
  MovedThread,
  PullRequestState,
  Remark,
  ThreadComment,
} from '../code-host.ts';
import { expectAddress, expectFlag, expectList, expectNumber, expectText, expectThread } from './answer.ts';
import {
  type AnsweredComment,
  branchOf,
  idOf,
  lookUp,
  placeOf,
  pullRequestsOf,
  readAccount,
  readComments,
  readPull,
} from './reads.ts';
import { type Answer, type DataOf, Rest, type RestAccess, type RestHabits } from './rest.ts';

/** How often the feed may be read when its answer does not say so. */
const USUAL_POLL_INTERVAL_S = 60;

const NOBODY = {
  token: '',
  backOff: { throwIfPaused: async () => {}, observe: () => null },
  tokenWatch: { observe: () => {} },
  callMeter: { observe: () => {} },
} satisfies Partial<RestAccess>;

export class RestActivity {
  readonly #rest: Rest;
  /** Asks as anybody may. What the host answers says nothing of the account's token and limits. */
  readonly #public: Rest;

  /**
   * @param beforeCall is told of each call, further pages included; what it throws comes instead of
   * the call.
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

  /**
   * Whether the host hides the bot's account, and so its pull requests, from everybody else; null:
   * it does not say.
   */
  async isHidden(login: string): Promise<boolean | null> {
    if (!this.#rest.differences.hidesFlagged) return false;
    return this.#public.call('GET /users/{username}', { username: login }).then(
      () => false,
      // Without a token, the calls of an address may be used up by others.
      (error: unknown) => (hostFailureOf(error).status === 404 ? true : null),
    );
  }

  /**
   * The pull requests that were touched since a moment, in milliseconds since 1970.
   * @param wantsMore is handed each page, the newest first, and says whether to go on to the next
   * one.
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
      const shown = data.flatMap((entry) => pullRequestThread(entry));
      threads.push(...shown);
      if (!wantsMore(shown)) break;
    }
    if (said === null) throw new TypeError('the host answers without a page');
    return { threads, ...said };
  }

  /** Null if the host no longer shows it. */
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

  /** What was said on a pull request since a moment; null if the host no longer shows it. */
  async remarks(
    repository: RepositoryName,
    number: number,
    since: number,
  ): Promise<readonly Remark[] | null> {
    const from = moment(since);
    return unlessMissing(async () => {
      const [comments, reviews] = await Promise.all([
        readComments(this.#rest, repository, number, from),
        // They cannot be asked for from a moment on.
        this.#rest.all('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
          ...placeOf(repository),
          pull_number: number,
        }),
      ]);
      return remarksSince(from, comments, reviews.filter(isSent));
    });
  }

  /** An issue or a pull request as the public sees it; null: it sees none. Ten calls at most. */
  async conversation(repository: RepositoryName, number: number): Promise<Conversation | MovedThread | null> {
    return unlessMissing(async () => {
      const { apiUrl, clock } = this.#rest;
      const isKnown = pullRequestsOf(apiUrl, repository, clock.now()) !== null;
      // The bot may see more than the public.
      if (!isKnown && (await lookUp(this.#rest, repository)).isPrivate) return null;
      const found = await readConversation(this.#rest, repository, number);
      if (!('movedTo' in found)) return found;
      const to = expectThread(found.movedTo);
      const [here, there] = await Promise.all([
        lookUp(this.#rest, repository),
        lookUp(this.#rest, to.repository),
      ]);
      if (there.isPrivate) return null;
      // The host redirects from where a repository was renamed, too.
      if (here.id !== there.id) return found;
      const renamed = await readConversation(this.#rest, there, to.index);
      return 'movedTo' in renamed ? null : renamed;
    });
  }
}

/**
 * What a host calls a pull request in its notifications: GitHub, and Gitea
 * (services/convert/notification.go).
 */
const PULL_REQUEST_TYPES = new Set<unknown>(['PullRequest', 'Pull']);

/** An entry of the feed, as far as it can be relied on. */
interface AnsweredEntry {
  readonly id?: string | number | null;
  /** Of GitHub. */
  readonly reason?: string;
  readonly subject?: { readonly type?: string; readonly url?: string | null } | null;
  readonly repository?: { readonly name?: string; readonly owner?: { readonly login?: string } } | null;
  readonly updated_at?: string | null;
}

/**
 * The pull request of an entry, as a list of one; none: it is of something else, or unclear.
 * @throws TypeError
 */
function pullRequestThread(entry: AnsweredEntry): FeedThread[] {
  const { id, reason, subject, repository: named, updated_at } = entry;
  if (subject === undefined && named === undefined) throw new TypeError('the host lists something else');
  const number = Number(/\/(?:issues|pulls)\/(\d+)$/.exec(subject?.url ?? '')?.[1]);
  const updatedAt = Date.parse(updated_at ?? '');
  const repository = parseRepositoryName(named?.owner?.login ?? '', named?.name ?? '');
  const isUsable =
    PULL_REQUEST_TYPES.has(subject?.type) && (id ?? '') !== '' && !Number.isNaN(number + updatedAt);
  if (!isUsable || repository === null) return [];
  return [{ id: String(id), isByBot: reason === 'author', repository, number, updatedAt }];
}

/** A moment as hosts compare it: ISO 8601, in whole seconds. @param ms milliseconds since 1970. */
function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Of GitHub, and of Gitea (its `ReviewStateType`) where that differs. */
const VERDICTS: Readonly<Record<string, Remark['kind']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  REQUEST_CHANGES: 'changes-requested',
};

/** Every remark on a line of code belongs to a review, even if it is the only one in it. */
function remarksSince(
  since: string,
  comments: readonly AnsweredComment[],
  reviews: readonly AnsweredReview[],
): readonly Remark[] {
  const remarks = [
    ...comments.map((one) => toRemark('comment', one, one.created_at, 'commented')),
    ...reviews.map((one) =>
      toRemark('review', one, one.submitted_at ?? '', VERDICTS[one.state] ?? 'reviewed'),
    ),
  ];
  // An old comment that was edited is no news.
  return remarks.filter(({ at }) => !(Date.parse(at) < Date.parse(since)));
}

/** @throws TypeError for fields of another shape */
function toRemark(
  of: 'comment' | 'review',
  { id, user, html_url, body }: AnsweredComment | AnsweredReview,
  at: string,
  kind: Remark['kind'],
): Remark {
  const key = `${of}:${expectNumber(id)}`;
  return { key, authorId: idOf(user), url: expectAddress(html_url), at, kind, text: body ?? '' };
}

const ISSUE = 'GET /repos/{owner}/{repo}/issues/{issue_number}';
const PULL = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';

const MOST_COMMENTS = 50;
/** Where no list has all remarks on lines, those of so many reviews are read: a call for each. */
const REVIEWS_WITH_REMARKS = 5;

/** Gitea counts a review's remarks. */
type AnsweredReview = DataOf<`${typeof PULL}/reviews`>[number] & { readonly comments_count?: number };

/** A request for a review, or one that is being written, is none yet. */
function isSent({ state }: AnsweredReview): boolean {
  return state !== 'REQUEST_REVIEW' && state !== 'PENDING';
}

async function readConversation(
  rest: Rest,
  repository: RepositoryName,
  number: number,
): Promise<Conversation | MovedThread> {
  const at = { ...placeOf(repository), issue_number: number };
  const issue = (await rest.call(ISSUE, at)).data as DataOf<typeof ISSUE> & { readonly is_locked?: boolean };
  // GitHub redirects from an issue that was moved, perhaps to where the public sees nothing.
  const shownAt = issue.html_url ? expectThread(issue.html_url).repository : repository;
  const isHere = repositoryKey('', shownAt) === repositoryKey('', repository);
  if (!isHere || expectNumber(issue.number) !== number) return { movedTo: issue.html_url };
  const { hasCommentPages, page } = rest.differences;
  const [comments, reviews] = await Promise.all([
    hasCommentPages
      ? lastPages((which) => rest.call(`${ISSUE}/comments`, { ...at, ...page, page: which }))
      : expectList((await rest.call(`${ISSUE}/comments`, at)).data),
    issue.pull_request ? readReviews(rest, repository, number) : [],
  ]);
  const isOpen = issue.state === 'open';
  return {
    title: expectText(issue.title),
    state: issue.pull_request?.merged_at ? 'merged' : isOpen ? 'open' : 'closed',
    closedAt: issue.closed_at ?? null,
    isLocked: expectFlag(issue.locked ?? issue.is_locked),
    comments: newest([toComment(issue)], comments.map(toComment), reviews),
  };
}

/** The newest reviews, and the newest remarks on lines. */
async function readReviews(
  rest: Rest,
  repository: RepositoryName,
  pull_number: number,
): Promise<readonly ThreadComment[]> {
  const { hasRemarkList, page } = rest.differences;
  const pull = { ...placeOf(repository), pull_number };
  const newestFirst = { ...pull, ...page, sort: 'created', direction: 'desc' } as const;
  const [all, listed] = await Promise.all([
    lastPages((which) => rest.call(`${PULL}/reviews`, { ...pull, ...page, page: which })),
    hasRemarkList ? rest.call(`${PULL}/comments`, newestFirst) : { data: [] },
  ]);
  const reviews = (all as readonly AnsweredReview[]).filter(isSent);
  const asked = reviews.filter(({ comments_count: count = 0 }) => count > 0).slice(-REVIEWS_WITH_REMARKS);
  const ofReviews = asked.map(async ({ id }) => {
    const review = { ...pull, review_id: expectNumber(id) };
    return expectList((await rest.call(`${PULL}/reviews/{review_id}/comments`, review)).data);
  });
  const remarks = [...expectList(listed.data).toReversed(), ...(await Promise.all(ofReviews)).flat()];
  return [...reviews, ...remarks].map(toComment);
}

/** Of another shape, a field counts as none: its page is shown all the same. */
interface Answered {
  readonly user?: { readonly login?: unknown } | null;
  readonly body?: unknown;
  readonly created_at?: unknown;
  readonly submitted_at?: unknown;
  readonly path?: unknown;
}

function toComment({ user, body, created_at, submitted_at, path }: Answered): ThreadComment {
  return {
    author: stringOrNull(user?.login),
    at: stringOrNull(submitted_at) ?? stringOrNull(created_at) ?? '',
    text: stringOrNull(body) ?? '',
    path: stringOrNull(path),
  };
}

function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/**
 * The newest first. Leaves out what has no words, such as an approval.
 * @param lists each with the oldest first.
 */
function newest(...lists: readonly (readonly ThreadComment[])[]): readonly ThreadComment[] {
  const said = lists.flat().filter(({ at, text }) => text.trim() !== '' && !Number.isNaN(Date.parse(at)));
  // Of the same second, the last one is the newest.
  const sorted = said.toReversed().toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return sorted.slice(0, MOST_COMMENTS);
}

/** The end of a list that begins with the oldest, at least one page of it: up to three calls. */
async function lastPages<T>(read: (page: number) => Promise<Answer<readonly T[]>>): Promise<readonly T[]> {
  const first = await read(1);
  // A page of another shape must not pass for a thread without comments.
  expectList(first.data);
  const last = lastPageOf(first);
  if (!(last > 1)) return first.data;
  const [before, end] = await Promise.all([last === 2 ? first : read(last - 1), read(last)]);
  return [...expectList(before.data), ...expectList(end.data)];
}

/**
 * GitHub names it; Gitea counts the entries of the whole list, and may give fewer at once than it
 * was asked for.
 */
function lastPageOf({ header, data }: Answer<readonly unknown[]>): number {
  const links = header('link')?.split(',') ?? [];
  const last = links.find((link) => link.includes('rel="last"')) ?? '';
  const named = /[?&]page=(\d+)/.exec(last)?.[1];
  return Number(named ?? Math.ceil(Number(header('x-total-count') ?? 0) / Math.max(1, data.length)));
}
