/**
 * Serves reports about pseudonyms: GET and POST /v1/moderation/report (contract, 4.4), as pages or
 * as JSON.
 */
import { type Context, Hono } from 'hono';
import { resolver } from 'hono-openapi';
import * as z from 'zod';
import { hostWithKey } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import type { PublicRecord } from '../../durable/identity/identity.ts';
import {
  type ModerationFacts,
  type ModerationState,
  NO_FACTS,
  REPORT_LIFE_MS,
  type Reporter,
  reported,
  type Standing,
  standingOf,
} from '../../durable/identity/moderation.ts';
import { Recent } from '../../isolate/recent.ts';
import type { Page } from '../../pages/layout.ts';
import { receivedPage, REPORT_PATH, type ReportedComment, reportPage } from '../../pages/report-page.ts';
import { fullName } from '../../words/repository-name.ts';
import { isStorageFailure } from '../../storage-failure.ts';
import { BodyError } from '../../streams/body-error.ts';
import { clientOf } from '../../service/scope.ts';
import { isCrossSite, smallBody } from '../request/payload.ts';
import { identityOf, readFrom } from '../../objects.ts';
import { mayBeListed } from '../../stats/recorded-hashes.ts';
import { toldMs } from '../../limits/sliding-window.ts';
import { limitsOf } from '../../service/limits.ts';
import { knownOver } from '../request/limits.ts';
import {
  answerRefused,
  CANNOT_WRITE,
  explained,
  explanationOf,
  NOT_KEPT,
  type Refused,
  retryAfter,
} from '../request/refused.ts';
import { answerPage, preferredType } from '../pages/answer-page.ts';
import { answer, as, asError, asJson, countSchema, described, HTML } from '../description.ts';
import { scopeOf } from '../request/scope.ts';

/**
 * Reports about made-up hashes. They must leave no object behind, so the same rules count them in
 * this isolate only.
 */
const madeUp = new Recent<ModerationFacts>({ most: 5_000, lifeMs: REPORT_LIFE_MS });

export const MODERATION_STATES = [
  'registered',
  'flagged',
  'blocked',
] as const satisfies readonly ModerationState[];

export const pseudonymHash = z
  .string()
  .regex(/^[0-9a-f]{8}$/)
  .meta({
    description: 'The pseudonym: the 8 hexadecimal characters behind "anon-".',
    examples: ['1a2b3c4d'],
  });

const reportQuery = z.object({ hash: pseudonymHash });
const reportRequest = reportQuery.describe('The pseudonym to report, as JSON or as a form.');

export const standingAnswer = z
  .object({
    hash: pseudonymHash,
    reports: countSchema.describe('Reports of the last 30 days.'),
    state: z
      .enum(MODERATION_STATES)
      .describe('flagged: 3 reports, no comments for 6 hours. blocked: 6 reports, permanent.'),
  })
  .describe('The reports about a pseudonym and its state.');

const HASH_RULE = 'A pseudonym has 8 hexadecimal characters. Follow the “report” link below its comment.';
const INVALID_HASH = { ...explained(400, 'No such pseudonym', HASH_RULE), error: 'invalid hash' };
const CROSS_SITE = explained(
  403,
  'This report came from another site',
  'Open the report page of this service, and report from there.',
);
const INCOMPLETE = explained(408, 'The report did not arrive completely', 'Send it again.');
const TOO_LARGE = explained(413, 'The report is too large', HASH_RULE);
const TOO_MANY = explained(429, 'Too many reports', 'Your network has sent too many. Try again later.');
const FAULT = explained(500, 'The service has a fault', 'It was logged. Try again later.');

const INVALID_ANSWER = answer('The hash is not valid.', as(HTML), asError('invalid hash'));
const FAULT_ANSWER = answer('The service has a fault.', as(HTML), asError());
const CANNOT_WRITE_ANSWER = answer('The service cannot write.', as(HTML), asError(CANNOT_WRITE.error));

export const moderation = new Hono<AppEnv>();

moderation.get(
  REPORT_PATH,
  described(showStanding, {
    operationId: 'showStanding',
    summary: 'Show the reports of a pseudonym',
    description: 'A page with a button to report, or JSON if Accept asks for it.',
    tag: 'Reports',
    query: reportQuery,
    responses: {
      200: answer('The reports about the pseudonym.', as(HTML), asJson(standingAnswer)),
      400: INVALID_ANSWER,
      500: FAULT_ANSWER,
      503: CANNOT_WRITE_ANSWER,
    },
  }),
);

