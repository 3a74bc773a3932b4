/** Anonymous issues (contract, 4.3). */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { INVALID_NAME, type RepositoryName } from '../../repository-name.ts';
import { INVALID_PAYLOAD, readJsonObject } from '../request/json-body.ts';
import { onRepository } from '../request/repository.ts';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import { answerRefused } from '../request/refused.ts';
import { FENCE_IS_OPEN } from '../../markdown/footer-room.ts';
import { answer, asJson, described, error, repositoryParams } from '../description.ts';
import { checkIssue, createIssue, issueAnswer, issueRequest } from './create-issue.ts';
import { HOST_FAULTS, refusePosting } from './posting.ts';

export const issues = new Hono<AppEnv>();

issues.post(
  `${REPOSITORY_PATH}/issues/anonymous`,
  described(onRepository(issue), {
    operationId: 'createIssue',
    summary: 'Create an issue',
    description: 'The bot creates the issue. Use the token in the answer to comment on it as its author.',
    tag: 'Comments and issues',
    path: repositoryParams,
    json: issueRequest,
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
        'The client or all clients together have posted too much, or little is left to the bot account. Retry-After says how long to wait.',
      ),
      ...HOST_FAULTS,
    },
  }),
);

async function issue(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const payload = await readJsonObject(c);
  if (payload.kind === 'invalid') return answerRefused(c, INVALID_PAYLOAD);
  const checked = checkIssue(c, target, payload.value);
  if (checked.kind === 'refused') return answerRefused(c, checked);
  const refusal = await refusePosting(c, target, 'issues');
  if (refusal !== null) return answerRefused(c, refusal);
  const outcome = await createIssue(c, target, checked.issue);
  return outcome.kind === 'refused' ? answerRefused(c, outcome) : c.json(outcome.answer);
}
