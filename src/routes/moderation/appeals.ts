/**
 * POST /v1/moderation/appeal: the author of a flagged or blocked pseudonym tells the operator why that was wrong.
 *
 * Their token shows that the pseudonym is theirs. What reaches the operator is the pseudonym and the text, and nothing
 * of the request besides.
 */
import { type Context, Hono } from 'hono';
import { hostWithKey, MAIN_HOST, recordName } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { parseName } from '../../host/kinds.ts';
import { INVALID_NAME } from '../../host/repository-name.ts';
import { identityHash } from '../../identity/keyed-hash.ts';
import { serviceSecret } from '../../identity/service-secret.ts';
import { clientOf, siteWindowOf } from '../request/client.ts';
import { identityOf, mayHaveReports } from '../request/identity.ts';
import { readJsonObject } from '../request/json-body.ts';
import { type AppealAnswer, appealRequest } from '../schemas/moderation.ts';
import { isBlank, payloadProblem } from '../schemas/text.ts';
import { retryAfter } from '../request/write-refusal.ts';

/** The answers that the description repeats. */
export const APPEAL_ERRORS = {
  noText: 'text is required',
  unknownHost: 'thread must be on a code host of this service: such as gh/owner/repo#number',
  nothing: 'this pseudonym is neither flagged nor blocked',
  tooOften: 'one appeal a day for a pseudonym; yours has been passed on already',
  tooMany: 'your network has sent too many reports and appeals; try again later',
  nobody: 'this service has no operator who could be told: NOTIFY_ADMIN_TOPIC is not set',
  busy: 'the operator cannot be told now; try again in an hour',
};
const HOUR_SECONDS = '3600';

export const appeals = new Hono<AppEnv>();

appeals.post('/v1/moderation/appeal', async (c) => {
  const payload = await readJsonObject(c);
  if (payload.kind === 'invalid') return c.json({ error: 'invalid payload' }, 400);
  if (isBlank(payload.value['text'])) return c.json({ error: APPEAL_ERRORS.noText }, 400);
  const parsed = appealRequest.safeParse(payload.value);
  if (!parsed.success) return c.json({ error: payloadProblem(parsed.error) }, 400);
  const { thread, user_token: userToken, text } = parsed.data;
  const [number = '', repo = '', owner = '', hostKey = MAIN_HOST] = thread.split(/[/#]/).toReversed();
  const host = hostWithKey(c.var.config, hostKey);
  if (host === undefined) return c.json({ error: APPEAL_ERRORS.unknownHost }, 400);
  const repository = parseName(host.kind, owner, repo);
  if (repository === null) return c.json({ error: INVALID_NAME }, 400);
  if (c.var.config.notifyAdminTopic === null) return c.json({ error: APPEAL_ERRORS.nobody }, 503);

  const { reports } = c.var.config.limits;
  const { allowed, waitMs } = await siteWindowOf(c.env, await clientOf(c)).hit('reports', reports);
  if (!allowed) return c.json({ error: APPEAL_ERRORS.tooMany }, 429, { 'Retry-After': retryAfter(waitMs) });
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  return appeal(c, identityHash(secret, `${recordName(host, repository)}#${number}`, userToken), text);
});

async function appeal(c: Context<AppEnv>, hash: string, text: string): Promise<Response> {
  if (!(await mayHaveReports(c, hash))) return c.json({ error: APPEAL_ERRORS.nothing }, 409);
  const outcome = await identityOf(c, hash).appeal(text);
  switch (outcome.kind) {
    case 'taken':
      return c.json<AppealAnswer>({ hash, ...outcome.standing }, 200, { 'Cache-Control': 'no-store' });
    case 'registered':
      return c.json({ error: APPEAL_ERRORS.nothing }, 409);
    case 'too-often':
      return c.json({ error: APPEAL_ERRORS.tooOften }, 429, { 'Retry-After': retryAfter(outcome.leftMs) });
    case 'busy':
      return c.json({ error: APPEAL_ERRORS.busy }, 503, { 'Retry-After': HOUR_SECONDS });
  }
}
