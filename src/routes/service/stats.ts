/**
 * GET /api/stats and /api/recent-prs (contract, 4.11 and 4.12).
 *
 * Both may be a few seconds old, here and in every cache on the way. Cost: nothing within five seconds of the last
 * request in the isolate. After that, one row of D1 for the total, and ten rows through an index for the list.
 */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { type Statistics, STATISTICS_FRESH_MS, openStatistics } from '../../stats/statistics.ts';
import type { RecentPrsAnswer, StatsAnswer } from '../schemas/stats.ts';

const MAX_AGE = `max-age=${STATISTICS_FRESH_MS / 1000}`;

export const stats = new Hono<AppEnv>();

stats.get('/api/stats', async (c) => {
  const totals = await statisticsOf(c).totals();
  if (totals === undefined) return unavailable(c);
  const { pullRequests, lastCreatedAt } = totals;
  c.header('Cache-Control', cacheControl(c));
  return c.json<StatsAnswer>({
    total_prs: pullRequests,
    ...(lastCreatedAt !== null && { last_updated: lastCreatedAt }),
  });
});

stats.get('/api/recent-prs', async (c) => {
  const statistics = statisticsOf(c);
  const [recent, totals] = await Promise.all([statistics.recentPullRequests(), statistics.totals()]);
  if (recent === undefined || totals === undefined) return unavailable(c);
  c.header('Cache-Control', cacheControl(c));
  return c.json<RecentPrsAnswer>({
    prs: recent.map(({ id, host, owner, repo, prUrl, createdAt }) => ({
      id,
      host,
      owner,
      repo,
      pr_url: prUrl,
      created_at: createdAt,
    })),
    total: totals.pullRequests,
  });
});

function statisticsOf(c: Context<AppEnv>): Statistics {
  return openStatistics(c.env, c.var.config, c.var.logger, c.var.http);
}

/** A shared cache must not give out what requires the service's key. */
function cacheControl(c: Context<AppEnv>): string {
  return `${c.var.config.serviceApiKey === null ? 'public' : 'private'}, ${MAX_AGE}`;
}

function unavailable(c: Context<AppEnv>): Response {
  const headers = { 'Cache-Control': 'no-store', 'Retry-After': `${STATISTICS_FRESH_MS / 1000}` };
  return c.json({ error: 'statistics are unavailable; try again later' }, 503, headers);
}
