/** Describes comments, issues and reports (contract, 4.1 to 4.4). */
import type { Hono } from 'hono';
import { describeRoute, resolver } from 'hono-openapi';
import * as z from 'zod';
import { FENCE_IS_OPEN } from '../../identity/footer-room.ts';
import { INVALID_NAME } from '../../host/repository-name.ts';
import { APPEAL_ERRORS } from '../moderation/appeals.ts';
import { REPOSITORY_PATH } from '../request/repository.ts';
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

/** Errors of the host when something new is created. */
const HOST_FAULTS = {
  502: error('The code host did not answer as expected. Look there before you try again.'),
  503: error(
    'The code host asks to slow down, the operator has suspended comments and issues, the policy of the repository or a limit cannot be checked, or the service has no bot account. Try again later.',
  ),
};

export function describeWriting(app: Hono): void {
  app.post(
    `${REPOSITORY_PATH}/issues/:number/comments/anonymous`,
    describeRoute(comment('commentOnIssue', 'Comment on an issue')),
  );
  app.post(
    `${REPOSITORY_PATH}/pulls/:number/comments/anonymous`,
    describeRoute(comment('commentOnPullRequest', 'Comment on a pull request')),
  );
  app.post(`${REPOSITORY_PATH}/issues/anonymous`, describeRoute(issue()));
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
      'The bot posts the comment, with a footer that shows the pseudonym. Markdown that would hide or forge the footer is refused. The same token gives the same pseudonym on the same thread, and another one on another thread.',
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
        'The pseudonym is blocked, or the repository does not accept anonymous comments.',
        'hash bloqueado por reportes',
      ),
      429: error(
        'The pseudonym must wait, the client has posted too much, or little is left to the bot account. Retry-After says how long.',
        'cooldown activo por reportes',
      ),
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
    description: 'The bot creates the issue. Use the token in the answer to comment on it as its author.',
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
      403: error('The repository does not accept anonymous issues.'),
      429: error(
        'The client has posted too much, or little is left to the bot account. Retry-After says how long to wait.',
      ),
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
    summary: 'Show the reports of a pseudonym',
    description: 'A page with a button to report, or JSON if Accept asks for it.',
    parameters: parameters('query', reportQuery),
    responses: {
      200: answer('The reports about the pseudonym.', as(HTML), asJson(standingAnswer)),
      400: answer('The hash is not valid.', as(HTML), asError('invalid hash')),
      500: answer('The service has a fault.', as(HTML), asError()),
    },
  };
}

function report(): Description {
  return {
    ...REPORTS,
    operationId: 'reportPseudonym',
    summary: 'Report a pseudonym',
    description:
      'One report counts for each IPv4 address and each IPv6 /64, and at most two for a /48. None counts once the pseudonym is blocked. The answer is a page, or JSON if Accept asks for it.',
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
      403: answer('A page of another site sent this.', as(HTML), asError()),
      408: answer('The body did not arrive completely.', as(HTML), asError()),
      429: answer(
        'The network has sent too many reports. Retry-After says how long to wait.',
        as(HTML),
        asError(),
      ),
      500: answer('The service has a fault.', as(HTML), asError()),
    },
  };
}

function appeal(): Description {
  const { noText, unknownHost, nothing, tooOften, tooMany, nobody, busy } = APPEAL_ERRORS;
  return {
    ...REPORTS,
    operationId: 'appeal',
    summary: 'Appeal against reports',
    description:
      'The operator gets the text and the pseudonym, once a day at most; nothing else of the request. They may pardon the pseudonym, or not.',
    requestBody: { required: true, content: { 'application/json': { schema: resolver(appealRequest) } } },
    responses: {
      200: answer('The operator is told.', asJson(appealAnswer)),
      400: error('The request is not valid.', 'invalid payload', noText, unknownHost, INVALID_NAME),
      409: error('There is nothing to appeal against.', nothing),
      429: error('Too often. Retry-After says how long to wait.', tooOften, tooMany),
      503: error('The operator cannot be told.', nobody, busy),
      ...BODY_FAULTS,
      ...FAULT,
    },
  };
}
