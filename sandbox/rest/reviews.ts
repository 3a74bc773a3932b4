/** Reviews of pull requests by the people upstream. The bot only reads them. */
import type { Host } from '../host.ts';
import type { Issue, Repository, Review, ReviewRemark } from '../records.ts';
import type { Answer, ApiCall } from './api-call.ts';
import { notFound, page } from './api-call.ts';
import { association, issueHtmlUrl, pullApiUrl, reactionsOf } from './render-issue.ts';
import { repositoryApiUrl } from './render-repository.ts';
import { nodeId, simpleUser } from './render-user.ts';
import type { Route } from './route.ts';
import { calledIssue, repositoryRoute } from './route.ts';

export const reviewRoutes: readonly Route[] = [
  repositoryRoute(
    'GET',
    '/pulls/:number/reviews',
    'pulls/reviews#list-reviews-for-a-pull-request',
    listReviews,
  ),
  repositoryRoute(
    'GET',
    '/pulls/:number/comments',
    'pulls/comments#list-review-comments-on-a-pull-request',
    listRemarks,
  ),
];

function listReviews(call: ApiCall, repository: Repository): Answer {
  const { issue, reviews } = calledReviews(call, repository);
  return page(call, reviews, (review) => renderReview(call.host, repository, issue, review));
}

/** Lists remarks, oldest first unless the query asks for the newest. */
function listRemarks(call: ApiCall, repository: Repository): Answer {
  const { issue, reviews } = calledReviews(call, repository);
  const remarks = reviews.flatMap((review) => (review.remarks ?? []).map((remark) => ({ review, remark })));
  const query = call.url.searchParams;
  const isNewestFirst = query.get('sort') === 'created' && query.get('direction') === 'desc';
  return page(call, isNewestFirst ? remarks.toReversed() : remarks, ({ review, remark }) =>
    renderRemark(call.host, repository, issue, review, remark),
  );
}

function calledReviews(call: ApiCall, repository: Repository) {
  const issue = calledIssue(call, repository);
  if (!issue.pull) throw notFound();
  const reviews = call.host.store.records.reviews.filter(
    (review) => review.repositoryId === repository.id && review.issueNumber === issue.number,
  );
  return { issue, reviews };
}

export function renderReview(host: Host, repository: Repository, issue: Issue, review: Review) {
  const htmlUrl = `${issueHtmlUrl(host, repository, issue)}#pullrequestreview-${review.id}`;
  const pullUrl = pullApiUrl(host, repository, issue);
  return {
    id: review.id,
    node_id: nodeId('PullRequestReview', review.id),
    user: simpleUser(host, review.author),
    body: review.body,
    state: review.state,
    html_url: htmlUrl,
    pull_request_url: pullUrl,
    _links: { html: { href: htmlUrl }, pull_request: { href: pullUrl } },
    submitted_at: review.submittedAt,
    commit_id: review.commitId,
    author_association: association(repository, review.author),
  };
}

function renderRemark(
  host: Host,
  repository: Repository,
  issue: Issue,
  review: Review,
  { id, path, body, thumbs }: ReviewRemark,
) {
  const url = `${repositoryApiUrl(host, repository)}/pulls/comments/${id}`;
  const htmlUrl = `${issueHtmlUrl(host, repository, issue)}#discussion_r${id}`;
  const pullUrl = pullApiUrl(host, repository, issue);
  return {
    url,
    id,
    node_id: nodeId('PullRequestReviewComment', id),
    pull_request_review_id: review.id,
    diff_hunk: '@@ -1 +1 @@',
    path,
    commit_id: review.commitId,
    original_commit_id: review.commitId,
    user: simpleUser(host, review.author),
    body,
    created_at: review.submittedAt,
    updated_at: review.submittedAt,
    html_url: htmlUrl,
    pull_request_url: pullUrl,
    author_association: association(repository, review.author),
    reactions: reactionsOf(url, thumbs?.length),
    _links: { self: { href: url }, html: { href: htmlUrl }, pull_request: { href: pullUrl } },
  };
}
