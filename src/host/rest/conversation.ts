/**
 * Reads an issue or a pull request with what was written on it, the newest first.
 * Proved by test/host/bad-answers.test.ts and test/sandbox/host-contract.test.ts.
 */
import { repositoryKey, type RepositoryName } from '../../words/repository-name.ts';
import type { Conversation, MovedThread, ThreadComment } from '../code-host.ts';
import { expectFlag, expectList, expectNumber, expectText, expectThread } from './answer.ts';
import { placeOf } from './reads.ts';
import type { Answer, DataOf, Rest } from './rest.ts';

const ISSUE = 'GET /repos/{owner}/{repo}/issues/{issue_number}';
const PULL = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';

const MOST_COMMENTS = 50;
/**
 * Maximum number of reviews whose remarks on lines are read, with a call for each, if the host has
 * no list of all remarks.
 */
const REVIEWS_WITH_REMARKS = 5;

/** A review. Gitea counts its remarks. */
export type AnsweredReview = DataOf<`${typeof PULL}/reviews`>[number] & { readonly comments_count?: number };

/** Tells if a review was sent. A request for one, or one that is being written, was not. */
export function isSent({ state }: AnsweredReview): boolean {
  return state !== 'REQUEST_REVIEW' && state !== 'PENDING';
}

/**
 * Reads a thread.
 * @throws HostError, and TypeError for fields of another shape.
 */
export async function readConversation(
  rest: Rest,
  repository: RepositoryName,
  number: number,
): Promise<Conversation | MovedThread> {
  const at = { ...placeOf(repository), issue_number: number };
  const issue = (await rest.call(ISSUE, at)).data as DataOf<typeof ISSUE> & { readonly is_locked?: boolean };
  // GitHub redirects from an issue that was moved, perhaps to a place that the public does not see.
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
  const said = latest(comments.map(toComment), reviews);
  return {
    title: expectText(issue.title),
    state: issue.pull_request?.merged_at ? 'merged' : isOpen ? 'open' : 'closed',
    closedAt: issue.closed_at ?? null,
    isLocked: expectFlag(issue.locked ?? issue.is_locked),
    description: latest([toComment(issue)])[0] ?? null,
    comments: said.slice(0, MOST_COMMENTS),
    hasEarlier: said.length > MOST_COMMENTS,
  };
}

/** The parameters of a pull request's routes. */
export type PullPlace = { readonly owner: string; readonly repo: string; readonly pull_number: number };

/** A remark on a line. */
export type AnsweredLine = DataOf<`${typeof PULL}/comments`>[number];

/**
 * Lists the newest remarks on lines, the oldest first: at a host without a list of them, those of
 * the newest of these reviews.
 */
export async function newestLines(
  rest: Rest,
  pull: PullPlace,
  reviews: readonly AnsweredReview[] | Promise<readonly AnsweredReview[]>,
): Promise<readonly AnsweredLine[]> {
  const { hasRemarkList, page } = rest.differences;
  if (hasRemarkList) {
    const newestFirst = { ...pull, ...page, sort: 'created', direction: 'desc' } as const;
    return expectList((await rest.call(`${PULL}/comments`, newestFirst)).data).toReversed();
  }
  const asked = (await reviews).filter(({ comments_count: count = 0 }) => count > 0);
  const ofReviews = asked.slice(-REVIEWS_WITH_REMARKS).map(async ({ id }) => {
    const review = { ...pull, review_id: expectNumber(id) };
    return expectList((await rest.call(`${PULL}/reviews/{review_id}/comments`, review)).data);
  });
  return (await Promise.all(ofReviews)).flat() as AnsweredLine[];
}

/** Reads the newest reviews, and the newest remarks on lines. */
async function readReviews(
  rest: Rest,
  repository: RepositoryName,
  pull_number: number,
): Promise<readonly ThreadComment[]> {
  const { page } = rest.differences;
  const pull = { ...placeOf(repository), pull_number };
  const listing = lastPages((which) => rest.call(`${PULL}/reviews`, { ...pull, ...page, page: which })).then(
    (all: readonly AnsweredReview[]) => all.filter(isSent),
  );
  const [reviews, lines] = await Promise.all([listing, newestLines(rest, pull, listing)]);
  return [...reviews, ...lines].map(toComment);
}

/**
 * The fields of a text. A field of another shape counts as missing, so that the page can be shown
 * all the same.
 */
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
 * Sorts texts, the newest first, and leaves out empty ones, such as an approval.
 * @param lists have the oldest first.
 */
function latest(...lists: readonly (readonly ThreadComment[])[]): readonly ThreadComment[] {
  const said = lists.flat().filter(({ at, text }) => text.trim() !== '' && !Number.isNaN(Date.parse(at)));
  // In the same second, the last one is the newest.
  return said.toReversed().toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

/**
 * Reads the end of a list that begins with the oldest, at least one page, with at most three calls.
 */
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
 * Finds the last page of a list. GitHub names it. Gitea counts the entries of the whole list, and
 * may send fewer at once than it was asked for.
 */
function lastPageOf({ header, data }: Answer<readonly unknown[]>): number {
  const links = header('link')?.split(',') ?? [];
  const last = links.find((link) => link.includes('rel="last"')) ?? '';
  const named = /[?&]page=(\d+)/.exec(last)?.[1];
  return Number(named ?? Math.ceil(Number(header('x-total-count') ?? 0) / Math.max(1, data.length)));
}
