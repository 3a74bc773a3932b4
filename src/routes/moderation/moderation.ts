/**
 * Reports about a pseudonym: GET and POST /v1/moderation/report (contract, 4.4).
 *
 * A person gets pages, a program JSON when its Accept asks for it. Errors follow the same rule.
 */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { type Standing, UNREPORTED } from '../../identity/moderation.ts';
import { problemPage, receivedPage, REPORT_PATH, reportPage } from '../../pages/report-page.ts';
import { BodyError, chunksOf } from '../../streams.ts';
import { clientOf, siteWindowOf } from '../request/client.ts';
import { isCrossSite } from '../request/cross-site.ts';
import { identityOf, mayHaveReports } from '../request/identity.ts';
import { answerPage, preferredType } from '../pages/page.ts';
import { type ReportAnswer, reportQuery, reportRequest, type StandingAnswer } from '../schemas/moderation.ts';
import { retryAfter } from '../request/write-refusal.ts';

/** A form with one field of eight characters. */
const MAX_BODY_BYTES = 1024;

const NOT_KEPT = { 'Cache-Control': 'no-store' };

interface Refusal {
  readonly status: 400 | 403 | 404 | 408 | 429 | 500;
  readonly title: string;
  readonly explanation: string;
  /** For programs; default: title and explanation. */
  readonly error?: string;
  readonly headers?: Record<string, string>;
}

const INVALID_HASH: Refusal = {
  status: 400,
  title: 'No such pseudonym',
  explanation: 'A pseudonym has 8 hexadecimal characters. Follow the “report” link below its comment.',
  error: 'invalid hash',
};
const CROSS_SITE: Refusal = {
  status: 403,
  title: 'This report came from another site',
  explanation: 'Open the report page of this service, and report from there.',
};
const INCOMPLETE: Refusal = {
  status: 408,
  title: 'The report did not arrive completely',
  explanation: 'Send it again.',
};
const TOO_MANY: Refusal = {
  status: 429,
  title: 'Too many reports',
  explanation: 'Your network has sent too many reports. Try again later.',
};
const FAULT: Refusal = {
  status: 500,
  title: 'The service has a fault',
  explanation: 'It was logged. Try again later.',
};

export const moderation = new Hono<AppEnv>();

moderation.get(REPORT_PATH, async (c) => {
  const query = reportQuery.safeParse(c.req.query());
  if (!query.success) return refuse(c, INVALID_HASH);
  const { hash } = query.data;
  const { reports, state } = await standingOf(c, hash);
  return wantsJson(c)
    ? c.json<StandingAnswer>({ hash, reports, state }, 200, NOT_KEPT)
    : answerPage(c, reportPage(hash, { reports, state }), 200, NOT_KEPT);
});

moderation.post(REPORT_PATH, async (c) => {
  if (isCrossSite(c.req.raw)) return refuse(c, CROSS_SITE);
  const request = reportRequest.safeParse(await readFields(c));
  if (!request.success) return refuse(c, INVALID_HASH);
  const { hash } = request.data;
  const client = await clientOf(c);
  const { allowed, waitMs } = await siteWindowOf(c.env, client).hit('reports', c.var.config.limits.reports);
  if (!allowed) return refuse(c, { ...TOO_MANY, headers: { 'Retry-After': retryAfter(waitMs) } });
  const reporter = client.hash('reporter', hash);
  const { accepted, standing } = await identityOf(c, hash).report(
    reporter,
    client.siteHash('reporter', hash),
  );
  return wantsJson(c)
    ? c.json<ReportAnswer>({ hash, accepted, ...standing }, 200, NOT_KEPT)
    : answerPage(c, receivedPage(hash, accepted, standing), 200, NOT_KEPT);
});

moderation.onError((error, c) => {
  if (error instanceof BodyError) return refuse(c, INCOMPLETE);
  c.var.logger.error('a report page failed', { error });
  return refuse(c, FAULT);
});

/** The object of a pseudonym that has no reports is not even asked. */
async function standingOf(c: Context<AppEnv>, hash: string): Promise<Standing> {
  return (await mayHaveReports(c, hash)) ? identityOf(c, hash).standing() : UNREPORTED;
}

function wantsJson(c: Context<AppEnv>): boolean {
  return preferredType(c, ['text/html', 'application/json'], 'text/html') === 'application/json';
}

/**
 * The fields of a form or of a JSON object; none if the body is neither, or too long. @throws BodyError if the body
 * does not arrive completely.
 */
async function readFields(c: Context<AppEnv>): Promise<unknown> {
  const limits = { maxBytes: MAX_BODY_BYTES, timeoutMs: c.var.config.readTimeoutMs };
  const chunks = chunksOf(c.req.raw.body, limits);
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let chunk = await chunks.read(); chunk !== null; chunk = await chunks.read()) {
      text += decoder.decode(chunk, { stream: true });
    }
    const isJson = /^application\/json\b/i.test(c.req.header('Content-Type') ?? '');
    return isJson ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text));
  } catch (error) {
    const isNoReport =
      error instanceof SyntaxError || (error instanceof BodyError && error.code === 'too-large');
    if (isNoReport) return null;
    throw error;
  }
}

function refuse(c: Context<AppEnv>, refusal: Refusal): Response | Promise<Response> {
  const { status, title, explanation, error = `${title}. ${explanation}`, headers } = refusal;
  return wantsJson(c)
    ? c.json({ error }, status, { ...NOT_KEPT, ...headers })
    : answerPage(c, problemPage(title, explanation), status, { ...NOT_KEPT, ...headers });
}
