/**
 * The refusal of a request: one value, whether a program, Git or a person reads it, and one way to
 * answer it.
 * Proved by test/routes/unmatched.test.ts and test/routes/threads/issues.test.ts.
 */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '../../env.ts';
import { hostNameOf, tokenVariable } from '../../config/hosts.ts';
import type { Failure } from '../../words/host-error.ts';
import { sentence } from '../../words/sentence.ts';
import { problemPage } from '../../pages/report-page.ts';
import { answerPage } from '../pages/answer-page.ts';

/** The header of an answer in JSON by which programs tell errors apart. */
export const ERROR_CODE = 'X-Error-Code';

/** Codes of errors: one for each status. Those and the ones below never change. */
export const CODES = {
  400: 'invalid-request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  405: 'method-not-allowed',
  408: 'body-incomplete',
  409: 'conflict',
  413: 'body-too-large',
  415: 'unsupported-type',
  422: 'key-reused',
  429: 'too-many-requests',
  500: 'internal-error',
  502: 'host-unreachable',
  503: 'unavailable',
} as const;

export const ERROR_CODES = [
  ...Object.values(CODES),
  'invalid-payload', // The body is no JSON object.
  'invalid-field', // The message names the field.
  'not-created', // The host does not take it: the repository or the thread may be missing.
  'not-accepted', // The repository does not take this kind of contribution.
  'blocked', // The pseudonym, as with the next one.
  'cooldown',
  'may-exist', // The host has not answered, so it may have been posted.
  'suspended',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];
export type ErrorStatus = keyof typeof CODES;

export interface Refused {
  readonly kind: 'refused';
  readonly status: ContentfulStatusCode;
  /** The words of JSON endpoints: a sentence without its capital and its full stop. */
  readonly error: string;
  /** The title for people. Default: none in text, `Not now` on a page. */
  readonly title?: string;
  /** The explanation for people. Default: `error`, as a sentence on a page. */
  readonly explanation?: string;
  /** The path that people may have meant. */
  readonly onward?: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly code: ErrorCode;
}

/**
 * Makes a refusal.
 * @param code by default that of the status.
 */
export function refused(
  status: ContentfulStatusCode,
  error: string,
  headers: Readonly<Record<string, string>> = {},
  code: ErrorCode = CODES[status as ErrorStatus] ?? 'internal-error',
): Refused {
  return { kind: 'refused', status, error, headers, code };
}

/** Headers of answers that depend on the request, or change from one moment to the next. */
export const NOT_KEPT = { 'Cache-Control': 'no-store' };

/** Refuses anything but a push, which is answered in-band. */
export const BUSY = refused(503, 'the service is busy: try again in a minute', { 'Retry-After': '60' });

/**
 * Refuses because the disk may be full. It does not say whether anything was done, because not
 * every request is one write.
 */
export const CANNOT_WRITE = refused(503, 'the service cannot write at the moment; try again later', {
  'Retry-After': '60',
});

/**
 * Refuses a field of a payload.
 * @param error names the field.
 */
export function invalidField(error: string): Refused {
  return refused(400, error, {}, 'invalid-field');
}

/** Makes a refusal for people first. A program gets the same words. */
export function explained(
  status: ContentfulStatusCode,
  title: string,
  explanation: string,
  headers: Readonly<Record<string, string>> = {},
): Refused {
  return { ...refused(status, `${title}. ${explanation}`, headers), title, explanation };
}

/** Makes a refusal for a form that is shown again: whole sentences, without a title. */
export function problem(status: ContentfulStatusCode, explanation: string): Refused {
  return { ...refused(status, explanation), explanation };
}

export function explanationOf({ explanation, error }: Refused): string {
  return explanation ?? sentence(error);
}

/** `json`: for programs (contract, section 4). `text`: Git shows it behind `remote:`. */
export type AnswerForm = 'json' | 'text' | 'page';

export function answerRefused(
  c: Context<AppEnv>,
  refusal: Refused,
  form: AnswerForm = 'json',
): Response | Promise<Response> {
  const { status, error, code, title, explanation, headers } = refusal;
  switch (form) {
    case 'json':
      return c.json({ error }, status, { ...headers, [ERROR_CODE]: code });
    case 'text':
      return c.text(`${title === undefined ? '' : `${title}. `}${explanation ?? error}\n`, status, headers);
    case 'page': {
      const page = problemPage(title ?? 'Not now', explanationOf(refusal), refusal.onward);
      // It may depend on what someone has typed.
      return answerPage(c, page, status, { ...NOT_KEPT, ...headers });
    }
  }
}

/** The standard's phrases (RFC 9110, section 15), because HTTP/2 carries none. */
const PHRASES: Readonly<Record<number, string>> = {
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  422: 'Unprocessable Entity',
  451: 'Unavailable For Legal Reasons',
};

/** Writes a status with its phrase: `404 Not Found`. */
export function statusText(status: number | null): string {
  return `${status} ${PHRASES[status ?? 0] ?? ''}`.trim();
}

export function writeRefusal(c: Context<AppEnv>, what: 'comment' | 'issue', failure: Failure): Refused {
  const hostName = hostNameOf(c.var.host);
  const { effect, lasts, retryAfterMs, status, says, whose } = failure;
  if (effect === 'unknown' || (status === null && lasts !== 'until')) {
    const error = `no answer from ${hostName}: the ${what} may exist; look there before you try again`;
    return refused(502, error, {}, 'may-exist');
  }
  if (lasts === 'until') {
    // Without a status, the words are the service's own.
    const why = status === null && says !== '' ? says : 'asks to slow down';
    const error = `${hostName} ${why}; the ${what} was not created: try again later`;
    return refused(503, error, { 'Retry-After': retryAfter(retryAfterMs ?? 60_000) });
  }
  const phrase = statusText(status);
  const logged = { step: what, hostSays: says || phrase };
  if (whose === 'ours') c.var.logger.warn('the code host refused the bot account', logged);
  else c.var.logger.info('the code host refused what was posted', logged);
  // The contract has the status alone.
  const refusal = refused(400, `failed to create ${what}: ${phrase}`, {}, 'not-created');
  if (says === '') return refusal;
  return { ...refusal, explanation: `${sentence(refusal.error)} ${hostName} says: ${says}` };
}

/** Refuses a host without a bot account; null: it has one. */
export function refuseWithoutBot(c: Context<AppEnv>): Refused | null {
  const { key, token } = c.var.host;
  if (token !== null) return null;
  return refused(503, `this service has no bot account yet: its operator must set ${tokenVariable(key)}`);
}

/** The value of Retry-After: whole seconds, at least one (RFC 9110, 10.2.3). */
export function retryAfter(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)));
}
