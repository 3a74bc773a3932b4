/** Connects the admission of one push with the guard and with the limit of its address. */
import type { Context } from 'hono';
import { hostNameOf } from '../../config/hosts.ts';
import { openBackOff } from '../../durable/host-access.ts';
import type { ClientWindows } from '../../durable/clients/client-windows.ts';
import type { AppEnv, Env } from '../../env.ts';
import { FORKS, SITE_PULL_REQUESTS, waitText } from '../../limits/limits.ts';
import { MOST_PULL_REQUESTS } from '../../limits/places.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { LONGEST_WAIT_MS } from '../../host/rest/retry.ts';
import {
  type Admission,
  heldBack,
  othersFirst,
  type Place,
  rateLimited,
  suspended,
  tooManyCalls,
  tooManyForks,
  tooManyLookUps,
  tooManyPushes,
  tooManyThere,
  unchecked,
  unguarded,
} from '../../push/admission.ts';
import { Refusal } from '../../push/reply/refusal.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { suspensionOf } from '../request/suspension.ts';
import { askForShare, giveShareBack, type Share, shareExplanation } from '../request/account-share.ts';
import { clientWindowsOf, guardOf } from '../../objects.ts';
import { type Client, clientOf, siteWindowKey, windowKey } from '../request/client.ts';
import { countVainLookUp, knownWait, rememberWait, tooMany } from '../request/rate-limit.ts';
import { sentence } from '../request/refused.ts';
import {
  countAtTarget,
  overTarget,
  type TargetLimit,
  targetLimit,
  uncountAtTarget,
} from '../request/target-limit.ts';
import { forgetFull, fullForMs, isNobodyFull, mustBeTold, rememberFull } from './full-clients.ts';

