/** Connects the admission of one push with the guard and with the limit of its address. */
import type { Context } from 'hono';
import { hostNameOf } from '../../config/hosts.ts';
import { openBackOff } from '../../durable/host-access.ts';
import type { ClientWindows } from '../../durable/clients/client-windows.ts';
import type { AppEnv, Env } from '../../env.ts';
import { FORKS, SITE_PULL_REQUESTS } from '../../limits/limits.ts';
import { MOST_PULL_REQUESTS } from '../../limits/places.ts';
import { LONGEST_WAIT_MS } from '../../host/rest/retry.ts';
import {
  type Admission,
  heldBack,
  othersFirst,
  type Place,
  rateLimited,
  suspended,
  tooManyForks,
  tooManyLookUps,
  tooManyPushes,
  unchecked,
  unguarded,
} from '../../push/admission.ts';
import { Refusal } from '../../push/reply/refusal.ts';
import { keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { askForShare, giveShareBack, type Share, shareExplanation } from '../request/account-share.ts';
import { clientWindowsOf, guardOf } from '../../objects.ts';
import { type Client, clientOf, siteWindowKey, windowKey } from '../request/client.ts';
import { countVainLookUp, knownWait, tooMany } from '../request/rate-limit.ts';
import { sentence } from '../request/refused.ts';
import { retryAfter } from '../request/write-refusal.ts';

export function pushAdmission(c: Context<AppEnv>): Admission {
  let asked: Promise<Client> | null = null;
  const client = (): Promise<Client> => (asked ??= clientOf(c));
  /** When the push began, by the guard's clock. */
  let pushedAt = 0;
  /** What it may create at the host, and has not. */
  let share: Share | null = null;

  return {
    enter: refusedByGuard,

    async takeShare(creates) {
      share = await askForShare(c, creates);
      const refusal = refusedByHost(share);
      if (refusal !== null) throw refusal;
    },

    async takeFork() {
      const key = siteWindowKey(await client());
      const { waitMs } = await clientWindowsOf(c.env, key)
        .hit(key, 'forks', [FORKS])
        .catch((error: unknown) => {
          throw outOfReach(c, error);
        });
      if (waitMs > 0) throw tooManyForks(forksText(waitMs));
      const refusal = refusedByHost(await askForShare(c, true));
      if (refusal !== null) throw refusal;
    },

    async lookUp() {
      const known = await knownWait(c, 'lookUps').catch(() => 0);
      const waitMs = known > 0 ? known : await countVainLookUp(c);
      if (waitMs > 0) throw tooManyLookUps(sentence(tooMany(c, 'lookUps', waitMs)));
    },

    leave,

    async reserve(pushHash) {
      const [owner, key] = [await client(), await placeKey(c, pushHash)];
      const counters = countersOf(c.env, owner);
      const full = await reservePlaces(counters, key);
      if (full === null) return placeOf(owner, counters, key);
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
      if (waitMs > 0) return tooManyPushes(sentence(tooMany(c, 'pushes', waitMs)));
      return refusedByPause();
    } catch (error) {
      return outOfReach(c, error);
    }
  }

  /** As far as this isolate knows. */
  function refusedByPause(): Refusal | null {
    const leftMs = openBackOff(c.env, c.var.host).leftMs();
    return leftMs > LONGEST_WAIT_MS ? heldBack(hostNameOf(c.var.host), leftMs) : null;
  }

  function refusedByHost(taken: Share): Refusal | null {
    if (taken.isKnown) openBackOff(c.env, c.var.host).learn(taken.pauseMs);
    const refusal = refusedByPause();
    if (refusal !== null || taken.waitMs === 0) return refusal;
    return (taken.isKnown ? othersFirst : unchecked)(sentence(shareExplanation(c, taken)));
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
        const reservation = await counter.windows().reservePlace(counter.client, key, counter.most);
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
          ...counters.map(({ windows, client: of }) => counted(() => windows().confirmPlace(of, key))),
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
    await Promise.all(counters.map(({ windows, client: of }) => windows().releasePlace(of, key))).catch(
      (error: unknown) => c.var.logger.warn('a place could not be given back', { error }),
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

/** Another hash than the push's own: what is kept with an address must not lead to the pull requests that came from it. */
async function placeKey(c: Context<AppEnv>, pushHash: string): Promise<string> {
  return keyedHash(await serviceSecret(c.env, c.var.config.identitySecret), 'place', pushHash);
}

function forksText(waitMs: number): string {
  const text = `Pushes from your network have made the service fork ${FORKS.most} repositories within an hour, which is the limit.`;
  return `${text} Try again in ${retryAfter(waitMs)} s, or push to one of these.`;
}

/** What counts the pull requests that a client opens. */
interface PlaceCounter {
  /** A new stub for each call: one that has failed may fail for ever. */
  readonly windows: () => DurableObjectStub<ClientWindows>;
  /** As they name it when the push begins: a place that is taken today is returned today. */
  readonly client: string;
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
  const [ownKey, siteKey] = [windowKey(client), siteWindowKey(client)];
  const own: PlaceCounter = {
    windows: () => clientWindowsOf(env, ownKey),
    client: ownKey,
    most: MOST_PULL_REQUESTS,
    whose: 'IP',
    network: client.network,
    hash: client.hash('alert'),
  };
  if (client.site === client.network) return [own];
  const site: PlaceCounter = {
    windows: () => clientWindowsOf(env, siteKey),
    client: siteKey,
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
