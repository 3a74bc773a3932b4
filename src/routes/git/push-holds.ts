/** Connects held pushes with their object, the keys of their spools in KV, and the client's window. */
import type { Context } from 'hono';
import { shred } from '../../durable/held-pushes/shred.ts';
import type { AppEnv } from '../../env.ts';
import { clientWindowsOf, guardOf, heldPushesOf } from '../../objects.ts';
import type { HeldStore } from '../../push/hold/held-store.ts';
import { clientOf, siteWindowKey } from '../request/client.ts';

export function pushHolds(c: Context<AppEnv>): HeldStore {
  const held = () => heldPushesOf(c.env);
  const logFailure = (error: unknown) => c.var.logger.error('a held push could not be ended', { error });
  return {
    find: (prHash) => held().find(prHash),
    findPush: async (push) => held().findPush(await clientTag(), push),

    async hold(hold, { key, ...spool }, replaced) {
      const tag = await clientTag();
      const { heldMb } = c.var.config;
      const wanted = { ...hold, host: c.var.host.key, client: tag, spool };
      let isHeld = false;
      try {
        // Before the row: a push is never held without its key.
        await c.env.HELD_KEYS.put(spool.attempt, key, { expiration: Math.ceil(hold.until / 1000) });
        isHeld = await held().hold(wanted, heldMb * 1_000_000, replaced?.lease ?? null);
      } finally {
        // The person is told that nothing was kept.
        if (!isHeld) await shred(c.env, spool.attempt).catch(logFailure);
      }
      if (isHeld && hold.reason === 'review') c.executionCtx.waitUntil(tellOperator());
      return isHeld;
    },

    async take(prHash, key) {
      const taken = await held().take(prHash, key);
      if (taken.kind !== 'taken') return taken.kind === 'gone' ? null : taken.kind;
      const { lease } = taken;
      return {
        lease,
        published: () => held().published({ prHash, lease }).catch(logFailure),
        giveBack: () => held().giveBack({ prHash, lease }).catch(logFailure),
      };
    },

    cancel: (prHash, key, said) => held().cancel(prHash, key, said),
  };

  async function clientTag(): Promise<string> {
    // An IPv6 /48 is one: else its 65,536 networks could fill all room.
    const client = siteWindowKey(await clientOf(c));
    return clientWindowsOf(c.env, client).tag(client);
  }

  /** Never rejects: the push waits, whether or not the operator hears of it. */
  async function tellOperator(): Promise<void> {
    try {
      await guardOf(c.env).toReview((await held().counts()).held.review);
    } catch (error) {
      c.var.logger.error('the operator could not be told of a held push', { error });
    }
  }
}
