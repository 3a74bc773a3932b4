/**
 * Tells before a form shows its fields why it could not succeed, so that nobody types in vain. What
 * is not known now closes no form: sending it asks again.
 * Proved by test/e2e/people/known-first.test.ts.
 */
import type { Context } from 'hono';
import { hostNameOf } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { within } from '../../isolate/within.ts';
import type { KnownPolicy } from '../../policy/policies.ts';
import { type Contribution, muteRefusal, policyRefusal, vouchGate } from '../../policy/policy.ts';
import { allLines } from '../../push/reply/review.ts';
import { isOfLimits } from '../../push/reply/refusal.ts';
import { ClientPushLimits } from '../../service/push-limits.ts';
import { arePushesSuspended } from '../../service/suspension.ts';
import { CHANGE_FORM } from '../../pages/remote-paths.ts';
import { fullName } from '../../words/repository-name.ts';
import { knownOver, refuseSuspendedWriting } from '../request/limits.ts';
import { explanationOf, refuseWithoutBot } from '../request/refused.ts';
import { knownPolicy } from '../request/reading.ts';
import { hostScopeOf } from '../request/scope.ts';
import type { RequestedForm } from './form.ts';

/** How long a form waits for the policy. */
const PATIENCE_MS = 5_000;
const SUSPENDED = 'Pushes are suspended at the moment. Try again in 15 minutes.';

interface Outlook {
  /** Lines that say why the form cannot succeed; null: as far as is known, it can. */
  readonly closed: string | null;
  /** Says what a gate does with what the form opens; null: nothing, as far as is known. */
  readonly gate: string | null;
}

/**
 * Asks switches, limits and policy, what is cheap first.
 * @param thread the one that is replied to, or null.
 * @param opens whether a change opens a pull request, which takes one of the network's five.
 */
export async function outlookOf(
  place: RequestedForm,
  kind: Contribution,
  thread: number | null = null,
  opens = true,
): Promise<Outlook> {
  const { c, target } = place;
  const now = await (kind === 'pull_requests' ? pushesClosed(c, opens) : postsClosed(c));
  if (now !== null) return { closed: now, gate: null };
  const policy = await within(PATIENCE_MS, knownPolicy(c, target)).catch(() => undefined);
  const gate = policy && kind === 'issues' ? vouchGate(target, policy, 'issues') : null;
  return { closed: policyCloses(place, policy, kind, thread), gate: gate?.sentence ?? null };
}

async function postsClosed(c: Context<AppEnv>): Promise<string | null> {
  const refusal =
    refuseWithoutBot(c) ?? (await refuseSuspendedWriting(c)) ?? (await knownOver(c, 'comments'));
  return refusal && explanationOf(refusal);
}

async function pushesClosed(c: Context<AppEnv>, opens: boolean): Promise<string | null> {
  const refusal = refuseWithoutBot(c);
  if (refusal !== null) return explanationOf(refusal);
  if (await arePushesSuspended(c.env).catch(() => false)) return SUSPENDED;
  const over = await knownOver(c, 'pushes');
  if (over !== null) return explanationOf(over);
  const full = opens ? await new ClientPushLimits(hostScopeOf(c)).peek() : null;
  return full !== null && isOfLimits(full) ? allLines(full).join('\n') : null;
}

function policyCloses(
  { c, target, home, action }: RequestedForm,
  policy: KnownPolicy,
  kind: Contribution,
  thread: number | null,
): string | null {
  // The other forms look for a thread or a file, and say that it is not there.
  const looksFor = thread !== null || action === home + CHANGE_FORM;
  const none = `${hostNameOf(c.var.host)} has no public repository ${fullName(target)}. Correct the name.`;
  if (policy === null) return looksFor ? null : none;
  if (policy === undefined) return null;
  return (
    policyRefusal(policy, target, kind) ?? (thread === null ? null : muteRefusal(policy, target, thread))
  );
}
