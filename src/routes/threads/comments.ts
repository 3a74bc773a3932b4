/**
 * Anonymous comments on issues and pull requests (contract, 4.1 and 4.2). Both paths do the same: on the host a pull
 * request's general comments are those of the issue of its number.
 *
 * A request that is repeated after a lost answer posts a second comment, unless both have the same Idempotency-Key.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { INVALID_NAME, type RepositoryName } from '../../repository-name.ts';
import { memoryFor, untilAnswered } from '../request/client.ts';
import { onRepository } from '../request/repository.ts';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import { answerRefused, invalidField } from '../request/refused.ts';
import { FENCE_IS_OPEN } from '../../text/footer-room.ts';
import { answer, asJson, type Description, described, error, repositoryParams } from '../description.ts';
import { isBlank, readJsonObject } from '../request/payload.ts';
import {
  BLOCKED,
  checkComment,
  type CommentAnswer,
  commentAnswer,
  commentRequest,
  COOLDOWN,
  postComment,
  pseudonymOn,
} from './anonymous-comment.ts';
import { idempotencyHeader, repeatable } from './idempotency-key.ts';
import { postOnce } from './post-once.ts';
import { HOST_FAULTS, REPEATED, refusePosting } from './posting.ts';

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
  header: idempotencyHeader,
  json: commentRequest,
  responses: {
    200: answer('The comment was posted.', asJson(commentAnswer)),
    400: error(
      'The request is not valid, or the code host refused it.',
      ['body is required', 'invalid-field'],
      ['invalid issue number', 'invalid-field'],
      ['invalid payload', 'invalid-payload'],
      INVALID_NAME,
      [FENCE_IS_OPEN, 'invalid-field'],
      ['failed to create comment: 404 Not Found', 'not-created'],
    ),
    403: error(
      'The pseudonym is blocked, the repository does not accept anonymous comments, or a page of another site must not send this.',
      [BLOCKED, 'blocked'],
    ),
    429: error(
      'The pseudonym must wait, the client or all clients together have posted too much, or little is left to the bot account. Retry-After says how long.',
      [COOLDOWN, 'cooldown'],
    ),
    ...REPEATED,
    ...HOST_FAULTS,
  },
};

const WORDS = { what: 'comment', sent: 'request' } as const;

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

function comment(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const memory = memoryFor(c);
  return untilAnswered(memory, commented(c, target, memory));
}

async function commented(c: Context<AppEnv>, target: RepositoryName, memory: MemoryHold): Promise<Response> {
  // The order of these checks is the contract's (section 7).
  const payload = await readJsonObject(c, memory);
  if (payload.kind === 'payload' && isBlank(payload.fields['body'])) {
    return answerRefused(c, invalidField('body is required'));
  }
  const number = threadNumber(c.req.param('number') ?? '');
  if (number === null) return answerRefused(c, invalidField('invalid issue number'));
  if (payload.kind === 'refused') return answerRefused(c, payload);
  const repeat = await repeatable(c, payload.fields);
  if (repeat?.kind === 'refused') return answerRefused(c, repeat);
  const checked = await checkComment(c, target, payload.fields, repeat?.userToken);
  if (checked.kind === 'refused') return answerRefused(c, checked);
  const refusal = await refusePosting(c, target, 'comments');
  if (refusal !== null) return answerRefused(c, refusal);
  const thread = { repository: target, number };
  const post = () => postComment(c, thread, checked);
  const outcome = repeat === null ? await post() : await postOnce(c, repeat.name, WORDS, post);
  if (outcome.kind === 'refused') return answerRefused(c, outcome);
  const { url, karma } = outcome;
  const { userToken } = checked;
  const hash = await pseudonymOn(c, thread, userToken);
  return c.json<CommentAnswer>({ comment_url: url, hash, karma, user_token: userToken });
}

/** A positive integer in its usual spelling; null for anything else. */
function threadNumber(text: string): number | null {
  const number = Number(text);
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(number) ? number : null;
}
