/**
 * What a held push needs of the bot account when it is published. Its client was admitted when it was pushed; here it is
 * known by a random name only, under which its shares are counted.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { guardOf } from '../../objects.ts';
import { type Admission, type Place, tooManyThere } from '../../push/admission.ts';
import { giveShareBack, type TakenShare, takenOf } from '../request/account-share.ts';
import { sentence } from '../request/refused.ts';
import { overTarget, targetLimit } from '../request/target-limit.ts';
import { takeShare } from './push-share.ts';

/** Of what may be created: it is left to those who wait for an answer, however much is due. */
const LEFT_TO_LIVE = 1 / 16;

/** @param client its random name. */
export function heldAdmission(c: Context<AppEnv>, client: string): Admission {
  const limits = c.var.config.limits.creations.map(({ most, withinMs }) => ({
    most: Math.max(1, Math.floor(most * (1 - LEFT_TO_LIVE))),
    withinMs,
  }));
  const as = { name: client, limits };

  return {
    enter: async () => null,
    place: async () => openPlace(),
    peek: async () => null,
    lookUp: async () => {},
    takeShare: async () => void (await takeShare(c, { ...as, creates: false })),
    takeFork: async () => void (await takeShare(c, { ...as, creates: true })),
  };

  function openPlace(): Place {
    let held: TakenShare | null = null;
    return {
      async take(repository, policyLimits) {
        const limit = await targetLimit(c, repository, null, policyLimits);
        const wanted = { ...as, creates: true, opening: { places: null, target: limit } };
        const share = await takeShare(c, wanted);
        const waitMs = share.refusal?.kind === 'target' ? share.refusal.waitMs : 0;
        if (waitMs > 0) throw tooManyThere(sentence(overTarget(limit, waitMs)), waitMs);
        held = takenOf(share, wanted);
      },
      // Its client has given a place for it when it was pushed.
      reserve: async () => {},
      settle: async () => {},
      async opened(pullRequest) {
        await guardOf(c.env)
          .opened({ ...pullRequest, pushedAt: Date.now() }, client)
          .catch((error: unknown) =>
            c.var.logger.error('an open pull request could not be counted', { error }),
          );
      },
      async release() {
        const back = held;
        held = null;
        if (back !== null) await giveShareBack(c, back);
      },
    };
  }
}
