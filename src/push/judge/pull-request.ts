/** The pull request that a push names with `-o pr-hash`. */
import { fullName } from '../../repository-name.ts';
import { type ClaimedUpdate, wrongKey } from '../push-run.ts';
import type { PushOptions } from '../receive/push-options.ts';
import type { PushSettings } from '../push-host.ts';
import type { NamedPullRequest } from '../verdict/verdict.ts';
import type { Questions } from './questions.ts';
import type { Upstream } from './upstream.ts';

/** The key that it must have; null: none is required. */
export function requiredKey({ prUpdatePolicy }: PushSettings, { prKey }: PushOptions): string | null {
  return prUpdatePolicy === 'key' ? (prKey ?? '') : null;
}

/** Null if the push names none, or one that nobody knows; the person is told of that. */
export async function findNamed(
  questions: Questions,
  { repository }: Upstream,
  prHash: string | null,
): Promise<NamedPullRequest | null> {
  if (prHash === null) return null;
  const pullRequest = await questions.findPullRequest(prHash);
  if (pullRequest !== null) return { prHash, pullRequest };
  await questions.note(`NEW pull request: no pull request of ${fullName(repository)} has that pr-hash.`);
  return null;
}

/**
 * @param listed its claim, if the service has it in its list; otherwise only the host knows it.
 * @throws Refusal if the key is wrong, or another push to it is in progress.
 */
export async function claimNamed(
  questions: Questions,
  { prHash }: NamedPullRequest,
  key: string | null,
  listed: ClaimedUpdate | null,
): Promise<ClaimedUpdate> {
  const claim = listed ?? (await questions.claim(prHash, key));
  // A pull request that the service has not recorded has no key.
  if (key !== null && !claim.isRecorded) throw wrongKey();
  return claim;
}
