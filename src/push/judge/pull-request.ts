/** The pull request that a push names with `-o pr-hash`. */
import { fullName } from '../../repository-name.ts';
import { type ClaimedUpdate, wrongKey } from '../claims.ts';
import type { PushRun } from '../push-run.ts';
import type { PushOptions } from '../receive/push-options.ts';
import type { PushSettings } from '../settings.ts';
import type { NamedPullRequest } from '../verdict/verdict.ts';
import { findPullRequest, type Upstream } from './upstream.ts';

export interface ClaimedPullRequest {
  readonly named: NamedPullRequest;
  readonly claim: ClaimedUpdate;
}

/** The key that it must have; null: none is required. */
export function requiredKey({ prUpdatePolicy }: PushSettings, { prKey }: PushOptions): string | null {
  return prUpdatePolicy === 'key' ? (prKey ?? '') : null;
}

/**
 * Null if the push names none, or one that nobody knows; the person is told of that. It is claimed, so that two updates
 * never mix.
 * @param listed its claim, if the service has it in its list; otherwise the host may know it.
 * @throws Refusal if the key is wrong, or another push to it is in progress.
 */
export async function findNamed(
  run: PushRun,
  { repository, botLogin }: Upstream,
  prHash: string | null,
  key: string | null,
  listed: ClaimedUpdate | null,
): Promise<ClaimedPullRequest | null> {
  if (prHash === null) return null;
  const pullRequest = await findPullRequest(run, repository, botLogin, prHash);
  if (pullRequest === null) {
    await run.reply.note(`No pull request of ${fullName(repository)} has that pr-hash: opening a new one.`);
    return null;
  }
  const claim = listed ?? (await run.claims.claimPullRequest(prHash, key));
  // A pull request that the service has not recorded has no key.
  if (key !== null && !claim.isRecorded) throw wrongKey();
  return { named: { prHash, pullRequest }, claim };
}
