/**
 * What a push takes of the bot account: its share, and with it one of the things that may be opened in a repository.
 * What the account answers becomes a refusal.
 */
import type { Context } from 'hono';
import { hostNameOf } from '../../config/hosts.ts';
import type { WantedPlaces } from '../../durable/host-account/openings.ts';
import { openBackOff } from '../../durable/host-access.ts';
import type { Told } from '../../durable/pull-request/pull-request.ts';
import type { AppEnv } from '../../env.ts';
import { HostPause } from '../../host/failure.ts';
import { LONGEST_WAIT_MS } from '../../host/rest/retry.ts';
import { within } from '../../isolate/within.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { guardOf } from '../../objects.ts';
import { Refusal } from '../../push/reply/refusal.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { type OpenedPullRequest, recordOpened } from '../../stats/opened.ts';
import { openStatistics } from '../../stats/statistics.ts';
import {
  askAccount,
  askForShare,
  giveShareBack,
  type Share,
  shareExplanation,
  type Wanted,
} from '../request/account-share.ts';
import { sentence } from '../request/refused.ts';
import { overTarget, targetLimit } from '../request/target-limit.ts';

/** How long an answer waits for the guard and statistics. */
const TELLING_MS = 3_000;

/** @throws Refusal while the host asks for a pause, or if others come first. */
export async function takeShare(c: Context<AppEnv>, wanted: Wanted): Promise<Share> {
  // Else nobody can tell how many pull requests its client has opened.
  const share = await (wanted.opening === undefined
    ? askForShare(c, wanted)
    : askAccount(c, wanted).catch((error: unknown) => {
        throw outOfReach(c, error);
      }));
  if (share.isKnown) openBackOff(c.env, c.var.host).learn(share.pauseMs);
  const paused = refusedByPause(c);
  if (share.refusal !== null || (paused === null && share.waitMs === 0)) return share;
  await giveShareBack(c, share.back);
  throw paused ?? littleLeft(share.isKnown, sentence(shareExplanation(c, share)), share.waitMs);
}

/**
 * For a pull request. @param places null: its client has given one already.
 * @returns what was taken; nothing, if a client has no place left, which is its `refusal`. @throws Refusal
 */
export async function takeOpening(
  c: Context<AppEnv>,
  as: Pick<Wanted, 'name' | 'limits'>,
  places: WantedPlaces | null,
  repository: RepositoryName,
  policyLimits: readonly Limit[],
): Promise<Share> {
  const target = await targetLimit(c, repository, null, policyLimits);
  const share = await takeShare(c, { ...as, creates: true, opening: { places, target } });
  if (share.refusal?.kind !== 'target') return share;
  const { waitMs } = share.refusal;
  throw tooManyThere(sentence(overTarget(target, waitMs)), waitMs);
}

/**
 * A pull request is open: tells the guard and statistics before its push is answered. Answers who could not be told.
 * @param client by which the guard counts. Never rejects.
 */
export async function tellOpened(
  c: Context<AppEnv>,
  { number, ...opened }: OpenedPullRequest & { readonly number: number },
  client: string,
): Promise<readonly Told[]> {
  const { env } = c;
  const { config, http, logger } = c.var;
  const { prHash, host, owner, repo, url, openedAt } = opened;
  const tell = async (whom: Told, telling: Promise<void>): Promise<readonly Told[]> => {
    try {
      await within(TELLING_MS, telling);
      return [];
    } catch (error) {
      logger.warn('an open pull request will be told of later', { error });
      return [whom];
    }
  };
  const tracking = guardOf(env).opened({ prHash, host, owner, repo, number, url }, client, openedAt);
  const left = await Promise.all([
    tell('tracking', tracking),
    tell('statistics', recordOpened(env, config, http, opened)),
  ]);
  await openStatistics(env, config, logger, http).forgetCount(opened);
  return left.flat();
}

/** The refusal of a push while the host asks for a pause, as far as this isolate knows; null: it does not. */
export function refusedByPause(c: Context<AppEnv>): Refusal | null {
  const leftMs = openBackOff(c.env, c.var.host).leftMs();
  return leftMs > LONGEST_WAIT_MS ? heldBack(hostNameOf(c.var.host), leftMs) : null;
}

export function outOfReach(c: Context<AppEnv>, error: unknown): Refusal {
  c.var.logger.error('the limits of a push could not be checked', { error });
  return unguarded(error);
}

/** The code host asks for a pause. Going on would fail half-way, and can cost the account. */
export function heldBack(hostName: string, pauseMs: number): Refusal {
  const cause = new HostPause(hostName, pauseMs);
  const lines = [cause.publicMessage, 'Nothing was changed there. Push again after that.'];
  return new Refusal('account', 'the code host asks to wait', lines, { cause, waitMs: pauseMs });
}

/** @param isKnown what is left to the account. @param explanation why, and how long to wait. */
export function littleLeft(isKnown: boolean, explanation: string, waitMs: number): Refusal {
  const reason = isKnown ? 'the bot account has little left' : 'the service cannot check its limits';
  const lines = [explanation, 'Nothing was changed.'];
  return new Refusal('account', reason, lines, { outcome: 'rate-limited', waitMs });
}

/** @param explanation which limit, and how long to wait. */
export function tooManyThere(explanation: string, waitMs: number): Refusal {
  const lines = [explanation, 'Nothing was changed.'];
  return new Refusal('rate-limited', 'too many pull requests for this repository', lines, { waitMs });
}

export function unguarded(cause: unknown): Refusal {
  const lines = ['Nothing was changed. Push again in a few minutes.'];
  return new Refusal('unguarded', 'the service cannot check its limits', lines, { cause });
}
