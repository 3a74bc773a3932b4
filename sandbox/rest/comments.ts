/**
 * Comments on issues and pull requests. Only its author may change a comment; the author and the
 * repository's owner may delete it.
 */
import type { Repository } from '../records.ts';
import type { PlacedComment } from '../store.ts';
import type { Answer, ApiCall } from './api-call.ts';
import {
  Refusal,
  empty,
  json,
  notFound,
  numberParam,
  page,
  requireViewer,
  validationFailed,
} from './api-call.ts';
import { MAX_BODY_CHARACTERS, characters, requireOpenRepository } from './issue-rules.ts';
import { renderComment } from './render-issue.ts';
import type { Route } from './route.ts';
import { calledIssue, repositoryRoute } from './route.ts';

export const commentRoutes: readonly Route[] = [
  repositoryRoute('GET', '/issues/comments/:id', 'issues/comments#get-an-issue-comment', getComment),
  repositoryRoute('PATCH', '/issues/comments/:id', 'issues/comments#update-an-issue-comment', updateComment),
  repositoryRoute('DELETE', '/issues/comments/:id', 'issues/comments#delete-an-issue-comment', deleteComment),
  repositoryRoute('GET', '/issues/:number/comments', 'issues/comments#list-issue-comments', listComments),
  repositoryRoute(
    'POST',
    '/issues/:number/comments',
    'issues/comments#create-an-issue-comment',
    createComment,
  ),
];

function getComment(call: ApiCall, repository: Repository): Answer {
  const { issue, comment } = calledComment(call, repository);
  return json(200, renderComment(call.host, repository, issue, comment));
}

function listComments(call: ApiCall, repository: Repository): Answer {
  const issue = calledIssue(call, repository);
  const since = call.url.searchParams.get('since');
  const comments = issue.comments.filter((comment) => since === null || comment.updatedAt >= since);
  return page(call, comments, (comment) => renderComment(call.host, repository, issue, comment));
}

function createComment(call: ApiCall, repository: Repository): Answer {
  const viewer = requireViewer(call);
  const issue = calledIssue(call, repository);
  requireOpenRepository(repository);
  if (issue.locked === true && viewer.login !== repository.owner) {
    throw new Refusal(403, 'Unable to create comment because issue is locked.');
  }
  const comment = call.host.addComment(repository, issue, viewer.login, calledBody(call));
  return json(201, renderComment(call.host, repository, issue, comment));
}

function updateComment(call: ApiCall, repository: Repository): Answer {
  const placed = calledComment(call, repository);
  const { issue, comment } = placed;
  requireRightTo(call, comment.author);
  call.host.editComment(placed, calledBody(call));
  return json(200, renderComment(call.host, repository, issue, comment));
}

function deleteComment(call: ApiCall, repository: Repository): Answer {
  const placed = calledComment(call, repository);
  requireRightTo(call, placed.comment.author, repository.owner);
  call.host.removeComment(placed);
  return empty(204);
}

export function calledComment(call: ApiCall, repository: Repository): PlacedComment {
  const placed = call.host.store.findComment(repository, numberParam(call, 'id'));
  if (!placed) throw notFound();
  return placed;
}

function requireRightTo(call: ApiCall, ...logins: readonly string[]): void {
  if (!logins.includes(requireViewer(call).login)) {
    throw new Refusal(403, 'Must have admin rights to Repository.');
  }
}

/** Reads the body of a comment. GitHub words a comment's errors differently from an issue's. */
function calledBody(call: ApiCall): string {
  const { body } = call.payload;
  if (typeof body !== 'string') throw new Refusal(422, 'Invalid request.\n\n"body" wasn\'t supplied.');
  if (body.trim() === '') throw bodyRefused('Body cannot be blank');
  if (characters(body) > MAX_BODY_CHARACTERS) {
    throw bodyRefused(`Body is too long (maximum is ${MAX_BODY_CHARACTERS} characters)`);
  }
  return body;
}

function bodyRefused(message: string): Refusal {
  return validationFailed({ resource: 'IssueComment', code: 'unprocessable', field: 'data', message });
}
