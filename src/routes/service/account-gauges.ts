/** What the bot account may still do at the code host, and what is wrong with it, for /metrics. */
import type { Context } from 'hono';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { limitText } from '../../guard/limits.ts';
import type { GaugeValue } from '../../metrics/exposition.ts';

/** None if there is no account, or its object does not answer. */
export async function accountGauges(c: Context<AppEnv>): Promise<readonly GaugeValue[]> {
  const { config, logger } = c.var;
  if (config.hostingToken === null) return [];
  const host = new URL(config.hostingUrl).host;
  const { creations } = config.limits;
  try {
    const { calls, creationsLeft, problems } = await hostAccountOf(c.env, config).figures(creations);
    return [
      ...(calls === null
        ? []
        : ([
            { name: 'gitveil_host_calls_left', labels: { host }, value: calls.left },
            { name: 'gitveil_host_calls_limit', labels: { host }, value: calls.limit },
          ] as const)),
      ...creations.map((limit, index) => ({
        name: 'gitveil_host_creations_left' as const,
        labels: { host, limit: limitText([limit]) },
        value: creationsLeft[index] ?? 0,
      })),
      ...problems.map((problem) => ({
        name: 'gitveil_bot_account_problem' as const,
        labels: { host, problem },
        value: 1,
      })),
    ];
  } catch (error) {
    logger.warn('what is left to the bot account is not known', { error });
    return [];
  }
}
