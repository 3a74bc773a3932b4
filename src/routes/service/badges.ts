/**
 * Serves badges for READMEs (contract, 4.14 and 4.15), which are public even if the service
 * requires a key. A count or a policy is read at most every five minutes: a count is one row of the
 * ledger, a policy a few requests to the host, mostly with Git as the public makes them. The host
 * limits the service's address, so few policies are read a minute, and until then the last known
 * one is shown.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import {
  anonymousFriendlyBadge,
  deployedBadge,
  pullRequestCountBadge,
  reportBadge,
  shortCommit,
} from '../../badges/badge.ts';
import { hostWithKey, MAIN_HOST } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { parseName } from '../../host/kinds.ts';
import { isWithin } from '../../isolate/clock.ts';
import { onForget } from '../../isolate/recent.ts';
import { windowKey } from '../../limits/client.ts';
import { fairWait, type Use } from '../../limits/fairness.ts';
import { openPolicies } from '../../policy/policies.ts';
import { openStatistics } from '../../stats/statistics.ts';
import { clientOf } from '../../service/scope.ts';
import { answer, as, described, error, hostKey, NAME, repositoryParams } from '../description.ts';
import { answerRefused, refused } from '../request/refused.ts';
import { arePushesSuspended } from '../../service/suspension.ts';
import { hostScopeOf, scopeOf } from '../request/scope.ts';

/** Contract, section 8. */
const FIVE_MINUTES = 'public, max-age=300';
const AN_HOUR = 'public, max-age=3600';
/** The caching of badges that only say that something is unavailable now. */
const NOT_AT_ALL = 'no-store';

/**
 * Limits the policies that are read for badges. A large site may fetch all its images through a few
 * addresses of a proxy, so no network has a limit of its own: one that has had its part waits only
 * if others have asked, too.
 */
const READS = { most: 60, withinMs: 60_000 };
/** The reads of the last minute, oldest first. */
let reads: readonly Use[] = [];
onForget(() => (reads = []));
/** How long a badge may take: the proxies of large sites give up after some seconds. */
const AT_ONCE_MS = 2_000;

const optional = z.string().optional();

const anonymousFriendlyQuery = z.object({
  host: hostKey.default(MAIN_HOST),
  repo: optional.describe('`owner/repo`: the repository whose policy file counts.'),
});

const deployedQuery = z.object({
  commit: optional.describe('The commit to show, shortened to 7 characters. Default: the deployed one.'),
});

const INVALID_NAME = 'Invalid owner or repo';
const BADGE = answer('The badge.', as('image/svg+xml'));
const INVALID = error('The name of the repository is not valid.', INVALID_NAME);

export const badges = new Hono<AppEnv>();

badges.get(
  '/badge/:owner/:repo',
  described((c: Context<AppEnv>) => countBadge(c), {
    operationId: 'drawCountBadge',
    summary: 'How many anonymous pull requests a repository has received',
    description: 'Those of a repository of the first code host that were opened through this service.',
    tag: 'Badges',
    path: z.object({ owner: NAME, repo: NAME }),
    responses: { 200: BADGE, 400: INVALID },
  }),
);

badges.get(
  '/badge/:host/:owner/:repo',
  described((c: Context<AppEnv>) => countBadge(c), {
    operationId: 'drawCountBadgeOfHost',
    summary: 'The same for a repository of any code host',
    description: 'For a host that the operator has added, by its key.',
    tag: 'Badges',
    path: repositoryParams,
    responses: { 200: BADGE, 400: INVALID },
  }),
);

badges.get(
  '/badges/anonymous-friendly.svg',
  described(friendlyBadge, {
    operationId: 'drawFriendlyBadge',
    summary: 'Whether a repository welcomes anonymous contributions',
    description:
      'Green if the file `.gitveil.yml` at its root contains `anonymous_friendly: true`. Otherwise gray, also without a repository.',
    tag: 'Badges',
    query: anonymousFriendlyQuery,
    responses: { 200: BADGE },
  }),
);

