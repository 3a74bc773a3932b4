/**
 * For /metrics: what the bot's accounts may still do at the code hosts, what is wrong with them, and what is delayed. What an
 * object does not tell is left out.
 */
import type { Context } from 'hono';
import { type HostConfig, hostNameOf } from '../../config/hosts.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { limitText } from '../../config/values.ts';
import type { GaugeValue } from '../../metrics/exposition.ts';
import { delayedPushesOf } from '../../objects.ts';
import { botProblems, suspensionOf } from '../request/suspension.ts';

type Gauges = readonly GaugeValue[];

export async function allGauges(c: Context<AppEnv>): Promise<Gauges> {
  const { config, logger } = c.var;
  const ofAccounts = config.hosts.map((host) =>
    orNone(accountGauges(c, host), (error) =>
      logger.warn('what is left to the bot account is not known', { error }),
    ),
  );
  const all = await Promise.all([
    ...ofAccounts,
    orNone(problemGauges(c), (error) => logger.warn('the guard does not answer', { error })),
    orNone(delayedGauges(c), (error) => logger.warn('the delayed pushes do not answer', { error })),
  ]);
  return all.flat();
}

function orNone(asked: Promise<Gauges>, tell: (error: unknown) => void): Promise<Gauges> {
  return asked.catch((error: unknown) => {
    tell(error);
    return [];
  });
}

async function accountGauges(c: Context<AppEnv>, config: HostConfig): Promise<Gauges> {
  const limits = c.var.config.limits.creations;
  const { calls, creationsLeft } = await hostAccountOf(c.env, config).figures(limits);
  const host = hostNameOf(config);
  const left = limits.map((limit, index) => ({
    name: 'gitveil_host_creations_left' as const,
    labels: { host, limit: limitText([limit]) },
    value: creationsLeft[index] ?? 0,
  }));
  if (calls === null) return left;
  return [
    { name: 'gitveil_host_calls_left', labels: { host }, value: calls.left },
    { name: 'gitveil_host_calls_limit', labels: { host }, value: calls.limit },
    ...left,
  ];
}

async function problemGauges(c: Context<AppEnv>): Promise<Gauges> {
  return botProblems(await suspensionOf(c.env), c.var.config.hosts).map(({ hostName, problem }) => ({
    name: 'gitveil_bot_account_problem',
    labels: { host: hostName, problem },
    value: 1,
  }));
}

async function delayedGauges(c: Context<AppEnv>): Promise<Gauges> {
  const { waiting, bytes, oldestAt } = await delayedPushesOf(c.env).counts();
  const oldestMs = oldestAt === null ? 0 : Math.max(0, Date.now() - oldestAt);
  return [
    ...Object.entries(waiting).map(([reason, value]) => ({
      name: 'gitveil_delayed_pushes' as const,
      labels: { reason },
      value,
    })),
    { name: 'gitveil_delayed_bytes', labels: {}, value: bytes },
    { name: 'gitveil_delayed_oldest_seconds', labels: {}, value: Math.round(oldestMs / 1000) },
  ];
}
