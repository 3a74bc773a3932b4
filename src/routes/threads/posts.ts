/**
 * Anonymous comments and issues over JSON (contract, 4.1 to 4.3). Both paths of comments do the same: on the host a pull
 * request's general comments are those of the issue of its number.
 *
 * A request that is repeated after a lost answer posts once more, unless both have the same Idempotency-Key.
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
import { newUserToken } from '../../secret/user-token.ts';
import {
  BLOCKED,
  checkComment,
  commentAnswer,
  commentRequest,
  COOLDOWN,
  postComment,
  pseudonymOn,
} from './anonymous-comment.ts';
import { checkIssue, createIssue, issueAnswer, issueRequest } from './create-issue.ts';
import { idempotencyHeader, postOnce, type PostOutcome, type Repeatable, repeatable } from './post-once.ts';
import { refusePosting } from './posting.ts';

/** Answers to a request with an Idempotency-Key that was sent before. */
const REPEATED = {
  409: error(
    'A request with this Idempotency-Key was sent, and its answer was lost. Look there before you try again.',
    [
      'this request was sent before, and its answer was lost: the comment may exist; look there before you send it with another key',
      'may-exist',
    ],
  ),
  422: error(
    'This Idempotency-Key was sent with another body.',
    'this Idempotency-Key was sent with another body; send a new key with each text',
  ),
};

/** Answers of the endpoints that create something at the host, if it fails there or may not begin. */
const HOST_FAULTS = {
  502: error('The code host did not answer as expected. Look there before you try again.'),
  503: error(
    'The code host asks to slow down, the operator has suspended comments and issues, the policy of the repository or a limit cannot be checked, or the service has no bot account. Try again later.',
  ),
};

export const posts = new Hono<AppEnv>();

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

posts.post(
  `${REPOSITORY_PATH}/issues/:number/comments/anonymous`,
  described(onRepository(held(comment)), {
    ...COMMENT,
    operationId: 'commentOnIssue',
    summary: 'Comment on an issue',
  }),
);

posts.post(
  `${REPOSITORY_PATH}/pulls/:number/comments/anonymous`,
  described(onRepository(held(comment)), {
    ...COMMENT,
    operationId: 'commentOnPullRequest',
    summary: 'Comment on a pull request',
  }),
);

async function comment(c: Context<AppEnv>, target: RepositoryName, memory: MemoryHold): Promise<Response> {
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
  const thread = { repository: target, number };
  const outcome = await post(c, target, 'comments', repeat, () => postComment(c, thread, checked));
  if (outcome.kind === 'refused') return answerRefused(c, outcome);
  const { url, karma } = outcome;
  const { userToken } = checked;
  const hash = await pseudonymOn(c, thread, userToken);
  return c.json<z.infer<typeof commentAnswer>>({ comment_url: url, hash, karma, user_token: userToken });
}

posts.post(
  `${REPOSITORY_PATH}/issues/anonymous`,
  described(onRepository(held(issue)), {
    operationId: 'createIssue',
    summary: 'Create an issue',
    description: 'The bot creates the issue. Use the token in the answer to comment on it as its author.',
    tag: 'Comments and issues',
    path: repositoryParams,
    header: idempotencyHeader,
    json: issueRequest,
    responses: {
      200: answer('The issue was created.', asJson(issueAnswer)),
      400: error(
        'The request is not valid, or the code host refused it.',
        ['title and body are required', 'invalid-field'],
        ['invalid payload', 'invalid-payload'],
        INVALID_NAME,
        [FENCE_IS_OPEN, 'invalid-field'],
        ['failed to create issue: 404 Not Found', 'not-created'],
      ),
      403: error('The repository accepts no anonymous issues, or a page of another site must not send this.'),
      429: error(
        'The client or all clients together have posted too much, or little is left to the bot account. Retry-After says how long to wait.',
      ),
      ...REPEATED,
      ...HOST_FAULTS,
    },
  }),
);

async function issue(c: Context<AppEnv>, target: RepositoryName, memory: MemoryHold): Promise<Response> {
  const payload = await readJsonObject(c, memory);
  if (payload.kind === 'refused') return answerRefused(c, payload);
  const repeat = await repeatable(c, payload.fields);
  if (repeat?.kind === 'refused') return answerRefused(c, repeat);
  const checked = await checkIssue(c, target, payload.fields);
  if (checked.kind === 'refused') return answerRefused(c, checked);
  const userToken = repeat?.userToken ?? newUserToken();
  const create = () => createIssue(c, target, checked.issue, userToken);
  const outcome = await post(c, target, 'issues', repeat, create);
  if (outcome.kind === 'refused') return answerRefused(c, outcome);
  const { url, number } = outcome;
  const hash = await pseudonymOn(c, { repository: target, number }, userToken);
  return c.json<z.infer<typeof issueAnswer>>({
    issue_url: url,
    number,
    hash,
    karma: 0,
    user_token: userToken,
    issue_reply_token: userToken,
  });
}

/** With the memory of its body, until it is answered. */
function held(handle: (c: Context<AppEnv>, target: RepositoryName, memory: MemoryHold) => Promise<Response>) {
  return (c: Context<AppEnv>, target: RepositoryName): Promise<Response> => {
    const memory = memoryFor(c);
    return untilAnswered(memory, handle(c, target, memory));
  };
}

/** @param create is called if `refusePosting` lets it pass; once for all requests with the same key. */
async function post(
  c: Context<AppEnv>,
  target: RepositoryName,
  what: 'comments' | 'issues',
  repeat: Repeatable | null,
  create: () => Promise<PostOutcome>,
): Promise<PostOutcome> {
  const refusal = await refusePosting(c, target, what);
  if (refusal !== null) return refusal;
  if (repeat === null) return create();
  return postOnce(
    c,
    repeat.name,
    { what: what === 'comments' ? 'comment' : 'issue', sent: 'request' },
    create,
  );
}

/** A positive integer in its usual spelling; null for anything else. */
function threadNumber(text: string): number | null {
  const number = Number(text);
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(number) ? number : null;
}
