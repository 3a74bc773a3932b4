/**
 * The share of a client in what the code host lets the bot account do (src/host/account/account-budget.ts).
 *
 * If the account's object cannot be asked, this isolate lets a few writes create something, so that people can go on. It
 * lets no more, because the host's limits hold all the same, and going beyond them can cost the account. What creates
 * nothing goes on: the client's own limits hold, and the host still says what it wants.
 */
import type { Context } from 'hono';
import type { AccountAdmittance } from '../../durable/host-account/host-account.ts';
import { hostNameOf } from '../../config/hosts.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { onForget } from '../../isolate/recent.ts';
import { ClientAttempts } from '../../limits/client-attempts.ts';
import { LOCAL_CREATIONS, waitText } from '../../limits/limits.ts';
import { clientOf } from './client.ts';

export interface Share extends AccountAdmittance {
  /** False: the account's object cannot be asked, and `waitMs` follows from what this isolate may create alone. */
  readonly isKnown: boolean;
}

/** What all clients together create while the account's object cannot be asked. */
const createdAlone = new ClientAttempts();
onForget(() => createdAlone.clear());

/**
 * Asked last, when nothing else refuses the write. Never rejects.
 * @param creates whether it may create something at the host. @param name under which the client's share is counted;
 * usually it follows from the request. @param limits all that may be created.
 */
export async function askForShare(
  c: Context<AppEnv>,
  creates: boolean,
  name?: string,
  limits = c.var.config.limits.creations,
): Promise<Share> {
  const { host } = c.var;
  try {
    // Anybody has networks without number, each of which would have had nothing.
    const client = name ?? (await clientOf(c)).siteHash('share');
    return { ...(await hostAccountOf(c.env, host).admit(client, creates, limits)), isKnown: true };
  } catch (error) {
    c.var.logger.warn('the share of a client could not be checked', { error });
    const waitMs = creates ? createdAlone.hit('', [...LOCAL_CREATIONS, ...limits], Date.now()).waitMs : 0;
    return { pauseMs: 0, waitMs, taken: null, isKnown: false };
  }
}

/** Nothing was created. If this fails, it counts for an hour all the same. Never rejects. */
export async function giveShareBack(c: Context<AppEnv>, { taken }: Share): Promise<void> {
  if (taken === null) return;
  await hostAccountOf(c.env, c.var.host)
    .giveBack(taken)
    .catch((error: unknown) => c.var.logger.warn('a share could not be given back', { error }));
}

/** Why a write has to wait, and how long. */
export function shareExplanation(c: Context<AppEnv>, { waitMs, isKnown }: Share): string {
  const hostName = hostNameOf(c.var.host);
  const why = isKnown
    ? `${hostName} lets the bot account do only so much, and little of that is left: networks that have had less come first`
    : `the service cannot check what the bot account may still do at ${hostName}, so it creates only a little now`;
  return `${why}; try again in ${waitText(waitMs)}`;
}
