/**
 * The operator's endpoints (contract, 4.16 and 4.17): the panic switch, and closing the pull requests of a burst.
 *
 * An attempt counts against the limits of its address before anything else is checked. Without PANIC_PASSWORD no
 * password is correct. If the limits cannot be checked, every request is refused.
 */
import { type Context, Hono } from 'hono';
import { systemClock } from '../clock.ts';
import type { Credential } from '../durable/guard.ts';
import type { AppEnv } from '../env.ts';
import { closedEvent } from '../events/host-event.ts';
import { tokenHash } from '../guard/action-token.ts';
import { CONTRACT_LIMITS } from '../guard/limits.ts';
import { rollBack, type RollbackReport } from '../guard/rollback.ts';
import type { TrackedPullRequest } from '../guard/tracked-pull-request.ts';
import { GitHub } from '../host/github.ts';
import { isSameSecret } from '../identity/same-secret.ts';
import { clientOf, guardOf, rateWindowOf } from './client.ts';
import { readJsonObject } from './json-body.ts';
import { type PanicAnswer, panicRequest, type RollbackAnswer, rollbackRequest } from './schemas/admin.ts';
import { suspensionChanged, suspensionOf } from './suspension.ts';

export const admin = new Hono<AppEnv>();

admin.post('/admin/panic', async (c) => {
  if (!(await isWithinLimits(c, ['admin']))) return tooOften(c);
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
  if (!(await isWithinLimits(c, ['admin', 'rollback']))) return tooOften(c);
  const body = await readJsonObject(c);
  const request = rollbackRequest.safeParse(body.kind === 'object' ? body.value : null);
  if (!request.success) return c.json({ error: 'invalid payload' }, 400);
  const credential = credentialOf(c, request.data);
  const tracked = credential && (await guardOf(c.env).beginRollback(credential));
  if (tracked === null) return invalidCredentials(c);
  const work = closeAll(c, credential as Credential, tracked);
  // Continues even if the operator's phone disconnects.
  c.executionCtx.waitUntil(work);
  const { closed, failed } = await work;
  return c.json<RollbackAnswer>({
    closed: closed.length,
    failed: failed.length,
    closed_urls: closed.map(({ url }) => url),
    failed_urls: failed.map(({ url }) => url),
  });
});

async function isWithinLimits(
  c: Context<AppEnv>,
  actions: readonly ('admin' | 'rollback')[],
): Promise<boolean> {
  const window = rateWindowOf(c.env, await clientOf(c));
  const hits = await Promise.all(actions.map((action) => window.hit(action, [CONTRACT_LIMITS[action]])));
  return hits.every(({ allowed }) => allowed);
}

function tooOften(c: Context<AppEnv>): Response {
  return c.json({ error: 'rate limit exceeded' }, 429, { 'Retry-After': '60' });
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

async function closeAll(
  c: Context<AppEnv>,
  credential: Credential,
  tracked: readonly TrackedPullRequest[],
): Promise<RollbackReport> {
  const { hostingApiUrl, hostingToken } = c.var.config;
  const { http } = c.var;
  const github = new GitHub({ apiUrl: hostingApiUrl, token: hostingToken ?? '', http, clock: systemClock });
  const report = await rollBack(
    {
      close: ({ owner, repo, number }) => github.closePullRequest({ owner, name: repo }, number),
      async tell({ prHash, number, url }, { closedAt, isMerged }) {
        // The notifications feed reports merges, but never what the bot itself closes.
        if (isMerged || closedAt === null) return;
        const object = c.env.PULL_REQUESTS.get(c.env.PULL_REQUESTS.idFromName(prHash));
        await object.tell([closedEvent(number, closedAt, url)], systemClock.now());
      },
    },
    tracked,
  );
  const { closed, failed, untold } = report;
  const settled = closed.filter((pullRequest) => !untold.includes(pullRequest));
  await guardOf(c.env)
    .endRollback(
      credential,
      settled.map(({ url }) => url),
      failed.length === 0,
    )
    // They are closed anyway. The next rollback will try them again.
    .catch((error: unknown) => c.var.logger.error('a rollback could not be written down', { error }));
  c.var.logger.warn('a rollback closed pull requests', { objects: closed.length });
  return report;
}
