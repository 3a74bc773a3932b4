/** Connects the admission of one push with the guard, with the bot account, and with the limits of its address. */
import type { Context } from 'hono';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { FORKS, waitText } from '../../limits/limits.ts';
import { clientWindowsOf, guardOf } from '../../objects.ts';
import type { Admission } from '../../push/push-host.ts';
import { Refusal } from '../../push/reply/refusal.ts';
import { type Client, clientOf, siteWindowKey } from '../request/client.ts';
import { knownWait, rememberWait, tooMany } from '../request/rate-limit.ts';
import { sentence } from '../request/refused.ts';
import { suspensionOf } from '../request/suspension.ts';
import {
  isNobodyFull,
  knownFull,
  mustBeTold,
  noneLeft,
  openPlace,
  placesOf,
  refuseFull,
} from './push-place.ts';
import { outOfReach, refusedByPause, takeShare } from './push-share.ts';

const TOO_MANY = { pushes: 'too many pushes', lookUps: 'too many look-ups', calls: 'too many requests' };

export function pushAdmission(c: Context<AppEnv>): Admission {
  let asked: Promise<Client> | null = null;
  const client = (): Promise<Client> => (asked ??= clientOf(c));

  return {
    async enter(isWithdrawal, pushHash, mayWait = false) {
      try {
        const pusher = await client();
        const known = (isWithdrawal ? null : await knownRefusal('calls')) ?? (await knownRefusal('pushes'));
        const isOpening = pushHash !== undefined && !isNobodyFull();
        const full = isOpening ? knownFull(await placesOf(c, pusher, await pushHash())) : null;
        // Panic comes first (contract, 4.6), also for a push that does not reach the guard.
        if (known !== null || (full?.isTold && !mustBeTold(siteWindowKey(pusher))))
          return (await suspensionOf(c.env)).panicMode ? suspended() : full?.isTold ? full.refusal : known;
        const [address, site] = [pusher.hash('burst'), pusher.siteHash('burst')];
        const { pushes } = c.var.config.limits;
        const { panicMode, waitMs } = await guardOf(c.env).admit(address, pushes, site);
        await rememberWait(c, 'pushes', waitMs);
        if (panicMode) return suspended();
        if (full?.isTold) return full.refusal;
        const refusal = full === null ? null : await refuseFull(c, pusher, full.places);
        if (refusal !== null) return refusal;
        if (waitMs > 0) return overLimit('pushes', waitMs);
        return mayWait ? null : refusedByPause(c);
      } catch (error) {
        return outOfReach(c, error);
      }
    },

    async refuseFull(pushHash) {
      try {
        const pusher = await client();
        const places = await placesOf(c, pusher, (await pushHash?.()) ?? '');
        const known = knownFull(places);
        return known?.isTold ? known.refusal : await refuseFull(c, pusher, places);
      } catch (error) {
        c.var.logger.error('the limits of a push could not be checked', { error });
        return null;
      }
    },

    async place(pushHash) {
      try {
        const owner = await client();
        return openPlace(c, owner, await placesOf(c, owner, pushHash));
      } catch (error) {
        throw outOfReach(c, error);
      }
    },

    async peek(pushHash) {
      try {
        const places = await placesOf(c, await client(), pushHash);
        const wait = await hostAccountOf(c.env, c.var.host).placesWait(places);
        return wait === null ? null : noneLeft(wait.of, wait.waitMs);
      } catch (error) {
        return outOfReach(c, error);
      }
    },

    takeShare: async () => void (await takeShare(c, { creates: false })),

    async takeFork() {
      const key = siteWindowKey(await client());
      const { waitMs } = await clientWindowsOf(c.env, key)
        .hit(key, 'forks', [FORKS])
        .catch((error: unknown) => {
          throw outOfReach(c, error);
        });
      if (waitMs > 0) throw tooManyForks(waitMs);
      await takeShare(c, { creates: true });
    },
  };

  /** Why the client is over a limit, as far as this isolate knows. */
  async function knownRefusal(name: 'calls' | 'pushes'): Promise<Refusal | null> {
    const waitMs = await knownWait(c, name);
    return waitMs > 0 ? overLimit(name, waitMs) : null;
  }

  function overLimit(name: keyof typeof TOO_MANY, waitMs: number): Refusal {
    return new Refusal('rate-limited', TOO_MANY[name], [sentence(tooMany(c, name, waitMs))]);
  }
}

export function suspended(): Refusal {
  return new Refusal('suspended', 'service temporarily suspended', [
    'SERVICE TEMPORARILY SUSPENDED',
    'The service is suspended due to detected bot activity sending mass PRs.',
    'Please retry in 15 minutes.',
  ]);
}

function tooManyForks(waitMs: number): Refusal {
  return new Refusal('rate-limited', 'too many forks', [
    `Pushes from your network have made the service fork ${FORKS.most} repositories within an hour, which is the limit. Try again in ${waitText(waitMs)}, or push to one of these.`,
    'Nothing was changed.',
  ]);
}
