/**
 * Badges for READMEs (contract, 4.14 and 4.15). Public even if the service requires a key.
 *
 * Cost: drawing a badge takes microseconds. Its data is cached for five minutes. After that it costs one row of the
 * ledger, or two requests to the host for a repository's policy. The host is asked at most twenty times a minute
 * (LIMIT_BADGES) for all badges together, so that badges of made-up repositories leave enough of the bot's 5,000
 * requests an hour to pushes and comments. Of the panic switch, a badge shows a copy that is at most two seconds old.
 */
import { type Context, Hono } from 'hono';
import {
  anonymousFriendlyBadge,
  deployedBadge,
  pullRequestCountBadge,
  shortCommit,
} from '../../badges/badge.ts';
import { hostWithKey, MAIN_HOST } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { parseName } from '../../host/kinds.ts';
import { openPolicies } from '../../policy/policies.ts';
import { openStatistics } from '../../stats/statistics.ts';
import { badgeWindowOf } from '../request/client.ts';
import { anonymousFriendlyQuery, deployedQuery, repositoryParams } from '../schemas/badges.ts';
import { suspensionOf } from '../request/suspension.ts';

/** Contract, section 8. */
const FIVE_MINUTES = 'public, max-age=300';
const AN_HOUR = 'public, max-age=3600';
/** For a badge that only says that something is unavailable at the moment. */
const NOT_AT_ALL = 'no-store';

export const badges = new Hono<AppEnv>();

badges.get('/badges/anonymous-friendly.svg', async (c) => {
  const query = anonymousFriendlyQuery.safeParse(c.req.query());
  if (!query.success) return invalidName(c);
  const { host: key, repo } = query.data;
  if (repo === undefined) return image(c, anonymousFriendlyBadge(false), FIVE_MINUTES);
  const host = hostWithKey(c.var.config, key);
  const [owner = '', name = '', ...more] = repo.split('/');
  const repository = host === undefined || more.length > 0 ? null : parseName(host.kind, owner, name);
  if (host === undefined || repository === null) return invalidName(c);
  const mayAsk = async () => (await badgeWindowOf(c.env).hit('badges', c.var.config.limits.badges)).allowed;
  const policy = await openPolicies(c.env, c.var.config, host, c.var.logger, c.var.http).of(
    repository,
    mayAsk,
  );
  const svg = anonymousFriendlyBadge(policy?.anonymousFriendly === true);
  return image(c, svg, policy === undefined ? NOT_AT_ALL : FIVE_MINUTES);
});

badges.get('/badges/deployed.svg', async (c) => {
  const { commit = '' } = deployedQuery.parse(c.req.query());
  const { panicMode } = await suspensionOf(c.env);
  const shown = shortCommit(commit) || shortCommit(c.var.config.commitHash);
  return image(c, deployedBadge(shown, panicMode), AN_HOUR);
});

badges.get('/badges/:badge', (c) =>
  c.json({ error: 'unknown badge: there are anonymous-friendly.svg and deployed.svg' }, 404),
);

badges.get('/badge/:owner/:repo', (c) => countBadge(c));
badges.get('/badge/:host/:owner/:repo', (c) => countBadge(c));

async function countBadge(c: Context<AppEnv>): Promise<Response> {
  const { config, logger, http } = c.var;
  const params = repositoryParams.safeParse({ host: MAIN_HOST, ...c.req.param() });
  if (!params.success) return invalidName(c);
  const { owner, repo } = params.data;
  const host = hostWithKey(config, params.data.host);
  const name = host === undefined ? null : parseName(host.kind, owner, repo);
  if (host === undefined || name === null) return invalidName(c);
  const repository = { host: host.key, owner: name.owner, repo: name.name };
  const count = await openStatistics(c.env, config, logger, http).pullRequestCount(repository);
  return image(c, pullRequestCountBadge(count), count === undefined ? NOT_AT_ALL : FIVE_MINUTES);
}

function image(c: Context<AppEnv>, svg: string, cacheControl: string): Response {
  return c.body(svg, 200, { 'Content-Type': 'image/svg+xml', 'Cache-Control': cacheControl });
}

function invalidName(c: Context<AppEnv>): Response {
  return c.json({ error: 'Invalid owner or repo' }, 400);
}
