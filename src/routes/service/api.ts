/**
 * Serves /api (contract, 4.10 to 4.13), and checks the service key, which some endpoints need.
 * Statistics must include a pull request once its push is answered, so they are not cached. Cost:
 * one row of D1 for the total, ten rows through an index for the list.
 * Proved by test/routes/service/stats.test.ts and test/contract/keyed.test.ts.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { pullRequestTopic } from '../../notify/ntfy.ts';
import { isSameSecret } from '../../secret/keyed-hash.ts';
import { openStatistics } from '../../stats/statistics.ts';
import { answer, asJson, countSchema, described, error } from '../description.ts';
import { answerRefused, NOT_KEPT, refused } from '../request/refused.ts';
import { arePushesSuspended } from '../../service/suspension.ts';

/** Paths that need the key (contract, section 5). All others work without it. */
const KEYED_PATHS = ['/api/stats', '/api/recent-prs', '/api/pr-status/:hash', '/metrics'];

export const serviceKey = new Hono<AppEnv>();
for (const path of KEYED_PATHS) {
  serviceKey.use(path, async (c, next) => {
    const expected = c.var.config.serviceApiKey;
    if (expected === null || isSameSecret(c.req.header('X-Service-Key') ?? '', expected)) return next();
    return answerRefused(c, refused(401, 'API key required', NOT_KEPT));
  });
}

const total = countSchema.describe('Pull requests of all time.');

const newestAt = z.iso.datetime().optional();
const statsAnswer = z
  .object({
    total_prs: total,
    last_updated: newestAt.describe('When the newest was opened. Absent if there is none.'),
  })
  .describe('How many pull requests the service has opened.');

const pullRequest = z
  .object({
    id: z.int().describe('Number of the record.'),
    owner: z.string().describe("The repository's owner."),
    repo: z.string().describe("The repository's name."),
    pr_url: z.url().describe('The pull request on the code host.'),
    created_at: z.iso.datetime().describe('When it was opened.'),
  })
  .describe('One pull request.');

const recentPrsAnswer = z
  .object({ prs: z.array(pullRequest).max(10).describe('Newest first.'), total })
  .describe('The newest pull requests.');

const AGAIN_SOON = { ...NOT_KEPT, 'Retry-After': '5' };
const UNAVAILABLE = refused(503, 'statistics are unavailable; try again later', AGAIN_SOON);
const SILENT = 'The ledger does not answer. Retry-After says when to try again.';
const UNAVAILABLE_ANSWER = error(SILENT, UNAVAILABLE.error);

export const api = new Hono<AppEnv>();

api.get(
  '/api/stats',
  described(showTotals, {
    operationId: 'countPullRequests',
    summary: 'How many pull requests there are',
    description: 'Those that were opened through this service, of all repositories together.',
    tag: 'Statistics',
    isKeyed: true,
    responses: { 200: answer('The total.', asJson(statsAnswer)), 503: UNAVAILABLE_ANSWER },
  }),
);

async function showTotals(c: Context<AppEnv>): Promise<Response> {
  const totals = await statisticsOf(c).totals();
  if (totals === undefined) return answerRefused(c, UNAVAILABLE);
  const { pullRequests: total_prs, lastCreatedAt } = totals;
  const answered = { total_prs, ...(lastCreatedAt !== null && { last_updated: lastCreatedAt }) };
  return c.json<z.infer<typeof statsAnswer>>(answered, 200, NOT_KEPT);
}

api.get(
  '/api/recent-prs',
  described(showRecent, {
    operationId: 'listRecentPullRequests',
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
  if (recent === undefined || totals === undefined) return answerRefused(c, UNAVAILABLE);
  const prs = recent.map(({ id, owner, repo, prUrl: pr_url, createdAt: created_at }) => {
    return { id, owner, repo, pr_url, created_at };
  });
  return c.json<z.infer<typeof recentPrsAnswer>>({ prs, total: totals.pullRequests }, 200, NOT_KEPT);
}

const statisticsOf = ({ env, var: { config, logger, http } }: Context<AppEnv>) =>
  openStatistics(env, config, logger, http);

const anyHash = z.string().regex(/^[A-Za-z0-9._-]+$/);
const prStatusParams = z.object({ hash: anyHash.describe('The hash that the push printed.') });

const prStatusAnswer = z
  .object({
    hash: z.string().describe('The same hash.'),
    notify_topic: z.string().describe('Topic on which its events appear.'),
    subscribe_url: z.url().describe('Where to subscribe to the topic.'),
  })
  .describe('Where the events of a pull request appear.');

api.get(
  '/api/pr-status/:hash',
  described(showTopic, {
    operationId: 'findNotificationTopic',
    summary: 'Where the events of a pull request appear',
    description: 'The answer does not tell whether there is such a pull request.',
    tag: 'Statistics',
    isKeyed: true,
    path: prStatusParams,
    responses: { 200: answer('The topic.', asJson(prStatusAnswer)), 400: error('The hash is not valid.') },
  }),
);

/**
 * Names the topic without looking up the pull request: a hash may be all that an update needs, so
 * nobody may find out which ones exist.
 */
function showTopic(c: Context<AppEnv>): Response | Promise<Response> {
  const params = prStatusParams.safeParse(c.req.param());
  if (!params.success) {
    const problem = 'the hash of a pull request has only letters, digits, "-", "_" and "."';
    return answerRefused(c, refused(400, problem));
  }
  const { hash } = params.data;
  const notify_topic = pullRequestTopic(hash);
  const answered = { hash, notify_topic, subscribe_url: `${c.var.config.notifyBaseUrl}/${notify_topic}` };
  return c.json<z.infer<typeof prStatusAnswer>>(answered, 200, NOT_KEPT);
}

const statusAnswer = z
  .object({ panic_mode: z.boolean().describe('Whether pushes are rejected now.') })
  .describe('Whether the service accepts pushes.');

api.get(
  '/api/status',
  described(showStatus, {
    operationId: 'showStatus',
    summary: 'Whether pushes are accepted',
    description: 'At most two seconds old.',
    tag: 'Operation',
    responses: { 200: answer('The state of the panic switch.', asJson(statusAnswer)) },
  }),
);

async function showStatus(c: Context<AppEnv>): Promise<Response> {
  const answered = { panic_mode: await arePushesSuspended(c.env) };
  return c.json<z.infer<typeof statusAnswer>>(answered, 200, NOT_KEPT);
}
