/**
 * Anonymous comments on issues and pull requests (contract, 4.1 and 4.2). Both paths do the same: on the host a pull
 * request's general comments are those of the issue of its number.
 *
 * A request that is repeated after a lost answer posts a second comment: it looks the same as an author who says the
 * same thing twice.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { INVALID_NAME, type RepositoryName } from '../../repository-name.ts';
import { INVALID_PAYLOAD, readJsonObject } from '../request/json-body.ts';
import { onRepository } from '../request/repository.ts';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import { answerRefused, refused } from '../request/refused.ts';
import { FENCE_IS_OPEN } from '../../markdown/footer-room.ts';
import { answer, asJson, type Description, described, error, repositoryParams } from '../description.ts';
import { isBlank } from '../request/payload.ts';
import {
  BLOCKED,
  checkComment,
  commentAnswer,
  commentRequest,
  COOLDOWN,
  postComment,
} from './anonymous-comment.ts';
import { HOST_FAULTS, refusePosting } from './posting.ts';

export const comments = new Hono<AppEnv>();

const threadParams = repositoryParams.extend({
  number: z
    .int()
    .min(1)
    .meta({ description: 'The number of the issue or pull request.', examples: [1] }),
});

const COMMENT: Omit<Description, 'operationId' | 'summary'> = {
  description:
    'The bot posts the comment, with a footer that shows the pseudonym. Markdown that would hide or forge the footer is refused. The same token gives the same pseudonym on the same thread, and another one on another thread.',
  tag: 'Comments and issues',
  path: threadParams,
  json: commentRequest,
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
    403: error('The pseudonym is blocked, or the repository does not accept anonymous comments.', BLOCKED),
    429: error(
      'The pseudonym must wait, the client or all clients together have posted too much, or little is left to the bot account. Retry-After says how long.',
      COOLDOWN,
    ),
    ...HOST_FAULTS,
  },
};

comments.post(
  `${REPOSITORY_PATH}/issues/:number/comments/anonymous`,
  described(onRepository(comment), {
    ...COMMENT,
    operationId: 'commentOnIssue',
    summary: 'Comment on an issue',
  }),
);

comments.post(
  `${REPOSITORY_PATH}/pulls/:number/comments/anonymous`,
  described(onRepository(comment), {
    ...COMMENT,
    operationId: 'commentOnPullRequest',
    summary: 'Comment on a pull request',
  }),
);

async function comment(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  // The order of these checks is the contract's (section 7).
  const payload = await readJsonObject(c);
  if (payload.kind === 'object' && isBlank(payload.value['body'])) {
    return answerRefused(c, refused(400, 'body is required'));
  }
  const number = threadNumber(c.req.param('number') ?? '');
  if (number === null) return answerRefused(c, refused(400, 'invalid issue number'));
  if (payload.kind === 'invalid') return answerRefused(c, INVALID_PAYLOAD);
  const checked = checkComment(c, target, payload.value);
  if (checked.kind === 'refused') return answerRefused(c, checked);
  const refusal = await refusePosting(c, target, 'comments');
  if (refusal !== null) return answerRefused(c, refusal);
  const outcome = await postComment(c, { repository: target, number }, checked);
  return outcome.kind === 'refused' ? answerRefused(c, outcome) : c.json(outcome.answer);
}

/** A positive integer in its usual spelling; null for anything else. */
function threadNumber(text: string): number | null {
  const number = Number(text);
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(number) ? number : null;
}
