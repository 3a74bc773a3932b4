/**
 * The share of a client in what the code host lets the bot account do (src/host/account/account-budget.ts), and whether
 * it may open something (src/durable/host-account/openings.ts).
 *
 * If the account's object cannot be asked, this isolate lets a few writes create something, so that people can go on; not
 * a pull request, whose client may have had all of its own. It lets no more, because the host's limits hold all the same, and going beyond them can cost the account. What creates
 * nothing goes on: the client's own limits hold, and the host still says what it wants.
 */
import type { Context } from 'hono';
import type { AccountAdmittance, Returned } from '../../durable/host-account/host-account.ts';
import type { Opening } from '../../durable/host-account/openings.ts';
import { hostNameOf } from '../../config/hosts.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { onForget } from '../../isolate/recent.ts';
import { ClientAttempts } from '../../limits/client-attempts.ts';
import { LOCAL_CREATIONS, waitText } from '../../limits/limits.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { clientOf } from './client.ts';

/** What was taken, for `giveShareBack`. */
export interface TakenShare extends Returned {
  readonly taken: string | null;
}

export interface Share extends AccountAdmittance {
  /** False: the account's object cannot be asked, and `waitMs` follows from what this isolate may create alone. */
  readonly isKnown: boolean;
  readonly back: TakenShare;
}

const ALONE = {
  pauseMs: 0,
  taken: null,
  refusal: null,
  own: [],
  full: [],
  isKnown: false,
  back: { taken: null, key: '', clients: [], target: null },
} as const;

/** What all clients together create while the account's object cannot be asked. */
const createdAlone = new ClientAttempts();
onForget(() => createdAlone.clear());

/** What a write wants of the account. */
export interface Wanted {
  /** It may create something at the host. */
  readonly creates: boolean;
  /** It opens a pull request or an issue. */
  readonly opening?: Opening;
  /** Under which the client's share is counted; usually it follows from the request. */
  readonly name?: string;
  /** All that may be created. */
  readonly limits?: readonly Limit[];
}

/** Asked last, when nothing else refuses the write. Rejects if the account's object cannot be asked. */
export async function askAccount(
  c: Context<AppEnv>,
  { creates, opening, name, limits = c.var.config.limits.creations }: Wanted,
): Promise<Share> {
  // Anybody has networks without number, each of which would have had nothing.
  const client = name ?? (await clientOf(c)).siteHash('share');
  const places = opening?.places ?? null;
  // Without the name of the repository.
  const target = opening && { key: opening.target.key, limits: opening.target.limits };
  const admitted = await hostAccountOf(c.env, c.var.host).admit(
    client,
    creates,
    limits,
    target && { places, target },
  );
  const { taken, own } = admitted;
  const counted = taken === null ? null : (target?.key ?? null);
  return {
    ...admitted,
    isKnown: true,
    back: { taken, key: places?.key ?? '', clients: own, target: counted },
  };
}

/** The same, but then this isolate decides alone. Never rejects. */
export async function askForShare(c: Context<AppEnv>, wanted: Wanted): Promise<Share> {
  try {
    return await askAccount(c, wanted);
  } catch (error) {
    c.var.logger.warn('the share of a client could not be checked', { error });
    const { creates, limits = c.var.config.limits.creations } = wanted;
    const waitMs = creates ? createdAlone.hit('', [...LOCAL_CREATIONS, ...limits], Date.now()).waitMs : 0;
    return { ...ALONE, waitMs };
  }
}

/** Nothing was created. If this fails, it counts for an hour all the same. Never rejects. */
export async function giveShareBack(c: Context<AppEnv>, { taken, ...opening }: TakenShare): Promise<void> {
  if (taken === null && opening.clients.length === 0) return;
  await hostAccountOf(c.env, c.var.host)
    .giveBack(taken, opening)
    .catch((error: unknown) => c.var.logger.warn('a share could not be given back', { error }));
}

/** Why a write has to wait, and how long. */
export function shareExplanation(c: Context<AppEnv>, { waitMs, isKnown }: Share): string {
  const hostName = hostNameOf(c.var.host);
  const why = isKnown
    ? `${hostName} limits the bot account, which has almost reached that limit: networks that have used less come first`
    : `the service cannot check what the bot account may still do at ${hostName}, so it creates only a little now`;
  return `${why}; try again in ${waitText(waitMs)}`;
}
