/** The policy file before an anonymous comment or issue. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { fullName, type RepositoryName } from '../../host/repository-name.ts';
import { openPolicies } from '../../policy/policies.ts';
import { policyRefusal } from '../../policy/policy.ts';

const SINGULAR = { comments: 'comment', issues: 'issue' } as const;

/**
 * The answer to a contribution that the repository does not accept; null if it accepts it. If the policy cannot be
 * read, the contribution is refused, too: a maintainer's refusal must not depend on the host being available.
 */
export async function refuseByPolicy(
  c: Context<AppEnv>,
  target: RepositoryName,
  kind: keyof typeof SINGULAR,
): Promise<Response | null> {
  const policy = await openPolicies(c.env, c.var.config, c.var.host, c.var.logger, c.var.http).of(target);
  if (policy === undefined) {
    return c.json(
      { error: `the policy of ${fullName(target)} cannot be read at the moment; try again later` },
      503,
    );
  }
  // The host's words for a repository that the bot cannot see (contract, section 7). A repository that only the bot can
  // see gets the same answer.
  if (policy === null) return c.json({ error: `failed to create ${SINGULAR[kind]}: 404 Not Found` }, 400);
  const refusal = policyRefusal(policy, target, kind);
  return refusal === null ? null : c.json({ error: refusal }, 403);
}
