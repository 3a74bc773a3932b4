/** What was written on an issue or a pull request on Forgejo and Gitea. */
import type { Octokit } from '@octokit/rest';
import type { Conversation, ThreadComment } from '../code-host.ts';
import { expectFlag, expectList, expectNumber, expectText } from '../rest/answer.ts';
import { lastPages, newest, toComment } from '../rest/conversation.ts';
import type { ThreadPlace } from '../rest/reads.ts';
import { type AnsweredComment, type AnsweredReview, isSent } from './answers.ts';
import { call, ISSUE, PAGE_SIZE, PULL } from './calls.ts';

const REVIEWS = `GET ${PULL}/reviews`;
/** Their remarks on lines are read: a call for each, as no list has them all. */
const REVIEWS_WITH_REMARKS = 5;

interface AnsweredIssue extends AnsweredComment {
  readonly number: number;
  readonly title: string;
  readonly state: string;
  readonly is_locked: boolean;
  readonly closed_at?: string | null;
  readonly pull_request?: { readonly merged: boolean } | null;
}

export async function readConversation(octokit: Octokit, at: ThreadPlace): Promise<Conversation | null> {
  const place = { ...at };
  const { data: issue } = await call<AnsweredIssue>(octokit, `GET ${ISSUE}`, place);
  const [comments, reviews] = await Promise.all([
    // All at once: this list has no pages.
    call<readonly AnsweredComment[]>(octokit, `GET ${ISSUE}/comments`, place),
    issue.pull_request ? readReviews(octokit, place) : [],
  ]);
  const isOpen = issue.state === 'open';
  return {
    title: expectText(issue.title),
    state: issue.pull_request?.merged === true ? 'merged' : isOpen ? 'open' : 'closed',
    closedAt: issue.closed_at ?? null,
    isLocked: expectFlag(issue.is_locked),
    comments: newest(
      [toComment(issue, issue.created_at)],
      expectList(comments.data).map((comment) => toComment(comment, comment.created_at)),
      reviews,
    ),
  };
}

/** The newest reviews, with the remarks of some. */
async function readReviews(octokit: Octokit, place: ThreadPlace): Promise<readonly ThreadComment[]> {
  const all = await lastPages(
    (page) => call<readonly AnsweredReview[]>(octokit, REVIEWS, { ...place, page, limit: PAGE_SIZE }),
    // A server may give fewer at once.
    ({ data, headers }) => Math.ceil(Number(headers['x-total-count'] ?? 0) / Math.max(1, data.length)),
  );
  const reviews = all.filter(isSent);
  const withRemarks = reviews.filter(({ comments_count: count }) => count > 0).slice(-REVIEWS_WITH_REMARKS);
  const remarks = await Promise.all(
    withRemarks.map(async ({ id }) => {
      const route = `${REVIEWS}/{id}/comments`;
      const list = { ...place, id: expectNumber(id) };
      const { data } = await call<readonly (AnsweredComment & { path: string })[]>(octokit, route, list);
      return expectList(data).map((remark) => toComment(remark, remark.created_at, remark.path));
    }),
  );
  return [...reviews.map((review) => toComment(review, review.submitted_at)), ...remarks.flat()];
}
