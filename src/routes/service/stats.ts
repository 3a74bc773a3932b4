/**
 * GET /api/stats and /api/recent-prs (contract, 4.11 and 4.12).
 *
 * Both may be a few seconds old, here and in every cache on the way. Cost: nothing within five seconds of the last
 * request in the isolate. After that, one row of D1 for the total, and ten rows through an index for the list.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { type Statistics, STATISTICS_FRESH_MS, openStatistics } from '../../stats/statistics.ts';
import { answer, asJson, described, error } from '../description.ts';
import { answerRefused, refused } from '../request/refused.ts';

const MAX_AGE = `max-age=${STATISTICS_FRESH_MS / 1000}`;

const statsAnswer = z
  .object({
    total_prs: z.int().min(0).meta({ description: 'Pull requests of all time.' }),
    last_updated: z.iso
      .datetime()
      .optional()
      .meta({ description: 'When the newest was opened. Absent if there is none.' }),
  })
  .meta({ description: 'How many pull requests the service has opened.' });

const pullRequest = z
  .object({
    id: z.int().meta({ description: 'Number of the record.' }),
    owner: z.string().meta({ description: "The repository's owner." }),
    repo: z.string().meta({ description: "The repository's name." }),
    pr_url: z.url().meta({ description: 'The pull request on the code host.' }),
    created_at: z.iso.datetime().meta({ description: 'When it was opened.' }),
  })
  .meta({ description: 'One pull request.' });

const recentPrsAnswer = z
  .object({
    prs: z.array(pullRequest).max(10).meta({ description: 'Newest first.' }),
    total: z.int().min(0).meta({ description: 'Pull requests of all time.' }),
  })
  .meta({ description: 'The newest pull requests.' });

type StatsAnswer = z.infer<typeof statsAnswer>;
type RecentPrsAnswer = z.infer<typeof recentPrsAnswer>;

const UNAVAILABLE = 'statistics are unavailable; try again later';
const UNAVAILABLE_ANSWER = error(
  'The ledger does not answer. Retry-After says when to try again.',
  UNAVAILABLE,
);

export const stats = new Hono<AppEnv>();

stats.get(
  '/api/stats',
  described(showTotals, {
    operationId: 'stats',
    summary: 'How many pull requests there are',
    description: 'Those that the code hosts show, of all repositories together.',
    tag: 'Statistics',
    isKeyed: true,
    responses: { 200: answer('The total.', asJson(statsAnswer)), 503: UNAVAILABLE_ANSWER },
  }),
);

async function showTotals(c: Context<AppEnv>): Promise<Response> {
  const totals = await statisticsOf(c).totals();
  if (totals === undefined) return unavailable(c);
  const { pullRequests, lastCreatedAt } = totals;
  c.header('Cache-Control', cacheControl(c));
  return c.json<StatsAnswer>({
    total_prs: pullRequests,
    ...(lastCreatedAt !== null && { last_updated: lastCreatedAt }),
  });
}

stats.get(
  '/api/recent-prs',
  described(showRecent, {
    operationId: 'recentPullRequests',
    summary: 'The newest pull requests',
    description: 'Each with its repository and its address, as the code host shows it.',
    tag: 'Statistics',
    isKeyed: true,
    responses: { 200: answer('Up to ten, newest first.', asJson(recentPrsAnswer)), 503: UNAVAILABLE_ANSWER },
  }),
);

async function showRecent(c: Context<AppEnv>): Promise<Response> {
  const statistics = statisticsOf(c);
  const [recent, totals] = await Promise.all([statistics.recentPullRequests(), statistics.totals()]);
  if (recent === undefined || totals === undefined) return unavailable(c);
  c.header('Cache-Control', cacheControl(c));
  return c.json<RecentPrsAnswer>({
    prs: recent.map(({ id, owner, repo, prUrl, createdAt }) => ({
      id,
      owner,
      repo,
      pr_url: prUrl,
      created_at: createdAt,
    })),
    total: totals.pullRequests,
  });
}

function statisticsOf(c: Context<AppEnv>): Statistics {
  return openStatistics(c.env, c.var.config, c.var.logger, c.var.http);
}

/** A shared cache must not give out what requires the service's key. */
function cacheControl(c: Context<AppEnv>): string {
  return `${c.var.config.serviceApiKey === null ? 'public' : 'private'}, ${MAX_AGE}`;
}

function unavailable(c: Context<AppEnv>): Response | Promise<Response> {
  const headers = { 'Cache-Control': 'no-store', 'Retry-After': `${STATISTICS_FRESH_MS / 1000}` };
  return answerRefused(c, refused(503, UNAVAILABLE, headers));
}
