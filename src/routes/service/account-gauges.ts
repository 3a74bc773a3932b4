/** What the bot's accounts may still do at the code hosts, and what is wrong with them, for /metrics. */
import type { Context } from 'hono';
import { type HostConfig, hostNameOf } from '../../config/hosts.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { AccountFigures } from '../../durable/host-account.ts';
import type { AppEnv } from '../../env.ts';
import { limitText } from '../../guard/limits.ts';
import type { Limit } from '../../guard/sliding-window.ts';
import type { GaugeValue } from '../../metrics/exposition.ts';

/** None of a host whose object does not answer. */
export async function accountGauges(c: Context<AppEnv>): Promise<readonly GaugeValue[]> {
  const { hosts, limits } = c.var.config;
  const known = hosts.map((host) => gaugesOf(c, host, limits.creations));
  return (await Promise.all(known)).flat();
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
  { calls, creationsLeft, problems, hostProblem }: AccountFigures,
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
  if (hostProblem !== null) {
    gauges.push({ name: 'gitveil_host_problem', labels: { host, problem: hostProblem }, value: 1 });
  }
  for (const problem of problems) {
    gauges.push({ name: 'gitveil_bot_account_problem', labels: { host, problem }, value: 1 });
  }
  return gauges;
}
