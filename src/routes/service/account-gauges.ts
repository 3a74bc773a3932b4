/** What the bot's accounts may still do at the code hosts, and what is wrong with them, for /metrics. */
import type { Context } from 'hono';
import { type HostConfig, hostNameOf } from '../../config/hosts.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { AccountFigures } from '../../durable/host-account/host-account.ts';
import type { AppEnv } from '../../env.ts';
import { limitText } from '../../limits/limits.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import type { GaugeValue } from '../../metrics/exposition.ts';
import { botProblems, suspensionOf } from '../request/suspension.ts';

/** Without those of an object that does not answer. */
export async function accountGauges(c: Context<AppEnv>): Promise<readonly GaugeValue[]> {
  const { hosts, limits } = c.var.config;
  const known = hosts.map((host) => gaugesOf(c, host, limits.creations));
  return (await Promise.all([...known, problemGauges(c)])).flat();
}

async function problemGauges(c: Context<AppEnv>): Promise<readonly GaugeValue[]> {
  try {
    return botProblems(await suspensionOf(c.env), c.var.config.hosts).map(({ hostName, problem }) => ({
      name: 'gitveil_bot_account_problem',
      labels: { host: hostName, problem },
      value: 1,
    }));
  } catch (error) {
    c.var.logger.warn('the guard does not answer', { error });
    return [];
  }
}

async function gaugesOf(
  c: Context<AppEnv>,
  host: HostConfig,
  limits: readonly Limit[],
): Promise<readonly GaugeValue[]> {
  try {
    return toGauges(hostNameOf(host), limits, await hostAccountOf(c.env, host).figures(limits));
  } catch (error) {
    c.var.logger.warn('what is left to the bot account is not known', { error });
    return [];
  }
}

function toGauges(
  host: string,
  limits: readonly Limit[],
  { calls, creationsLeft }: AccountFigures,
): readonly GaugeValue[] {
  const gauges: GaugeValue[] = [];
  if (calls !== null) {
    gauges.push(
      { name: 'gitveil_host_calls_left', labels: { host }, value: calls.left },
      { name: 'gitveil_host_calls_limit', labels: { host }, value: calls.limit },
    );
  }
  for (const [index, limit] of limits.entries()) {
    const labels = { host, limit: limitText([limit]) };
    gauges.push({ name: 'gitveil_host_creations_left', labels, value: creationsLeft[index] ?? 0 });
  }
  return gauges;
}
