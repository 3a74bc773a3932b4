/**
 * Says what the service has recorded of the pull request that a push names: to a push that waits,
 * and to one that a limit of new pull requests refuses, because it would open one.
 * Proved by test/routes/request/refused-first.test.ts and test/e2e/delayed/delayed-delay.test.ts.
 */
import { fullName } from '../../words/repository-name.ts';
import type { PushRun } from '../push-run.ts';
import { faultsIn } from '../receive/push-options.ts';
import type { Announced } from '../receive/receive.ts';
import { Refusal } from '../reply/refusal.ts';

/** The advice for a push that may wait for room, which leads astray if its hash is wrong. */
export const WAIT_ADVICE = 'Add -o wait, and the service publishes it as soon as there is room.';

/** Says that the service has recorded none, and which one may be meant. */
export async function unrecordedLine(
  { store, target }: Pick<PushRun, 'store' | 'target'>,
  prHash: string,
): Promise<string> {
  const near = await store.openNear(target, prHash);
  const question = near === null ? '' : ` Did you mean ${near.prHash}?`;
  return `The service has recorded no pull request of ${fullName(target)} with that pr-hash.${question}`;
}

/**
 * Adds to the refusal of an update why a limit of new pull requests counts for it: its hash is
 * wrong, or of one that has ended. A page of another site hears nothing of that, because its
 * answers must be the same, whichever limit is full.
 */
export async function withReason(run: PushRun, said: Announced, refusal: Refusal): Promise<Refusal> {
  const { code, reason, lines, waitMs } = refusal;
  const isForRoom = code === 'rate-limited' && waitMs !== null;
  if (!isForRoom || said.isWithdrawal || run.settings.isForeign) return refusal;
  const wrong = await wrongHashLine(run, said);
  if (wrong === null) {
    const ended = await endedLine(run, said.parsed.options.prHash);
    return ended === null ? refusal : new Refusal(code, reason, [...lines, ended], refusal);
  }
  // What waits with a wrong hash opens another one.
  const kept = lines.filter((line) => line !== WAIT_ADVICE);
  const advice = 'With the right pr-hash, this is an update, for which that limit does not count.';
  return new Refusal(code, reason, [...kept, wrong, advice], refusal);
}

/** Says what is wrong with the hash that a push gives; null: nothing, or it gives none. */
async function wrongHashLine(run: PushRun, { parsed }: Announced): Promise<string | null> {
  const fault = faultsIn(parsed).find(({ option }) => option === 'pr-hash');
  if (fault !== undefined) return `${fault.message}.`;
  const { prHash } = parsed.options;
  return prHash === null || (await run.store.mayBeRecorded(prHash)) ? null : unrecordedLine(run, prHash);
}

/** Says that the pull request of a hash has ended; null: there is none, or nobody knows. */
async function endedLine({ store }: PushRun, prHash: string | null): Promise<string | null> {
  const recorded = prHash === null ? null : await store.recorded(prHash);
  if (recorded === null || recorded.state === 'open') return null;
  return `${recorded.url} was ${recorded.state}, so this would open a NEW pull request.`;
}