export function pushAdmission(c: Context<AppEnv>): Admission {
  let asked: Promise<Client> | null = null;
  const client = (): Promise<Client> => (asked ??= clientOf(c));
  /** When the push began, by the guard's clock. */
  let pushedAt = 0;

  return {
    async enter(isWithdrawal, pushHash, mayWait = false) {
      try {
        const known = await knownRefusal(isWithdrawal, pushHash);
        // Panic comes first (contract, 4.6), also for a push that does not reach the guard.
        if (known !== null) return (await suspensionOf(c.env)).panicMode ? suspended() : known;
        const pusher = await client();
        const [address, site] = [pusher.hash('burst'), pusher.siteHash('burst')];
        const { pushes } = c.var.config.limits;
        const { panicMode, at, waitMs } = await guardOf(c.env).admit(address, pushes, site);
        pushedAt = at;
        await rememberWait(c, 'pushes', waitMs);
        if (panicMode) return suspended();
        if (waitMs > 0) return tooManyPushes(sentence(tooMany(c, 'pushes', waitMs)));
        return mayWait ? null : refusedByPause();
      } catch (error) {
        return outOfReach(c, error);
      }
    },

    async reserve(pushHash) {
      const [owner, key] = [await client(), await placeKey(c, pushHash)];
      const counters = countersOf(c.env, owner);
      let heldBy: string | null = null;
      const noteHeld = (name: string): void => void (heldBy = name);
      const own = await reserve(counters, key, false, noteHeld);
      return placeOf(owner, counters, key, own, heldBy);
    },

    async peek(pushHash) {
      try {
        const [owner, key] = [await client(), await placeKey(c, pushHash)];
        for (const { windows, client: of, most, whose } of countersOf(c.env, owner)) {
          const waitMs = await windows().placeWaitMs(of, key, most);
          if (waitMs > 0) return rateLimited(most, whose, waitMs);
        }
        return null;
      } catch (error) {
        return outOfReach(c, error);
      }
    },

    async lookUp() {
      const known = await knownWait(c, 'lookUps').catch(() => 0);
      const waitMs = known > 0 ? known : await countVainLookUp(c);
      if (waitMs > 0) throw tooManyLookUps(sentence(tooMany(c, 'lookUps', waitMs)));
    },

    takeShare: async () => void (await takeShare(false)),

    async takeFork() {
      const key = siteWindowKey(await client());
      const { waitMs } = await clientWindowsOf(c.env, key)
        .hit(key, 'forks', [FORKS])
        .catch((error: unknown) => {
          throw outOfReach(c, error);
        });
      if (waitMs > 0) throw tooManyForks(forksText(waitMs));
      await takeShare(true);
    },
  };

  /** Why the client is over a limit, as far as this isolate knows. */
  async function knownRefusal(
    isWithdrawal: boolean,
    pushHash?: () => Promise<string>,
  ): Promise<Refusal | null> {
    const callsMs = isWithdrawal ? 0 : await knownWait(c, 'calls');
    if (callsMs > 0) return tooManyCalls(sentence(tooMany(c, 'calls', callsMs)));
    const pushesMs = await knownWait(c, 'pushes');
    if (pushesMs > 0) return tooManyPushes(sentence(tooMany(c, 'pushes', pushesMs)));
    if (pushHash === undefined || isNobodyFull()) return null;
    const [owner, key] = [await client(), await placeKey(c, await pushHash())];
    const full = countersOf(c.env, owner).find((each) => fullForMs(each.client, key) > 0);
    if (full === undefined || mustBeTold(siteWindowKey(owner))) return null;
    return rateLimited(full.most, full.whose, fullForMs(full.client, key));
  }

  /** As far as this isolate knows. */
  function refusedByPause(): Refusal | null {
    const leftMs = openBackOff(c.env, c.var.host).leftMs();
    return leftMs > LONGEST_WAIT_MS ? heldBack(hostNameOf(c.var.host), leftMs) : null;
  }

  /** @throws Refusal */
  async function takeShare(creates: boolean): Promise<Share> {
    const share = await askForShare(c, creates);
    if (share.isKnown) openBackOff(c.env, c.var.host).learn(share.pauseMs);
    const paused = refusedByPause();
    if (paused === null && share.waitMs === 0) return share;
    await giveShareBack(c, share);
    throw (
      paused ?? (share.isKnown ? othersFirst : unchecked)(sentence(shareExplanation(c, share)), share.waitMs)
    );
  }

  /** Counts a pull request that is about to be opened. @throws Refusal */
  async function countOpening(
    repository: RepositoryName,
    policyLimits: readonly Limit[],
  ): Promise<TargetLimit> {
    try {
      const limit = await targetLimit(c, repository, null, policyLimits);
      const waitMs = await countAtTarget(c, limit);
      if (waitMs > 0) throw tooManyThere(sentence(overTarget(limit, waitMs)), waitMs);
      return limit;
    } catch (error) {
      throw error instanceof Refusal ? error : outOfReach(c, error);
    }
  }

  /**
   * Takes a place of each. Answers those that nobody shares. One after the other: a client that has none left takes none
   * from its neighbours, not even for a moment. @throws Refusal
   */
  async function reserve(
    counters: readonly PlaceCounter[],
    key: string,
    isAnother = false,
    noteHeld?: (name: string) => void,
  ): Promise<readonly PlaceCounter[]> {
    const own: PlaceCounter[] = [];
    try {
      for (const counter of counters) {
        const { windows, client: of, most, whose } = counter;
        const fullMs = isAnother ? 0 : fullForMs(of, key);
        if (fullMs > 0) throw rateLimited(most, whose, fullMs);
        // If the answer is lost, the place that it may have given stays taken: nobody knows whose it would be.
        const { isReserved, isShared, full, heldBy, ...refused } = await windows().reservePlace(
          of,
          key,
          most,
          isAnother,
        );
        if (heldBy !== undefined) noteHeld?.(heldBy);
        if (isReserved && !isShared) own.push(counter);
        if (isReserved) continue;
        if (refused.isAlertDue) c.executionCtx.waitUntil(alertOperator(counter, refused.attempts));
        if (full !== undefined) rememberFull(of, full, isAnother ? key : null);
        throw rateLimited(most, whose, full?.waitMs ?? null);
      }
      return own;
    } catch (error) {
      c.executionCtx.waitUntil(release(own, key));
      throw error instanceof Refusal ? error : outOfReach(c, error);
    }
  }

  /** @param own those of the counters that the push shares with no earlier attempt. */
  function placeOf(
    owner: Client,
    counters: readonly PlaceCounter[],
    key: string,
    own: readonly PlaceCounter[],
    heldBy: string | null,
  ): Place {
    let share: Share | null = null;
    let target: TargetLimit | null = null;
    return {
      heldBy,
      async takeShare(repository, policyLimits) {
        // Side by side, so that a push waits no longer for it. `release` gives both back.
        const [counted, taken] = await Promise.allSettled([
          countOpening(repository, policyLimits),
          takeShare(true),
        ]);
        if (counted.status === 'fulfilled') target = counted.value;
        if (taken.status === 'fulfilled') share = taken.value;
        if (taken.status === 'rejected') throw taken.reason;
        if (counted.status === 'rejected') throw counted.reason;
      },
      async settle(isAnother) {
        const shared = counters.filter((counter) => !own.includes(counter));
        own = [...own, ...(await reserve(shared, key, isAnother))];
      },
      async opened(pullRequest) {
        const tell = () => guardOf(c.env).opened({ ...pullRequest, pushedAt }, owner.siteHash('burst'));
        // Once more if it cannot be reached for a moment: the pull request is open, and its push must not fail.
        await tell()
          .catch(tell)
          .catch((error: unknown) => {
            c.var.logger.error('an open pull request could not be counted', { error });
          });
      },
      async release() {
        const [places, taken, counted] = [own, share, target];
        [own, share, target] = [[], null, null];
        await Promise.all([
          release(places, key),
          taken === null ? null : giveShareBack(c, taken),
          counted === null ? null : uncountAtTarget(c, counted),
        ]);
      },
    };
  }

  /** A place that is not returned becomes free after an hour. */
  async function release(counters: readonly PlaceCounter[], key: string): Promise<void> {
    await Promise.all(counters.map(({ windows, client: of }) => windows().releasePlace(of, key))).catch(
      (error: unknown) => c.var.logger.warn('a place could not be given back', { error }),
    );
    // Not before: meanwhile, the window may have said that there is none.
    for (const counter of counters) forgetFull(counter.client);
  }

  async function alertOperator({ network, hash, most }: PlaceCounter, attempts: number): Promise<void> {
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
  return `${text} Try again in ${waitText(waitMs)}, or push to one of these.`;
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
