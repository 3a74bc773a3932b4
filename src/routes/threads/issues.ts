/** Anonymous issues (contract, 4.3). */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { INVALID_NAME, type RepositoryName } from '../../repository-name.ts';
import { readJsonObject } from '../request/payload.ts';
import { memoryFor, untilAnswered } from '../request/client.ts';
import { onRepository } from '../request/repository.ts';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import { answerRefused } from '../request/refused.ts';
import { FENCE_IS_OPEN } from '../../text/footer-room.ts';
import { answer, asJson, described, error, repositoryParams } from '../description.ts';
import { newUserToken } from '../../secret/user-token.ts';
import { pseudonymOn } from './anonymous-comment.ts';
import { checkIssue, createIssue, issueAnswer, type IssueAnswer, issueRequest } from './create-issue.ts';
import { idempotencyHeader, repeatable } from './idempotency-key.ts';
import { postOnce } from './post-once.ts';
import { HOST_FAULTS, REPEATED, refusePosting } from './posting.ts';

const WORDS = { what: 'issue', sent: 'request' } as const;

export const issues = new Hono<AppEnv>();

issues.post(
  `${REPOSITORY_PATH}/issues/anonymous`,
  described(onRepository(issue), {
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

function issue(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const memory = memoryFor(c);
  return untilAnswered(memory, issued(c, target, memory));
}

async function issued(c: Context<AppEnv>, target: RepositoryName, memory: MemoryHold): Promise<Response> {
  const payload = await readJsonObject(c, memory);
  if (payload.kind === 'refused') return answerRefused(c, payload);
  const repeat = await repeatable(c, payload.fields);
  if (repeat?.kind === 'refused') return answerRefused(c, repeat);
  const checked = await checkIssue(c, target, payload.fields);
  if (checked.kind === 'refused') return answerRefused(c, checked);
  const refusal = await refusePosting(c, target, 'issues');
  if (refusal !== null) return answerRefused(c, refusal);
  const userToken = repeat?.userToken ?? newUserToken();
  const post = () => createIssue(c, target, checked.issue, userToken);
  const outcome = repeat === null ? await post() : await postOnce(c, repeat.name, WORDS, post);
  if (outcome.kind === 'refused') return answerRefused(c, outcome);
  const { url, number } = outcome;
  const hash = await pseudonymOn(c, { repository: target, number }, userToken);
  return c.json<IssueAnswer>({
    issue_url: url,
    number,
    hash,
    karma: 0,
    user_token: userToken,
    issue_reply_token: userToken,
  });
}
