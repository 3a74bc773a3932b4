/** Reviews of pull requests, as the people upstream leave them; the bot only reads them. */
import type { Host } from '../host.ts';
import type { Issue, Repository, Review } from '../records.ts';
import type { Answer, ApiCall } from './api-call.ts';
import { notFound, page } from './api-call.ts';
import { association, issueHtmlUrl, pullApiUrl } from './render-issue.ts';
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
];

function listReviews(call: ApiCall, repository: Repository): Answer {
  const issue = calledIssue(call, repository);
  if (!issue.pull) throw notFound();
  const reviews = call.host.store.records.reviews.filter(
    (review) => review.repositoryId === repository.id && review.issueNumber === issue.number,
  );
  return page(call, reviews, (review) => renderReview(call.host, repository, issue, review));
}

function renderReview(host: Host, repository: Repository, issue: Issue, review: Review) {
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
