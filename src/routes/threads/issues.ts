/** Anonymous issues (contract, 4.3). */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { readJsonObject } from '../request/json-body.ts';
import { onRepository, REPOSITORY_PATH } from '../request/repository.ts';
import { answerRefused } from '../request/refused.ts';
import { createIssue } from './create-issue.ts';

export const issues = new Hono<AppEnv>();

issues.post(`${REPOSITORY_PATH}/issues/anonymous`, onRepository(issue));

async function issue(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const payload = await readJsonObject(c);
  if (payload.kind === 'invalid') return c.json({ error: 'invalid payload' }, 400);
  const outcome = await createIssue(c, target, payload.value);
  return outcome.kind === 'refused' ? answerRefused(c, outcome) : c.json(outcome.answer);
}