async function showStanding(c: Context<AppEnv>): Promise<Response> {
  const query = reportQuery.safeParse(c.req.query());
  if (!query.success) return refuse(c, INVALID_HASH);
  const { hash } = query.data;
  // A pseudonym that has never posted has no object to ask.
  const isListed = await mayBeListed(c.env.DB, hash, c.var.logger);
  const known = isListed ? await readFrom(() => identityOf(c.env, hash).publicRecord()) : null;
  const standing = known?.standing ?? standingOf(madeUp.get(hash) ?? NO_FACTS, Date.now());
  const over = await knownOver(c, 'reports');
  const comments = known === null ? [] : linksTo(c, known);
  const page = reportPage(hash, standing, comments, over && explanationOf(TOO_MANY));
  return answerStanding(c, hash, standing, page);
}

moderation.post(
  REPORT_PATH,
  described(report, {
    operationId: 'reportPseudonym',
    summary: 'Report a pseudonym',
    description:
      'One report counts for each IPv4 address and each IPv6 /64, and at most two for a /48. None counts once the pseudonym is blocked. The answer to a repeated report is the same as to the first. It is a page, or JSON if Accept asks for it.',
    tag: 'Reports',
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: resolver(reportRequest) },
        'application/x-www-form-urlencoded': { schema: resolver(reportRequest) },
      },
    },
    responses: {
      200: answer('The report was received.', as(HTML), asJson(standingAnswer)),
      400: INVALID_ANSWER,
      403: answer('A page of another site sent this.', as(HTML), asError()),
      408: answer('The body did not arrive completely.', as(HTML), asError()),
      413: answer('The body is over 16 KiB.', as(HTML), asError()),
      429: answer(
        'The network has sent too many reports. Retry-After says how long to wait.',
        as(HTML),
        asError(),
      ),
      500: FAULT_ANSWER,
      503: CANNOT_WRITE_ANSWER,
    },
  }),
);

async function report(c: Context<AppEnv>): Promise<Response> {
  if (isCrossSite(c.req.raw)) return refuse(c, CROSS_SITE);
  const request = reportRequest.safeParse(await readFields(c));
  if (!request.success) return refuse(c, INVALID_HASH);
  const { hash } = request.data;
  const wait = await limitsOf(scopeOf(c)).count('reports');
  if (wait.waitMs > 0)
    return refuse(c, { ...TOO_MANY, headers: { 'Retry-After': retryAfter(toldMs(wait)) } });
  const client = await clientOf(scopeOf(c));
  const reporter = client.hash('reporter', hash);
  const prefix = client.prefixHash('reporter', hash);
  const standing = (await mayBeListed(c.env.DB, hash, c.var.logger))
    ? await identityOf(c.env, hash).report(reporter, prefix)
    : reportMadeUp(hash, { reporter, prefix });
  return answerStanding(c, hash, standing, receivedPage(hash, standing));
}

function answerStanding(c: Context<AppEnv>, hash: string, standing: Standing, page: Page) {
  return wantsJson(c)
    ? c.json<z.infer<typeof standingAnswer>>({ hash, ...standing }, 200, NOT_KEPT)
    : answerPage(c, page, 200, NOT_KEPT);
}

moderation.onError((error, c) => {
  if (error instanceof BodyError) return refuse(c, error.code === 'too-large' ? TOO_LARGE : INCOMPLETE);
  c.var.logger.error('a report page failed', { error });
  return refuse(c, isStorageFailure(error) ? CANNOT_WRITE : FAULT);
});

function reportMadeUp(hash: string, by: Reporter): Standing {
  const now = Date.now();
  const { facts } = reported(madeUp.get(hash) ?? NO_FACTS, by, now);
  madeUp.set(hash, facts);
  return standingOf(facts, now);
}

/** Links to comments. Hosts redirect from `issues` to a pull request of the same number. */
function linksTo(c: Context<AppEnv>, { host: key, posted }: PublicRecord): ReportedComment[] {
  const host = hostWithKey(c.var.config, key);
  if (host === undefined) return [];
  return posted.map(({ repository, number, id }) => {
    const name = fullName(repository);
    return { url: `${host.url}/${name}/issues/${number}#issuecomment-${id}`, thread: `${name}#${number}` };
  });
}

function wantsJson(c: Context<AppEnv>): boolean {
  return preferredType(c, ['text/html', 'application/json'], 'text/html') === 'application/json';
}

/**
 * Reads the fields of a form or of JSON; null if the JSON is invalid.
 * @throws BodyError
 */
async function readFields(c: Context<AppEnv>): Promise<unknown> {
  const text = await smallBody(c);
  if (!/^application\/json\b/i.test(c.req.header('Content-Type') ?? ''))
    return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function refuse(c: Context<AppEnv>, refusal: Refused): Response | Promise<Response> {
  const headers = { ...NOT_KEPT, ...refusal.headers };
  return answerRefused(c, { ...refusal, headers }, wantsJson(c) ? 'json' : 'page');
}
