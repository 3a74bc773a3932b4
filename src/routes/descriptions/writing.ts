/** Describes comments, issues and reports (contract, 4.1 to 4.4). */
import type { Hono } from 'hono';
import { describeRoute, resolver } from 'hono-openapi';
import * as z from 'zod';
import { FENCE_IS_OPEN } from '../../identity/footer-room.ts';
import { INVALID_NAME } from '../../host/repository-name.ts';
import { APPEAL_ERRORS } from '../appeals.ts';
import { commentAnswer, commentRequest } from '../schemas/comments.ts';
import { issueAnswer, issueRequest } from '../schemas/issues.ts';
import {
  appealAnswer,
  appealRequest,
  reportAnswer,
  reportQuery,
  reportRequest,
  standingAnswer,
} from '../schemas/moderation.ts';
import {
  answer,
  as,
  asError,
  asJson,
  BODY_FAULTS,
  type Description,
  error,
  FAULT,
  HTML,
  parameters,
  PUBLIC,
  repository,
} from './parts.ts';

const WRITING = { tags: ['Comments and issues'], security: PUBLIC };
const REPORTS = { tags: ['Reports'], security: PUBLIC };

const threadParams = z.object({
  number: z
    .int()
    .min(1)
    .meta({ description: 'The number of the issue or pull request.', examples: [1] }),
});

/** What may keep the host from taking something new. */
const HOST_FAULTS = {
  502: error('The code host did not answer as expected: look there before you try again.'),
  503: error(
    'Try again later: the code host asks to slow down, or the policy of the repository cannot be read. Or the service has no bot account.',
  ),
};

export function describeWriting(app: Hono): void {
  app.post(
    '/v1/gh/:owner/:repo/issues/:number/comments/anonymous',
    describeRoute(comment('commentOnIssue', 'Comment on an issue')),
  );
  app.post(
    '/v1/gh/:owner/:repo/pulls/:number/comments/anonymous',
    describeRoute(comment('commentOnPullRequest', 'Comment on a pull request')),
  );
  app.post('/v1/gh/:owner/:repo/issues/anonymous', describeRoute(issue()));
  app.get('/v1/moderation/report', describeRoute(standing()));
  app.post('/v1/moderation/report', describeRoute(report()));
  app.post('/v1/moderation/appeal', describeRoute(appeal()));
}

function comment(operationId: string, summary: string): Description {
  return {
    ...WRITING,
    operationId,
    summary,
    description:
      'Posted by the bot, with a footer that names the pseudonym; Markdown that would hide or forge the footer is refused. The same token on the same thread is the same pseudonym; on another thread it is another one.',
    parameters: [...repository(), ...parameters('path', threadParams)],
    requestBody: { required: true, content: { 'application/json': { schema: resolver(commentRequest) } } },
    responses: {
      200: answer('The comment was posted.', asJson(commentAnswer)),
      400: error(
        'The request is not valid, or the code host refused it.',
        'body is required',
        'invalid issue number',
        'invalid payload',
        INVALID_NAME,
        FENCE_IS_OPEN,
        'failed to create comment: 404 Not Found',
      ),
      403: error(
        'The pseudonym is blocked, or the repository takes no anonymous comments.',
        'hash bloqueado por reportes',
      ),
      429: error('The pseudonym has to pause. Retry-After says how long.', 'cooldown activo por reportes'),
      ...BODY_FAULTS,
      ...HOST_FAULTS,
      ...FAULT,
    },
  };
}

function issue(): Description {
  return {
    ...WRITING,
    operationId: 'createIssue',
    summary: 'Create an issue',
    description: 'Created by the bot. The token in the answer is the key to comment on it as its author.',
    parameters: repository(),
    requestBody: { required: true, content: { 'application/json': { schema: resolver(issueRequest) } } },
    responses: {
      200: answer('The issue was created.', asJson(issueAnswer)),
      400: error(
        'The request is not valid, or the code host refused it.',
        'title and body are required',
        'invalid payload',
        INVALID_NAME,
        FENCE_IS_OPEN,
        'failed to create issue: 404 Not Found',
      ),
      403: error('The repository takes no anonymous issues.'),
      ...BODY_FAULTS,
      ...HOST_FAULTS,
      ...FAULT,
    },
  };
}

function standing(): Description {
  return {
    ...REPORTS,
    operationId: 'showStanding',
    summary: 'Where a pseudonym stands',
    description: 'A page with a button to report; JSON for those who ask for it.',
    parameters: parameters('query', reportQuery),
    responses: {
      200: answer('The reports about the pseudonym.', as(HTML), asJson(standingAnswer)),
      400: answer('The hash is not valid.', as(HTML), asError('invalid hash')),
      500: answer('A fault of the service.', as(HTML), asError()),
    },
  };
}

function report(): Description {
  return {
    ...REPORTS,
    operationId: 'reportPseudonym',
    summary: 'Report a pseudonym',
    description:
      'One report counts for an IPv4 address or an IPv6 /64, and two for a /48; none for a blocked pseudonym. The answer is a page; JSON for those who ask for it.',
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: resolver(reportRequest) },
        'application/x-www-form-urlencoded': { schema: resolver(reportRequest) },
      },
    },
    responses: {
      200: answer('The report was received.', as(HTML), asJson(reportAnswer)),
      400: answer('The hash is not valid.', as(HTML), asError('invalid hash')),
      403: answer('A page of another site has sent this.', as(HTML), asError()),
      408: answer('The body did not come whole.', as(HTML), asError()),
      429: answer('The address has sent 10 reports within an hour.', as(HTML), asError()),
      500: answer('A fault of the service.', as(HTML), asError()),
    },
  };
}

function appeal(): Description {
  const { noText, nothing, tooOften, tooMany, nobody, busy } = APPEAL_ERRORS;
  return {
    ...REPORTS,
    operationId: 'appeal',
    summary: 'Appeal against reports',
    description:
      'The operator gets the text and the pseudonym, once a day at most; nothing else of the request. They may pardon the pseudonym, or not.',
    requestBody: { required: true, content: { 'application/json': { schema: resolver(appealRequest) } } },
    responses: {
      200: answer('The operator is told.', asJson(appealAnswer)),
      400: error('The request is not valid.', 'invalid payload', noText, INVALID_NAME),
      409: error('There is nothing to appeal against.', nothing),
      429: error('Too often. Retry-After says how long to wait.', tooOften, tooMany),
      503: error('The operator cannot be told.', nobody, busy),
      ...BODY_FAULTS,
      ...FAULT,
    },
  };
}
