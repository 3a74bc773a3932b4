/**
 * Anonymous comments on issues and pull requests (contract, 4.1 and 4.2). Both paths do the same: on the host a pull
 * request's general comments are those of the issue of its number.
 *
 * A request that is repeated after a lost answer posts a second comment: it looks the same as an author who says the
 * same thing twice.
 */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { readJsonObject } from '../request/json-body.ts';
import { onRepository, REPOSITORY_PATH } from '../request/repository.ts';
import { answerRefused } from '../request/refused.ts';
import { isBlank } from '../schemas/text.ts';
import { postComment } from './post-comment.ts';

export const comments = new Hono<AppEnv>();

for (const thread of ['issues', 'pulls']) {
  comments.post(`${REPOSITORY_PATH}/${thread}/:number/comments/anonymous`, onRepository(comment));
}

async function comment(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  // The order of these checks is the contract's (section 7).
  const payload = await readJsonObject(c);
  if (payload.kind === 'object' && isBlank(payload.value['body'])) {
    return c.json({ error: 'body is required' }, 400);
  }
  const number = threadNumber(c.req.param('number') ?? '');
  if (number === null) return c.json({ error: 'invalid issue number' }, 400);
  if (payload.kind === 'invalid') return c.json({ error: 'invalid payload' }, 400);
  const outcome = await postComment(c, { repository: target, number }, payload.value);
  return outcome.kind === 'refused' ? answerRefused(c, outcome) : c.json(outcome.answer);
}

/** A positive integer in its usual spelling; null for anything else. */
function threadNumber(text: string): number | null {
  const number = Number(text);
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(number) ? number : null;
}
