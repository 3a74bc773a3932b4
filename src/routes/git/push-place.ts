/** Connects the place of one pull request (src/push/admission.ts) with the account's object and the guard. */
import type { Context } from 'hono';
import type {
  PlacesAnswer,
  PlacesOf,
  TakenPlaces,
  WantedPlaces,
} from '../../durable/host-account/openings.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { SITE_PULL_REQUESTS } from '../../limits/limits.ts';
import { MOST_PULL_REQUESTS } from '../../limits/places.ts';
import { guardOf } from '../../objects.ts';
import { type Place, rateLimited, tooManyThere } from '../../push/admission.ts';
import { Refusal } from '../../push/reply/refusal.ts';
import { keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { giveShareBack, type TakenShare, takenOf } from '../request/account-share.ts';
import type { Client } from '../request/client.ts';
import { sentence } from '../request/refused.ts';
import { overTarget, targetLimit } from '../request/target-limit.ts';
import { forgetFull, fullForMs, isRefused, rememberFull, rememberLast } from './full-clients.ts';
import { outOfReach, takeShare } from './push-share.ts';

/**
 * The client's own places, and those of its IPv6 /48, if it has one.
 * @param pushHash one that is repeated shares the places that it has.
 */
export async function placesOf(c: Context<AppEnv>, owner: Client, pushHash: string): Promise<WantedPlaces> {
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const own = { client: owner.hash('share'), most: MOST_PULL_REQUESTS, whose: 'IP' } as const;
  const site = { client: owner.siteHash('share'), most: SITE_PULL_REQUESTS.most, whose: 'IPv6 /48' } as const;
  // Another hash than the push's own: what is kept with an address must not lead to the pull requests that came from it.
  const key = keyedHash(secret, 'place', pushHash);
  return { key, of: owner.site === owner.network ? [own] : [own, site] };
}

/**
 * The refusal of a push whose client has no place left, as far as this isolate knows. `isTold`: the account knows that
 * the client tries, and so does the operator.
 */
export function knownFull({
  key,
  of,
}: WantedPlaces): { readonly refusal: Refusal; readonly isTold: boolean } | null {
  const full = of.find(({ client }) => fullForMs(client, key) > 0);
  if (full === undefined) return null;
  return { refusal: noneLeft(full, fullForMs(full.client, key)), isTold: isRefused(full.client) };
}

/** The same from the account; null: there is a place after all. Rejects if it cannot be asked. */
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
  return rateLimited(most, whose, waitMs);
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
  if (full !== undefined) rememberFull(client, full, answered ? key : null);
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

/** Who has been given the last place needs no call to be refused. */
function noteTaken({ full }: TakenPlaces): void {
  for (const each of full) rememberLast(each.client, each.full);
}

/** @param pushedAt when the push began, by the guard's clock. */
export function openPlace(c: Context<AppEnv>, owner: Client, places: WantedPlaces, pushedAt: number): Place {
  const NOTHING: TakenShare = { taken: null, key: places.key, clients: [], target: null };
  /** `clients`: without those whose places an earlier attempt at the push has taken. */
  let held = NOTHING;

  /** Of those whose places are not taken by this attempt. @throws Refusal */
  async function takePlaces(isAnother: boolean): Promise<void> {
    const of = places.of.filter(({ client }) => !held.clients.includes(client));
    if (of.length === 0) return;
    const answer = await account()
      .reservePlaces({ ...places, of }, isAnother)
      .catch((error: unknown) => {
        throw outOfReach(c, error);
      });
    if (answer.kind === 'full') throw refusedAsFull(c, owner, places, answer, isAnother);
    held = { ...held, clients: [...held.clients, ...answer.own] };
    noteTaken(answer);
  }

  return {
    async take(repository, policyLimits) {
      const limit = await targetLimit(c, repository, null, policyLimits);
      const wanted = { creates: true, opening: { places, target: limit } };
      const share = await takeShare(c, wanted);
      const { refusal } = share;
      if (refusal?.kind === 'full') throw refusedAsFull(c, owner, places, refusal);
      if (refusal !== null) throw tooManyThere(sentence(overTarget(limit, refusal.waitMs)), refusal.waitMs);
      held = takenOf(share, wanted);
      noteTaken(share);
    },
    reserve: () => takePlaces(false),
    settle: takePlaces,
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
      const back = held;
      held = NOTHING;
      await giveShareBack(c, back);
      // Not before: meanwhile, the account may have said that there is none.
      for (const client of back.clients) forgetFull(client);
    },
  };

  function account() {
    return hostAccountOf(c.env, c.var.host);
  }
}
