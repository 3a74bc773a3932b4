import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { configOf, openHttp } from '../../src/config/configured.ts';
import type { Env } from '../../src/env.ts';
import { networkOf } from '../../src/limits/client.ts';
import { loggerOf } from '../../src/log.ts';
import type { PushLimits } from '../../src/push/push-host.ts';
import { Refusal } from '../../src/push/reply/refusal.ts';
import { ClientPushLimits } from '../../src/service/push-limits.ts';
import type { HostScope } from '../../src/service/scope.ts';

const ORIGIN = 'https://gitveil.test';

/** Does something in the scope of a request from an address. */
export async function inScope(
  address: string,
  variables: object,
  work: (scope: HostScope) => Promise<unknown>,
): Promise<void> {
  const bindings = { ...(env as unknown as Env), HOSTING_TOKEN: 'token', ...variables };
  const result = configOf(bindings);
  if (result.kind === 'invalid') throw new Error('not configured');
  const { config } = result;
  const context = createExecutionContext();
  await work({
    env: bindings,
    config,
    logger: loggerOf(config),
    http: openHttp(config),
    host: config.hosts[0],
    network: networkOf(address),
    gitClient: 'git',
    isForeign: false,
    addresses: { shown: ORIGIN, published: ORIGIN, frontPage: ORIGIN },
    later: (promise) => context.waitUntil(promise),
  });
  await waitOnExecutionContext(context);
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
  await inScope(address, variables, async (scope) => {
    await work(new ClientPushLimits(scope)).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      refusal = error;
    });
  });
  return refusal;
}
