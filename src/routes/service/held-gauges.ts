/** What is held, for /metrics. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { GaugeValue } from '../../metrics/exposition.ts';
import { heldPushesOf } from '../../objects.ts';

/** None if the object does not answer. */
export async function heldGauges(c: Context<AppEnv>): Promise<readonly GaugeValue[]> {
  try {
    const { held, bytes, oldestAt } = await heldPushesOf(c.env).counts();
    const oldestMs = oldestAt === null ? 0 : Math.max(0, Date.now() - oldestAt);
    return [
      ...Object.entries(held).map(([reason, value]) => ({
        name: 'gitveil_held_pushes' as const,
        labels: { reason },
        value,
      })),
      { name: 'gitveil_held_bytes', labels: {}, value: bytes },
      { name: 'gitveil_held_oldest_seconds', labels: {}, value: Math.round(oldestMs / 1000) },
    ];
  } catch (error) {
    c.var.logger.warn('the held pushes do not answer', { error });
    return [];
  }
}
