/**
 * GET /api/stats and /api/recent-prs (contract, 4.11 and 4.12).
 *
 * Both know a pull request when its push is answered, so no cache keeps them. Cost: one row of D1 for the total, and ten
 * rows through an index for the list.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { type Statistics, openStatistics } from '../../stats/statistics.ts';
import { answer, asJson, described, error } from '../description.ts';
import { answerRefused, refused } from '../request/refused.ts';

const NOT_KEPT = { 'Cache-Control': 'no-store' };

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
    description: 'Those that were opened through this service, of all repositories together.',
    tag: 'Statistics',
    isKeyed: true,
    responses: { 200: answer('The total.', asJson(statsAnswer)), 503: UNAVAILABLE_ANSWER },
  }),
);

async function showTotals(c: Context<AppEnv>): Promise<Response> {
  const totals = await statisticsOf(c).totals();
  if (totals === undefined) return unavailable(c);
  const { pullRequests, lastCreatedAt } = totals;
  const answered = {
    total_prs: pullRequests,
    ...(lastCreatedAt !== null && { last_updated: lastCreatedAt }),
  };
  return c.json<StatsAnswer>(answered, 200, NOT_KEPT);
}

stats.get(
  '/api/recent-prs',
  described(showRecent, {
    operationId: 'recentPullRequests',
    summary: 'The newest pull requests',
    description: 'Each with its repository and its address at the code host.',
    tag: 'Statistics',
    isKeyed: true,
    responses: { 200: answer('Up to ten, newest first.', asJson(recentPrsAnswer)), 503: UNAVAILABLE_ANSWER },
  }),
);

async function showRecent(c: Context<AppEnv>): Promise<Response> {
  const statistics = statisticsOf(c);
  const [recent, totals] = await Promise.all([statistics.recentPullRequests(), statistics.totals()]);
  if (recent === undefined || totals === undefined) return unavailable(c);
  const prs = recent.map(({ id, owner, repo, prUrl, createdAt }) => ({
    id,
    owner,
    repo,
    pr_url: prUrl,
    created_at: createdAt,
  }));
  return c.json<RecentPrsAnswer>({ prs, total: totals.pullRequests }, 200, NOT_KEPT);
}

function statisticsOf(c: Context<AppEnv>): Statistics {
  return openStatistics(c.env, c.var.config, c.var.logger, c.var.http);
}

function unavailable(c: Context<AppEnv>): Response | Promise<Response> {
  return answerRefused(c, refused(503, UNAVAILABLE, { ...NOT_KEPT, 'Retry-After': '5' }));
}
