/** Connects the admission of one push with the guard and with the limit of its address. */
import type { Context } from 'hono';
import { hostNameOf } from '../../config/hosts.ts';
import { openBackOff } from '../../durable/host-access.ts';
import type { AccountAdmittance } from '../../durable/host-account.ts';
import type { AppEnv } from '../../env.ts';
import { LONGEST_WAIT_MS } from '../../host/rest/retry.ts';
import { keyedHash } from '../../identity/keyed-hash.ts';
import { serviceSecret } from '../../identity/service-secret.ts';
import {
  type Admission,
  heldBack,
  othersFirst,
  type Place,
  rateLimited,
  suspended,
  tooManyPushes,
  unguarded,
} from '../../push/admission.ts';
import { Refusal } from '../../push/reply/refusal.ts';
import { askForShare, giveShareBack, shareExplanation } from '../request/account-share.ts';
import { type Client, clientOf, guardOf, rateWindowOf } from '../request/client.ts';
import { sentence, tooMany } from '../request/rate-limit.ts';

export function pushAdmission(c: Context<AppEnv>): Admission {
  let asked: Promise<Client> | null = null;
  const client = (): Promise<Client> => (asked ??= clientOf(c));
  /** When the push began, by the guard's clock. */
  let pushedAt = 0;
  /** What it may create at the host, and has not. */
  let share: AccountAdmittance | null = null;

  return {
    async enter(mayOpen) {
      const asking = askForShare(c, mayOpen);
      const refusal = await refusedByGuard();
      share = await asking;
      const why = refusal ?? refusedByHost(share);
      // Nobody need wait for it: the push is refused.
      if (why !== null) c.executionCtx.waitUntil(leave());
      return why;
    },

    leave,

    async reserve(key) {
      const [owner, placeKey] = [await client(), await hiddenKey(c, key)];
      const { isReserved, attempts, isAlertDue } = await reservePlace(c, owner, placeKey);
      if (isReserved) return placeOf(owner, placeKey);
      if (isAlertDue) c.executionCtx.waitUntil(alertOperator(owner, attempts));
      throw rateLimited();
    },
  };

  async function refusedByGuard(): Promise<Refusal | null> {
    try {
      const address = (await client()).hash('burst');
      const { panicMode, at, waitMs } = await guardOf(c.env).admit(address, c.var.config.limits.pushes);
      pushedAt = at;
      if (panicMode) return suspended();
      return waitMs > 0 ? tooManyPushes(sentence(tooMany(c, 'pushes', waitMs))) : null;
    } catch (error) {
      return outOfReach(c, error);
    }
  }

  function refusedByHost({ pauseMs, waitMs }: AccountAdmittance): Refusal | null {
    const backOff = openBackOff(c.env, c.var.host);
    backOff.learn(pauseMs);
    const leftMs = backOff.leftMs();
    if (leftMs > LONGEST_WAIT_MS) return heldBack(hostNameOf(c.var.host), leftMs);
    return waitMs > 0 ? othersFirst(sentence(shareExplanation(c, waitMs))) : null;
  }

  async function leave(): Promise<void> {
    const unused = share;
    share = null;
    if (unused !== null) await giveShareBack(c, unused);
  }

  function placeOf(owner: Client, key: string): Place {
    return {
      async opened(pullRequest) {
        share = null;
        const tracked = { ...pullRequest, pushedAt };
        await Promise.all([
          counted(() => rateWindowOf(c.env, owner).confirmPlace(key)),
          counted(() => guardOf(c.env).opened(tracked, owner.hash('burst'))),
        ]);
      },
      async release() {
        // A place that is not returned becomes free after a while.
        await rateWindowOf(c.env, owner)
          .releasePlace(key)
          .catch((error: unknown) => c.var.logger.warn('a place could not be given back', { error }));
      },
    };
  }

  /** Retries once if an object cannot be reached for a moment: the pull request is open, and its push must not fail. */
  async function counted(step: () => Promise<void>): Promise<void> {
    await step()
      .catch(step)
      .catch((error: unknown) => c.var.logger.error('an open pull request could not be counted', { error }));
  }

  async function alertOperator(offender: Client, attempts: number): Promise<void> {
    const { network } = offender;
    await guardOf(c.env)
      .rateLimitExceeded({ network, hash: offender.hash('alert') }, attempts)
      .catch((error: unknown) => c.var.logger.error('an alert could not be raised', { error }));
  }
}

/** What is kept with an address, if only as hashes, must not tell which pull requests came from it. */
async function hiddenKey(c: Context<AppEnv>, key: string): Promise<string> {
  return keyedHash(await serviceSecret(c.env, c.var.config.identitySecret), 'place', key);
}

async function reservePlace(c: Context<AppEnv>, client: Client, key: string) {
  try {
    return await rateWindowOf(c.env, client).reservePlace(key);
  } catch (error) {
    throw outOfReach(c, error);
  }
}

function outOfReach(c: Context<AppEnv>, error: unknown): Refusal {
  c.var.logger.error('the limits of a push could not be checked', { error });
  return unguarded(error);
}
