/** The outcome of a push in one word, for the metrics. */
import { HostError, type HostErrorCode } from '../../host-error.ts';
import { count, observe } from '../../metrics/tally.ts';
import type { Refusal, SpecialOutcome } from './refusal.ts';

/** `refused`: by a rule of the service or the host, so retrying will not help. `failed`: because of a fault. */
export type PushOutcome = SpecialOutcome | 'accepted' | 'refused' | 'failed';

const FAULTS: ReadonlySet<HostErrorCode> = new Set(['unreachable', 'rate-limited', 'busy']);

/** @param refusal null: the push was accepted. */
export function pushOutcome(refusal: Refusal | null): PushOutcome {
  if (refusal === null) return 'accepted';
  const { outcome, cause } = refusal;
  if (outcome !== null) return outcome;
  if (cause === undefined) return 'refused';
  const isFault = !(cause instanceof HostError) || FAULTS.has(cause.code);
  return isFault ? 'failed' : 'refused';
}

/** Counts a push that has ended. @param durationMs null: there was no pack to read. */
export function countPush(refusal: Refusal | null, durationMs: number | null): void {
  const outcome = pushOutcome(refusal);
  count('gitveil_pushes_total', { outcome });
  if (durationMs !== null) observe('gitveil_push_duration_seconds', { outcome }, durationMs / 1000);
}
