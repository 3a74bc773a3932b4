/**
 * What a held push needs of the bot account when it is published. Its client was admitted when it was pushed; here it is
 * known by a random name only, under which its shares are counted.
 */
import type { Context } from 'hono';
import { hostNameOf } from '../../config/hosts.ts';
import { openBackOff } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { LONGEST_WAIT_MS } from '../../host/rest/retry.ts';
import { guardOf } from '../../objects.ts';
import {
  type Admission,
  heldBack,
  othersFirst,
  type Place,
  tooManyThere,
  unchecked,
} from '../../push/admission.ts';
import { askForShare, giveShareBack, type Share, shareExplanation } from '../request/account-share.ts';
import { sentence } from '../request/refused.ts';
import {
  countAtTarget,
  overTarget,
  type TargetLimit,
  targetLimit,
  uncountAtTarget,
} from '../request/target-limit.ts';

/** Of what may be created: it is left to those who wait for an answer, however much is due. */
const LEFT_TO_LIVE = 1 / 16;

/** @param client its random name. */
export function heldAdmission(c: Context<AppEnv>, client: string): Admission {
  const limits = c.var.config.limits.creations.map(({ most, withinMs }) => ({
    most: Math.max(1, Math.floor(most * (1 - LEFT_TO_LIVE))),
    withinMs,
  }));

  /** @throws Refusal */
  async function takeShare(creates: boolean): Promise<Share> {
    const share = await askForShare(c, creates, client, limits);
    if (share.isKnown) openBackOff(c.env, c.var.host).learn(share.pauseMs);
    const leftMs = openBackOff(c.env, c.var.host).leftMs();
    const paused = leftMs > LONGEST_WAIT_MS ? heldBack(hostNameOf(c.var.host), leftMs) : null;
    if (paused === null && share.waitMs === 0) return share;
    await giveShareBack(c, share);
    throw (
      paused ?? (share.isKnown ? othersFirst : unchecked)(sentence(shareExplanation(c, share)), share.waitMs)
    );
  }

  return {
    enter: async () => null,
    reserve: async () => openPlace(),
    peek: async () => null,
    lookUp: async () => {},
    takeShare: async () => void (await takeShare(false)),
    takeFork: async () => void (await takeShare(true)),
  };

  function openPlace(): Place {
    let share: Share | null = null;
    let target: TargetLimit | null = null;
    return {
      heldBy: null,
      async takeShare(repository, policyLimits) {
        const limit = await targetLimit(c, repository, null, policyLimits);
        const waitMs = await countAtTarget(c, limit);
        if (waitMs > 0) throw tooManyThere(sentence(overTarget(limit, waitMs)), waitMs);
        target = limit;
        share = await takeShare(true);
      },
      // Its client has given a place for it when it was pushed.
      settle: async () => {},
      async opened(pullRequest) {
        await guardOf(c.env)
          .opened({ ...pullRequest, pushedAt: Date.now() }, client)
          .catch((error: unknown) =>
            c.var.logger.error('an open pull request could not be counted', { error }),
          );
      },
      async release() {
        const [taken, counted] = [share, target];
        [share, target] = [null, null];
        await Promise.all([
          taken === null ? null : giveShareBack(c, taken),
          counted === null ? null : uncountAtTarget(c, counted),
        ]);
      },
    };
  }
}
