/** Thumbs on issues, comments and remarks on lines: the only reaction that this host has. */
import type { Issue, Repository } from '../records.ts';
import type { Answer, ApiCall } from './api-call.ts';
import { Refusal, json, notFound, numberParam, requireViewer, validationFailed } from './api-call.ts';
import { calledComment } from './comments.ts';
import { nodeId, simpleUser } from './render-user.ts';
import type { Route } from './route.ts';
import { calledIssue, repositoryRoute } from './route.ts';

export const reactionRoutes: readonly Route[] = [
  repositoryRoute(
    'POST',
    '/issues/:number/reactions',
    'reactions/reactions#create-reaction-for-an-issue',
    (call, repository) => {
      const issue = calledIssue(call, repository);
      return addThumb(call, repository, issue, issue);
    },
  ),
  repositoryRoute(
    'POST',
    '/issues/comments/:id/reactions',
    'reactions/reactions#create-reaction-for-an-issue-comment',
    (call, repository) => {
      const { issue, comment } = calledComment(call, repository);
      return addThumb(call, repository, issue, comment);
    },
  ),
  repositoryRoute(
    'POST',
    '/pulls/comments/:id/reactions',
    'reactions/reactions#create-reaction-for-a-pull-request-review-comment',
    (call, repository) => {
      const id = numberParam(call, 'id');
      const reviews = call.host.store.records.reviews.filter((each) => each.repositoryId === repository.id);
      const review = reviews.find(({ remarks = [] }) => remarks.some((each) => each.id === id));
      const issue = repository.issues[(review?.issueNumber ?? 0) - 1];
      const remark = review?.remarks?.find((each) => each.id === id);
      if (issue === undefined || remark === undefined) throw notFound();
      return addThumb(call, repository, issue, remark);
    },
  ),
];

/** An issue, a comment or a remark. */
interface Thumbed {
  readonly id: number;
  thumbs?: string[];
}

function addThumb(call: ApiCall, repository: Repository, issue: Issue, thumbed: Thumbed): Answer {
  const { login } = requireViewer(call);
  const { content } = call.payload;
  if (content !== '+1') throw validationFailed({ resource: 'Reaction', code: 'invalid', field: 'content' });
  if (issue.locked === true && login !== repository.owner) {
    throw new Refusal(403, 'Reactions are not allowed on locked conversations');
  }
  const isNew = thumbed.thumbs?.includes(login) !== true;
  if (isNew) thumbed.thumbs = [...(thumbed.thumbs ?? []), login];
  call.host.store.changed();
  // A thumb has no number of its own here, so it borrows that of its text.
  const { id } = thumbed;
  const user = simpleUser(call.host, login);
  const created_at = call.host.store.timestamp();
  return json(isNew ? 201 : 200, { id, node_id: nodeId('Reaction', id), user, content, created_at });
}
