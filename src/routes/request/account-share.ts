/**
 * The share of a client in what the code host lets the bot account do (src/guard/account-budget.ts).
 *
 * If the account's object cannot be asked, the write goes on: the client's own limits hold, and the host still says
 * what it wants.
 */
import type { Context } from 'hono';
import type { AccountAdmittance } from '../../durable/host-account.ts';
import { hostNameOf } from '../../config/hosts.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { clientOf } from './client.ts';
import { retryAfter } from './write-refusal.ts';

const UNKNOWN: AccountAdmittance = { pauseMs: 0, waitMs: 0, taken: null };

/** Never rejects. @param creates whether it may create something at the host. */
export async function askForShare(c: Context<AppEnv>, creates: boolean): Promise<AccountAdmittance> {
  const { config, host } = c.var;
  try {
    // Anybody has networks without number, each of which would have had nothing.
    const client = (await clientOf(c)).siteHash('share');
    return await hostAccountOf(c.env, host).admit(client, creates, config.limits.creations);
  } catch (error) {
    c.var.logger.warn('the share of a client could not be checked', { error });
    return UNKNOWN;
  }
}

/** Nothing was created. If this fails, it counts for an hour all the same. Never rejects. */
export async function giveShareBack(c: Context<AppEnv>, { taken }: AccountAdmittance): Promise<void> {
  if (taken === null) return;
  await hostAccountOf(c.env, c.var.host)
    .giveBack(taken)
    .catch((error: unknown) => c.var.logger.warn('a share could not be given back', { error }));
}

/** Why a write has to wait, and how long. */
export function shareExplanation(c: Context<AppEnv>, waitMs: number): string {
  return (
    `${hostNameOf(c.var.host)} lets the bot account do only so much, and little of that is left: ` +
    `networks that have had less come first; try again in ${retryAfter(waitMs)} s`
  );
}
