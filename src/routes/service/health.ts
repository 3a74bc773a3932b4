/**
 * GET /health (contract section 4.8): says which code runs, so that anyone can compare it with its source.
 *
 * Always public. It does not need the host or the database: an answer means that the Worker runs.
 */
import { Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { HealthAnswer } from '../schemas/health.ts';

const NOTICE =
  'deployedCommit is the revision that the operator has deployed, by their own account. Compare it with the source repository; nobody can check from outside which code runs.';

export const health = new Hono<AppEnv>();

health.get('/health', (c) => {
  const { commitHash, sourceRepo, officialInstance } = c.var.config;
  return c.json<HealthAnswer>({
    status: 'healthy',
    deployedCommit: commitHash,
    deployedAt: c.env.VERSION.timestamp || 'unknown',
    sourceRepo,
    platform: officialInstance,
    // The contract's name for "what runs the code"; here that is workerd, versioned by its compatibility date.
    goVersion: `workerd ${c.env.COMPATIBILITY_DATE}`,
    // Uncommitted changes have no page. The nearest is that of the parent commit.
    verify: { github: `${sourceRepo}/commit/${commitHash.replace(/-dirty$/, '')}`, source: NOTICE },
  });
});
