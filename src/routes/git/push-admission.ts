/** Connects the admission of one push with the guard and with the limit of its address. */
import type { Context } from 'hono';
import { hostNameOf } from '../../config/hosts.ts';
import { openBackOff } from '../../durable/host-access.ts';
import type { AccountAdmittance } from '../../durable/host-account.ts';
import type { RateWindow } from '../../durable/rate-window.ts';
import type { AppEnv, Env } from '../../env.ts';
import { SITE_PULL_REQUESTS } from '../../guard/limits.ts';
import { MOST_PULL_REQUESTS } from '../../guard/places.ts';
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
import { type Client, clientOf, guardOf, rateWindowOf, siteWindowOf } from '../request/client.ts';
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
      const counters = countersOf(c.env, owner);
      const full = await reservePlaces(counters, placeKey);
      if (full === null) return placeOf(owner, counters, placeKey);
      if (full.isAlertDue) c.executionCtx.waitUntil(alertOperator(full));
      throw rateLimited(full.counter.most, full.counter.whose);
    },
  };

  async function refusedByGuard(): Promise<Refusal | null> {
    try {
      const pusher = await client();
      const [address, site] = [pusher.hash('burst'), pusher.siteHash('burst')];
      const { panicMode, at, waitMs } = await guardOf(c.env).admit(address, c.var.config.limits.pushes, site);
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

  /**
   * Takes a place of each; answers which one has none left. One after the other: a client that has none left takes none
   * from its neighbours, not even for a moment.
   */
  async function reservePlaces(counters: readonly PlaceCounter[], key: string): Promise<FullCounter | null> {
    const held: PlaceCounter[] = [];
    const giveBack = (): void => c.executionCtx.waitUntil(releasePlaces(held, key));
    try {
      for (const counter of counters) {
        // A counter whose answer is lost may have given a place.
        held.push(counter);
        const reservation = await counter.window().reservePlace(key, counter.most);
        if (reservation.isReserved) continue;
        held.pop();
        giveBack();
        return { counter, ...reservation };
      }
      return null;
    } catch (error) {
      giveBack();
      throw outOfReach(c, error);
    }
  }

  function placeOf(owner: Client, counters: readonly PlaceCounter[], key: string): Place {
    return {
      async opened(pullRequest) {
        share = null;
        const tracked = { ...pullRequest, pushedAt };
        await Promise.all([
          ...counters.map(({ window }) => counted(() => window().confirmPlace(key))),
          counted(() => guardOf(c.env).opened(tracked, owner.siteHash('burst'))),
        ]);
      },
      keep() {
        share = null;
      },
      release: () => releasePlaces(counters, key),
    };
  }

  /** A place that is not returned becomes free after a while. */
  async function releasePlaces(counters: readonly PlaceCounter[], key: string): Promise<void> {
    await Promise.all(counters.map(({ window }) => window().releasePlace(key))).catch((error: unknown) =>
      c.var.logger.warn('a place could not be given back', { error }),
    );
  }

  /** Retries once if an object cannot be reached for a moment: the pull request is open, and its push must not fail. */
  async function counted(step: () => Promise<void>): Promise<void> {
    await step()
      .catch(step)
      .catch((error: unknown) => c.var.logger.error('an open pull request could not be counted', { error }));
  }

  async function alertOperator({ counter, attempts }: FullCounter): Promise<void> {
    const { network, hash, most } = counter;
    await guardOf(c.env)
      .rateLimitExceeded({ network, hash }, { attempts, most })
      .catch((error: unknown) => c.var.logger.error('an alert could not be raised', { error }));
  }
}

/** What is kept with an address, if only as hashes, must not tell which pull requests came from it. */
async function hiddenKey(c: Context<AppEnv>, key: string): Promise<string> {
  return keyedHash(await serviceSecret(c.env, c.var.config.identitySecret), 'place', key);
}

/** What counts the pull requests that a client opens. */
interface PlaceCounter {
  /** A new stub for each call: one that has failed may fail for ever. */
  readonly window: () => DurableObjectStub<RateWindow>;
  readonly most: number;
  /** In the words of the refusal. */
  readonly whose: string;
  /** For the operator. */
  readonly network: string;
  readonly hash: string;
}

interface FullCounter {
  readonly counter: PlaceCounter;
  readonly attempts: number;
  readonly isAlertDue: boolean;
}

/** The client's own, and one for its IPv6 /48, if it has one. */
function countersOf(env: Env, client: Client): readonly PlaceCounter[] {
  const own: PlaceCounter = {
    window: () => rateWindowOf(env, client),
    most: MOST_PULL_REQUESTS,
    whose: 'IP',
    network: client.network,
    hash: client.hash('alert'),
  };
  if (client.site === client.network) return [own];
  const site: PlaceCounter = {
    window: () => siteWindowOf(env, client),
    most: SITE_PULL_REQUESTS.most,
    whose: 'IPv6 /48',
    network: client.site,
    hash: client.siteHash('alert'),
  };
  return [own, site];
}

function outOfReach(c: Context<AppEnv>, error: unknown): Refusal {
  c.var.logger.error('the limits of a push could not be checked', { error });
  return unguarded(error);
}