async function friendlyBadge(c: Context<AppEnv>): Promise<Response> {
  const { host: key, repo = '' } = anonymousFriendlyQuery.parse(c.req.query());
  const [owner = '', name = '', ...more] = repo.split('/');
  const found = more.length > 0 ? null : repositoryOn(c, key, owner, name);
  if (found === null) return image(c, anonymousFriendlyBadge(false), FIVE_MINUTES);
  const policies = openPolicies(hostScopeOf(c, found.host));
  const asking = { mayAsk: () => mayAsk(c), isPolled: true, isFilesOnly: true, atOnceMs: AT_ONCE_MS };
  const policy = await policies.of(found.name, asking);
  const svg = anonymousFriendlyBadge(policy?.anonymousFriendly === true);
  return image(c, svg, policy === undefined ? NOT_AT_ALL : FIVE_MINUTES);
}

/** Answers whether this client may cause requests to the host, and counts that as a read. */
async function mayAsk(c: Context<AppEnv>): Promise<boolean> {
  const by = windowKey(await clientOf(scopeOf(c)), true);
  const now = Date.now();
  reads = reads.filter(({ at }) => isWithin(at, READS.withinMs, now));
  const claimant = { by, repository: null, takesPart: false };
  if (fairWait('calls', reads, [READS], claimant, now).waitMs > 0) return false;
  reads = [...reads, { at: now, by, repository: null }];
  return true;
}

badges.get(
  '/badges/deployed.svg',
  described(showDeployed, {
    operationId: 'drawRevisionBadge',
    summary: 'Which commit runs',
    description: 'Red while pushes are suspended.',
    tag: 'Badges',
    query: deployedQuery,
    responses: { 200: BADGE },
  }),
);

async function showDeployed(c: Context<AppEnv>): Promise<Response> {
  const { commit = '' } = deployedQuery.parse(c.req.query());
  const isSuspended = await arePushesSuspended(c.env);
  const shown = shortCommit(commit) || shortCommit(c.var.config.commitHash);
  return image(c, deployedBadge(shown, isSuspended), AN_HOUR);
}

badges.get(
  '/badges/report.svg',
  described((c: Context<AppEnv>) => image(c, reportBadge(), AN_HOUR), {
    operationId: 'drawReportBadge',
    summary: 'Report without an account',
    description:
      'For a link to `/v1/gh/<owner>/<repo>/issues/new`, which may fill in `title`, `body` and `labels`.',
    tag: 'Badges',
    responses: { 200: BADGE },
  }),
);

const UNKNOWN = refused(404, 'unknown badge: there are anonymous-friendly.svg, deployed.svg and report.svg');

badges.get('/badges/:badge', (c) => answerRefused(c, UNKNOWN));

async function countBadge(c: Context<AppEnv>): Promise<Response> {
  const { config, logger, http } = c.var;
  const params = repositoryParams.safeParse({ host: MAIN_HOST, ...c.req.param() });
  const found = params.success && repositoryOn(c, params.data.host, params.data.owner, params.data.repo);
  if (!found) return answerRefused(c, refused(400, INVALID_NAME));
  const { host, name } = found;
  const repository = { host: host.key, owner: name.owner, repo: name.name };
  const count = await openStatistics(c.env, config, logger, http).pullRequestCount(repository);
  return image(c, pullRequestCountBadge(count), count === undefined ? NOT_AT_ALL : FIVE_MINUTES);
}

/** Gives null if there is no such host, or if the name is not valid there. */
function repositoryOn(c: Context<AppEnv>, key: string, owner: string, repo: string) {
  const host = hostWithKey(c.var.config, key);
  const name = host === undefined ? null : parseName(host.kind, owner, repo);
  return host === undefined || name === null ? null : { host, name };
}

function image(c: Context<AppEnv>, svg: string, cacheControl: string): Response {
  return c.body(svg, 200, { 'Content-Type': 'image/svg+xml', 'Cache-Control': cacheControl });
}
