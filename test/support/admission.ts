import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { type Context, Hono } from 'hono';
import { configOf } from '../../src/config/configured.ts';
import type { AppEnv, Env } from '../../src/env.ts';
import { loggerOf } from '../../src/log.ts';
import type { PushLimits } from '../../src/push/push-host.ts';
import { Refusal } from '../../src/push/reply/refusal.ts';
import { ClientPushLimits } from '../../src/service/push-limits.ts';
import { hostScopeOf } from '../../src/routes/request/scope.ts';

/** Does something as a request does it. */
export async function inContext(
  address: string,
  variables: object,
  work: (c: Context<AppEnv>) => Promise<unknown>,
): Promise<void> {
  const app = new Hono<AppEnv>();
  app.get('/', async (c) => {
    const result = configOf(c.env);
    if (result.kind === 'invalid') throw new Error('not configured');
    const { config } = result;
    c.set('config', config);
    c.set('logger', loggerOf(config));
    c.set('host', config.hosts[0]);
    await work(c);
    return c.body(null);
  });
  const context = createExecutionContext();
  const request = new Request('https://gitveil.test/', { headers: { 'CF-Connecting-IP': address } });
  const bindings = { ...(env as unknown as Env), HOSTING_TOKEN: 'token', ...variables };
  const response = await app.fetch(request, bindings, context);
  await waitOnExecutionContext(context);
  if (!response.ok) throw new Error(`the request failed with ${response.status}`);
}

/**
 * Answers `null`, or why the push is refused, when a push from an address has done this with its
 * limits.
 */
export async function admitted(
  address: string,
  variables: object,
  work: (limits: PushLimits) => Promise<unknown>,
): Promise<Refusal | null> {
  let refusal: Refusal | null = null;
  await inContext(address, variables, async (c) => {
    await work(new ClientPushLimits(hostScopeOf(c))).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      refusal = error;
    });
  });
  return refusal;
}
