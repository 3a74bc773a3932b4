/** Connects the admission of one push with the guard, with the bot account, and with the limits of its address. */
import type { Context } from 'hono';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { FORKS, waitText } from '../../limits/limits.ts';
import {
  type Admission,
  suspended,
  tooManyCalls,
  tooManyForks,
  tooManyLookUps,
  tooManyPushes,
} from '../../push/admission.ts';
import type { Refusal } from '../../push/reply/refusal.ts';
import { clientWindowsOf, guardOf } from '../../objects.ts';
import { type Client, clientOf, siteWindowKey } from '../request/client.ts';
import { countVainLookUp, knownWait, rememberWait, tooMany } from '../request/rate-limit.ts';
import { sentence } from '../request/refused.ts';
import { suspensionOf } from '../request/suspension.ts';
import { isNobodyFull, mustBeTold } from './full-clients.ts';
import { knownFull, noneLeft, openPlace, placesOf, refuseFull } from './push-place.ts';
import { outOfReach, refusedByPause, takeShare } from './push-share.ts';

export function pushAdmission(c: Context<AppEnv>): Admission {
  let asked: Promise<Client> | null = null;
  const client = (): Promise<Client> => (asked ??= clientOf(c));
  /** When the push began, by the guard's clock. */
  let pushedAt = 0;

  return {
    async enter(isWithdrawal, pushHash, mayWait = false) {
      try {
        const pusher = await client();
        const known = await knownRefusal(isWithdrawal);
        const places =
          pushHash === undefined || isNobodyFull() ? null : await placesOf(c, pusher, await pushHash());
        const full = places === null ? null : knownFull(places);
        // Panic comes first (contract, 4.6), also for a push that does not reach the guard.
        if (known !== null || (full?.isTold && !mustBeTold(siteWindowKey(pusher))))
          return (await suspensionOf(c.env)).panicMode ? suspended() : (known ?? full?.refusal ?? null);
        const [address, site] = [pusher.hash('burst'), pusher.siteHash('burst')];
        const { pushes } = c.var.config.limits;
        const { panicMode, at, waitMs } = await guardOf(c.env).admit(address, pushes, site);
        pushedAt = at;
        await rememberWait(c, 'pushes', waitMs);
        if (panicMode) return suspended();
        if (waitMs > 0) return tooManyPushes(sentence(tooMany(c, 'pushes', waitMs)));
        if (full?.isTold) return full.refusal;
        const refusal = full === null || places === null ? null : await refuseFull(c, pusher, places);
        return refusal ?? (mayWait ? null : refusedByPause(c));
      } catch (error) {
        return outOfReach(c, error);
      }
    },

    async place(pushHash) {
      try {
        const owner = await client();
        return openPlace(c, owner, await placesOf(c, owner, pushHash), pushedAt);
      } catch (error) {
        throw outOfReach(c, error);
      }
    },

    async peek(pushHash) {
      try {
        const wait = await hostAccountOf(c.env, c.var.host).placesWait(
          await placesOf(c, await client(), pushHash),
        );
        return wait === null ? null : noneLeft(wait.of, wait.waitMs);
      } catch (error) {
        return outOfReach(c, error);
      }
    },

    async lookUp() {
      const known = await knownWait(c, 'lookUps').catch(() => 0);
      const waitMs = known > 0 ? known : await countVainLookUp(c);
      if (waitMs > 0) throw tooManyLookUps(sentence(tooMany(c, 'lookUps', waitMs)));
    },

    takeShare: async () => void (await takeShare(c, { creates: false })),

    async takeFork() {
      const key = siteWindowKey(await client());
      const { waitMs } = await clientWindowsOf(c.env, key)
        .hit(key, 'forks', [FORKS])
        .catch((error: unknown) => {
          throw outOfReach(c, error);
        });
      if (waitMs > 0) throw tooManyForks(forksText(waitMs));
      await takeShare(c, { creates: true });
    },
  };

  /** Why the client is over a limit, as far as this isolate knows. */
  async function knownRefusal(isWithdrawal: boolean): Promise<Refusal | null> {
    const callsMs = isWithdrawal ? 0 : await knownWait(c, 'calls');
    if (callsMs > 0) return tooManyCalls(sentence(tooMany(c, 'calls', callsMs)));
    const pushesMs = await knownWait(c, 'pushes');
    return pushesMs > 0 ? tooManyPushes(sentence(tooMany(c, 'pushes', pushesMs))) : null;
  }
}

function forksText(waitMs: number): string {
  const text = `Pushes from your network have made the service fork ${FORKS.most} repositories within an hour, which is the limit.`;
  return `${text} Try again in ${waitText(waitMs)}, or push to one of these.`;
}
