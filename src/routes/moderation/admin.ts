/**
 * The operator's endpoints (contract, 4.16 and 4.17): the panic switch, closing the pull requests of a burst, and
 * pardons of reported pseudonyms.
 *
 * An attempt counts against the limits of its address before anything else is checked. Without PANIC_PASSWORD no
 * password is correct. If the limits cannot be checked, every request is refused.
 */
import { type Context, Hono } from 'hono';
import { systemClock } from '../../clock.ts';
import type { Credential } from '../../durable/guard.ts';
import type { RollbackResult } from '../../durable/guard/rollbacks.ts';
import type { Pardon } from '../../durable/identity.ts';
import type { AppEnv } from '../../env.ts';
import { tokenHash } from '../../guard/action-token.ts';
import { CONTRACT_LIMITS } from '../../guard/limits.ts';
import { isSameSecret } from '../../identity/same-secret.ts';
import { clientOf, guardOf, rateWindowOf } from '../request/client.ts';
import { identityOf, mayHaveReports } from '../request/identity.ts';
import { readJsonObject } from '../request/json-body.ts';
import {
  type PanicAnswer,
  panicRequest,
  type PardonAnswer,
  pardonRequest,
  type RollbackAnswer,
  rollbackRequest,
} from '../schemas/admin.ts';
import { suspensionChanged, suspensionOf } from '../request/suspension.ts';
import { retryAfter } from '../request/write-refusal.ts';

/** A restart of the guard takes less than a second. */
const RESULT_ATTEMPTS = 5;
const RESULT_PAUSE_MS = 1_000;

export const admin = new Hono<AppEnv>();

admin.post('/admin/panic', async (c) => {
  const tooOften = await refuseTooOften(c, ['admin']);
  if (tooOften !== null) return tooOften;
  const body = await readJsonObject(c);
  const request = panicRequest.safeParse(body.kind === 'object' ? body.value : null);
  if (!request.success) return c.json({ error: 'invalid payload' }, 400);
  const { active, scope = 'pushes' } = request.data;
  const credential = credentialOf(c, request.data);
  const isSet = credential !== null && (await guardOf(c.env).setPanic(active, credential, scope));
  if (!isSet) return invalidCredentials(c);
  suspensionChanged();
  c.var.logger.warn('panic mode was set', { outcome: active ? 'active' : 'inactive', step: scope });
  const panicMode = scope === 'writes' ? (await suspensionOf(c.env)).panicMode : active;
  return c.json<PanicAnswer>({ panic_mode: panicMode, state: active ? 'activated' : 'deactivated' });
});

admin.post('/admin/rollback', async (c) => {
  const tooOften = await refuseTooOften(c, ['admin', 'rollback']);
  if (tooOften !== null) return tooOften;
  const body = await readJsonObject(c);
  const request = rollbackRequest.safeParse(body.kind === 'object' ? body.value : null);
  if (!request.success) return c.json({ error: 'invalid payload' }, 400);
  const credential = credentialOf(c, request.data);
  const { spare_single: spareSingle = false } = request.data;
  const id = credential && (await guardOf(c.env).beginRollback(credential, spareSingle));
  if (id === null) return invalidCredentials(c);
  const { closedUrls, failedUrls } = await resultOf(c, id);
  c.var.logger.warn('a rollback closed pull requests', { objects: closedUrls.length });
  return c.json<RollbackAnswer>({
    closed: closedUrls.length,
    failed: failedUrls.length,
    closed_urls: [...closedUrls],
    failed_urls: [...failedUrls],
  });
});

/** The guard closes them also if nobody waits. If it restarts meanwhile, it continues, and is asked again. */
async function resultOf(c: Context<AppEnv>, id: string): Promise<RollbackResult> {
  for (let attempt = 1; ; attempt++) {
    try {
      const result = await guardOf(c.env).rollbackResult(id);
      if (result === null) throw new Error('the result of the rollback is not kept any more');
      return result;
    } catch (error) {
      if (attempt === RESULT_ATTEMPTS) throw error;
      await systemClock.sleep(RESULT_PAUSE_MS);
    }
  }
}

admin.post('/admin/pardon', async (c) => {
  const tooOften = await refuseTooOften(c, ['admin']);
  if (tooOften !== null) return tooOften;
  const body = await readJsonObject(c);
  const request = pardonRequest.safeParse(body.kind === 'object' ? body.value : null);
  if (!request.success) return c.json({ error: 'invalid payload' }, 400);
  const { hash } = request.data;
  const credential = credentialOf(c, request.data);
  if (credential === null || !(await guardOf(c.env).mayPardon(hash, credential)))
    return invalidCredentials(c);
  const pardon = await pardonOf(c, hash, credential);
  if (pardon === null) return c.json({ error: NOTHING_TO_PARDON }, 404);
  c.var.logger.warn('a pseudonym was pardoned');
  const { standing, restoring, log } = pardon;
  const entries = log.map(({ event, at }) => ({ event, at: new Date(at).toISOString() }));
  return c.json<PardonAnswer>({ hash, ...standing, restoring, log: entries });
});

export const NOTHING_TO_PARDON = 'nobody has reported this pseudonym';

/** Null: there is nothing to pardon. */
async function pardonOf(c: Context<AppEnv>, hash: string, credential: Credential): Promise<Pardon | null> {
  try {
    return (await mayHaveReports(c, hash)) ? await identityOf(c, hash).pardon() : null;
  } catch (error) {
    await guardOf(c.env).pardonFailed(credential);
    throw error;
  }
}

/** The refusal of a client that is over one of its limits; null if it is within all of them. */
async function refuseTooOften(
  c: Context<AppEnv>,
  actions: readonly ('admin' | 'rollback')[],
): Promise<Response | null> {
  const window = rateWindowOf(c.env, await clientOf(c));
  const hits = await Promise.all(actions.map((action) => window.hit(action, [CONTRACT_LIMITS[action]])));
  const waitMs = Math.max(...hits.map((hit) => hit.waitMs));
  if (waitMs === 0) return null;
  return c.json({ error: 'rate limit exceeded' }, 429, { 'Retry-After': retryAfter(waitMs) });
}

function invalidCredentials(c: Context<AppEnv>): Response {
  return c.json({ error: 'invalid credentials' }, 401);
}

/** Null if the credential cannot be valid. The guard checks tokens. */
function credentialOf(
  c: Context<AppEnv>,
  { password, token }: { password?: string | undefined; token?: string | undefined },
): Credential | null {
  const expected = c.var.config.panicPassword;
  if (expected !== null && password !== undefined && isSameSecret(password, expected)) {
    return { kind: 'password' };
  }
  return token === undefined ? null : { kind: 'token', hash: tokenHash(token) };
}
