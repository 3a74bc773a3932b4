/** What was written on an issue or a pull request on GitHub. */
import type { Octokit } from '@octokit/rest';
import type { Conversation, MovedThread } from '../code-host.ts';
import { expectFlag, expectNumber, expectText, expectThread } from '../rest/answer.ts';
import { repositoryKey } from '../../repository-name.ts';
import { lastPages, newest, toComment } from '../rest/conversation.ts';
import type { ThreadPlace } from '../rest/reads.ts';
import { PAGE_SIZE } from './reads.ts';

export async function readConversation(
  { rest }: Octokit,
  { owner, repo, index }: ThreadPlace,
): Promise<Conversation | MovedThread | null> {
  const { data: issue } = await rest.issues.get({ owner, repo, issue_number: index });
  // GitHub redirects from an issue that was moved, perhaps to where the public sees nothing.
  const at = issue.html_url ? expectThread(issue.html_url).repository : { owner, name: repo };
  const isHere = repositoryKey('', at) === repositoryKey('', { owner, name: repo });
  if (!isHere || expectNumber(issue.number) !== index) return { movedTo: issue.html_url };
  const list = { owner, repo, per_page: PAGE_SIZE };
  const [comments, reviews, remarks] = await Promise.all([
    lastPages((page) => rest.issues.listComments({ ...list, issue_number: index, page }), lastPageOf),
    issue.pull_request
      ? lastPages((page) => rest.pulls.listReviews({ ...list, pull_number: index, page }), lastPageOf)
      : [],
    issue.pull_request
      ? lastPages(
          () =>
            rest.pulls.listReviewComments({
              ...list,
              pull_number: index,
              sort: 'created',
              direction: 'desc',
            }),
          // It begins with the newest.
          () => 1,
        )
      : [],
  ]);
  const isOpen = issue.state === 'open';
  return {
    title: expectText(issue.title),
    state: issue.pull_request?.merged_at ? 'merged' : isOpen ? 'open' : 'closed',
    closedAt: issue.closed_at ?? null,
    isLocked: expectFlag(issue.locked),
    comments: newest(
      [toComment(issue, issue.created_at)],
      comments.map((comment) => toComment(comment, comment.created_at)),
      reviews.map((review) => toComment(review, review.submitted_at)),
      remarks.map((remark) => toComment(remark, remark.created_at, remark.path)).toReversed(),
    ),
  };
}

function lastPageOf({ headers }: { readonly headers: { readonly link?: string | undefined } }): number {
  const last = headers.link?.split(',').find((link) => link.includes('rel="last"'));
  return Number(/[?&]page=(\d+)/.exec(last ?? '')?.[1] ?? 1);
}
