/**
 * Whether a comment or an issue may be posted now, as far as it does not depend on its author or its text.
 *
 * One question after the other: a client over its limit was refused before (`checkComment`, `checkIssue`), and nobody
 * who is refused here reaches the account.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { type KnownPolicy, openPolicies } from '../../policy/policies.ts';
import { policyRefusal } from '../../policy/policy.ts';
import { guardOf } from '../../objects.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { clientOf } from '../request/client.ts';
import { type NamedTarget, targetOf } from '../request/limits.ts';
import { refused, type Refused, refuseWithoutBot } from '../request/refused.ts';
import { refuseSuspendedWriting } from '../request/suspension.ts';

const SINGULAR = { comments: 'comment', issues: 'issue' } as const;

/** After the attempt was counted (`checkComment`, `checkIssue`). Null if it may be reserved and posted. */
export async function refusePosting(
  c: Context<AppEnv>,
  target: RepositoryName,
  what: keyof typeof SINGULAR,
): Promise<Refused | null> {
  return refuseWithoutBot(c) ?? (await refuseSuspendedWriting(c)) ?? (await refuseByPolicy(c, target, what));
}

/**
 * The refusal of a contribution that the repository does not accept; null if it accepts it. If the policy cannot be
 * read, the contribution is refused, too: a maintainer's refusal must not depend on the host being available.
 */
async function refuseByPolicy(
  c: Context<AppEnv>,
  target: RepositoryName,
  kind: keyof typeof SINGULAR,
): Promise<Refused | null> {
  const policy = await policyOf(c, target);
  if (policy === undefined) {
    return refused(503, `the policy of ${fullName(target)} cannot be read at the moment; try again later`);
  }
  // The host's words for a repository that the bot cannot see (contract, section 7). A repository that only the bot can
  // see gets the same answer.
  if (policy === null)
    return refused(400, `failed to create ${SINGULAR[kind]}: 404 Not Found`, {}, 'not-created');
  const refusal = policyRefusal(policy, target, kind);
  return refusal === null ? null : refused(403, refusal, {}, 'not-accepted');
}

function policyOf(c: Context<AppEnv>, target: RepositoryName): Promise<KnownPolicy> {
  return openPolicies(c.env, c.var.config, c.var.host, c.var.logger, c.var.http).of(target);
}

/** After `refusePosting`, whose policy is still remembered. @param number of the thread; null: for a new issue. */
export async function postingTarget(
  c: Context<AppEnv>,
  target: RepositoryName,
  number: number | null,
): Promise<NamedTarget> {
  return targetOf(c, target, number, (await policyOf(c, target))?.limits ?? []);
}

/** Something was posted: the operator hears of a flood. Nobody waits for this. */
export function countPost(c: Context<AppEnv>): void {
  const count = async () => {
    const client = await clientOf(c);
    await guardOf(c.env).countPost(client.hash('burst'), client.siteHash('burst'));
  };
  waitUntil(count().catch((cause: unknown) => c.var.logger.warn('a post was not counted', { error: cause })));
}
