/**
 * The places of a client: how many pull requests it may open within an hour. The account's object has them.
 *
 * This isolate remembers which clients have none left: their pushes reach neither the host, nor the account, which said
 * so, and few of them the guard. A place may be given back in another isolate, so this is believed for a minute at
 * most.
 */
import type { Context } from 'hono';
import { BURST_PUSHES, BURST_WINDOW_MS } from '../../durable/guard/burst.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type {
  PlacesAnswer,
  PlacesOf,
  TakenPlaces,
  WantedPlaces,
} from '../../durable/host-account/openings.ts';
import type { AppEnv } from '../../env.ts';
import { onForget, Recent } from '../../isolate/recent.ts';
import { ClientAttempts } from '../../limits/client-attempts.ts';
import { SITE_PULL_REQUESTS, waitText } from '../../limits/limits.ts';
import { type FullPlaces, MOST_PULL_REQUESTS } from '../../limits/places.ts';
import { guardOf } from '../../objects.ts';
import type { Place } from '../../push/push-host.ts';
import { Refusal } from '../../push/reply/refusal.ts';
import { keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { giveShareBack, type TakenShare } from '../request/account-share.ts';
import type { Client } from '../request/client.ts';
import { outOfReach, takeOpening, tellOpened } from './push-share.ts';

interface FullClient {
  /** When there is a place again, if none is given back; milliseconds since 1970. */
  readonly freeAt: number;
  /** By their keys: the pushes that have the places. One that is repeated goes on. */
  readonly holders: readonly string[];
  /** The account has refused a push of the client for it. False: it has only given its last place. */
  readonly isRefused: boolean;
}

/** By the names that the account has for them. */
const fullClients = new Recent<FullClient>({ most: 10_000, lifeMs: 60_000 });
const told = new ClientAttempts();
onForget(() => told.clear());

/**
 * The client's own places, and those of its IPv6 /48, if it has one.
 * @param pushHash one that is repeated shares the places that it has.
 */
export async function placesOf(c: Context<AppEnv>, owner: Client, pushHash: string): Promise<WantedPlaces> {
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const own = { client: owner.hash('share'), most: MOST_PULL_REQUESTS, whose: 'IP' } as const;
  const site = { client: owner.siteHash('share'), most: SITE_PULL_REQUESTS.most, whose: 'IPv6 /48' } as const;
  // Another hash than the push's own: what is kept with an address must not lead to the pull requests that came from
  // it.
  const key = keyedHash(secret, 'place', pushHash);
  return { key, of: owner.site === owner.network ? [own] : [own, site] };
}

/** Whether nobody is known to be full: then there is nothing to ask. */
export function isNobodyFull(): boolean {
  return fullClients.size === 0;
}

/**
 * The refusal of a push whose client has no place left, as far as this isolate knows. `isTold`: the account knows that
 * the client tries, and so does the operator.
 */
export function knownFull(places: WantedPlaces) {
  const now = Date.now();
  for (const each of places.of) {
    const known = fullClients.get(each.client, now);
    if (known === null || known.freeAt <= now || known.holders.includes(places.key)) continue;
    return { places, refusal: noneLeft(each, known.freeAt - now), isTold: known.isRefused };
  }
  return null;
}

/**
 * Counts a push of a client that is full. Answers whether to tell the guard: the operator must learn of a burst even
 * if its pushes are refused, so the guard gets as many pushes of a client in a minute as make a burst.
 */
export function mustBeTold(client: string): boolean {
  return told.hit(client, [{ most: BURST_PUSHES, withinMs: BURST_WINDOW_MS }], Date.now()).allowed;
}

/** The account refuses a push, and counts that; null: there is a place after all. Rejects if it cannot be asked. */
export async function refuseFull(
  c: Context<AppEnv>,
  owner: Client,
  places: WantedPlaces,
): Promise<Refusal | null> {
  const answer = await hostAccountOf(c.env, c.var.host).refusePlaces(places);
  return answer === null ? null : refusedAsFull(c, owner, places, answer);
}

/** @param waitMs null: nobody knows. */
export function noneLeft({ most, whose }: PlacesOf, waitMs: number | null): Refusal {
  const lines = [`Rate limit exceeded: max ${most} PRs per hour per ${whose}.`, 'Please try again later.'];
  if (waitMs === null) return new Refusal('rate-limited', 'rate limit exceeded', lines);
  const wait = `Try again in ${waitText(waitMs)}.`;
  return new Refusal('rate-limited', 'rate limit exceeded', [...lines, wait], { waitMs });
}

/** @param answered the push holds a place, but was answered before, and wants another one. */
function refusedAsFull(
  c: Context<AppEnv>,
  owner: Client,
  { key, of }: WantedPlaces,
  { client, refusal: { full, isAlertDue, attempts } }: Extract<PlacesAnswer, { kind: 'full' }>,
  answered = false,
): Refusal {
  const places = of.find((each) => each.client === client) as PlacesOf;
  if (isAlertDue) c.executionCtx.waitUntil(alertOperator(c, owner, places, attempts));
  if (full !== undefined) {
    const holders = fullClients.get(client)?.holders ?? full.holders;
    remember(client, { ...full, holders: answered ? holders.filter((each) => each !== key) : holders }, true);
  }
  return noneLeft(places, full?.waitMs ?? null);
}

/** Never rejects. */
async function alertOperator(
  c: Context<AppEnv>,
  owner: Client,
  { most, whose }: PlacesOf,
  attempts: number,
): Promise<void> {
  const isOwn = whose === 'IP';
  const network = isOwn ? owner.network : owner.site;
  const hash = isOwn ? owner.hash('alert') : owner.siteHash('alert');
  await guardOf(c.env)
    .rateLimitExceeded({ network, hash }, { attempts, most })
    .catch((error: unknown) => c.var.logger.error('an alert could not be raised', { error }));
}

function remember(client: string, { holders, waitMs }: FullPlaces, isRefused: boolean): void {
  fullClients.set(client, { freeAt: Date.now() + waitMs, holders, isRefused });
}

/** Who has been given the last place needs no call to be refused. */
function noteTaken({ full }: TakenPlaces): void {
  for (const each of full) remember(each.client, each.full, false);
}

export function openPlace(c: Context<AppEnv>, owner: Client, places: WantedPlaces): Place {
  const nothing: TakenShare = { taken: null, key: places.key, clients: [], target: null };
  /** `clients`: without those whose places an earlier attempt at the push has taken. */
  let held = nothing;
  return {
    async take(repository, policyLimits) {
      const share = await takeOpening(c, {}, places, repository, policyLimits);
      if (share.refusal?.kind === 'full') throw refusedAsFull(c, owner, places, share.refusal);
      held = share.back;
      noteTaken(share);
    },
    async settle(isAnother) {
      // Of those whose places are not taken by this attempt.
      const of = places.of.filter(({ client }) => !held.clients.includes(client));
      if (of.length === 0) return;
      const answer = await hostAccountOf(c.env, c.var.host)
        .reservePlaces({ ...places, of }, isAnother)
        .catch((error: unknown) => {
          throw outOfReach(c, error);
        });
      if (answer.kind === 'full') throw refusedAsFull(c, owner, places, answer, isAnother);
      held = { ...held, clients: [...held.clients, ...answer.own] };
      noteTaken(answer);
    },
    opened: (pullRequest) => tellOpened(c, pullRequest, owner.siteHash('burst')),
    async release() {
      const back = held;
      held = nothing;
      await giveShareBack(c, back);
      // Not before: meanwhile, the account may have said that there is none.
      for (const client of back.clients) fullClients.delete(client);
    },
  };
}
