/** A push asks for its share of the bot account: what that answers, as a refusal. */
import type { Context } from 'hono';
import { hostNameOf } from '../../config/hosts.ts';
import { openBackOff } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { LONGEST_WAIT_MS } from '../../host/rest/retry.ts';
import { heldBack, othersFirst, unchecked, unguarded } from '../../push/admission.ts';
import type { Refusal } from '../../push/reply/refusal.ts';
import {
  askAccount,
  askForShare,
  giveShareBack,
  type Share,
  shareExplanation,
  takenOf,
  type Wanted,
} from '../request/account-share.ts';
import { sentence } from '../request/refused.ts';

/** @returns what was taken; nothing, if it has a `refusal`. @throws Refusal */
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
  await giveShareBack(c, takenOf(share, wanted));
  throw (
    paused ?? (share.isKnown ? othersFirst : unchecked)(sentence(shareExplanation(c, share)), share.waitMs)
  );
}

export function outOfReach(c: Context<AppEnv>, error: unknown): Refusal {
  c.var.logger.error('the limits of a push could not be checked', { error });
  return unguarded(error);
}

/** The host wants to be left alone, as far as this isolate knows. */
export function refusedByPause(c: Context<AppEnv>): Refusal | null {
  const leftMs = openBackOff(c.env, c.var.host).leftMs();
  return leftMs > LONGEST_WAIT_MS ? heldBack(hostNameOf(c.var.host), leftMs) : null;
}
