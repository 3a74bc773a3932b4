/** The policy file before an anonymous comment or issue. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { fullName, type RepositoryName } from '../../host/repository-name.ts';
import { openPolicies } from '../../policy/policies.ts';
import { policyRefusal } from '../../policy/policy.ts';
import { type Refused, refused } from '../request/refused.ts';

const SINGULAR = { comments: 'comment', issues: 'issue' } as const;

/**
 * The refusal of a contribution that the repository does not accept; null if it accepts it. If the policy cannot be
 * read, the contribution is refused, too: a maintainer's refusal must not depend on the host being available.
 */
export async function refuseByPolicy(
  c: Context<AppEnv>,
  target: RepositoryName,
  kind: keyof typeof SINGULAR,
): Promise<Refused | null> {
  const policy = await openPolicies(c.env, c.var.config, c.var.host, c.var.logger, c.var.http).of(target);
  if (policy === undefined) {
    return refused(503, `the policy of ${fullName(target)} cannot be read at the moment; try again later`);
  }
  // The host's words for a repository that the bot cannot see (contract, section 7). A repository that only the bot can
  // see gets the same answer.
  if (policy === null) return refused(400, `failed to create ${SINGULAR[kind]}: 404 Not Found`);
  const refusal = policyRefusal(policy, target, kind);
  return refusal === null ? null : refused(403, refusal);
}
