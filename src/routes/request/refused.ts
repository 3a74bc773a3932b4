/** Why a request is refused: one value, whether a program, Git or a person reads it, and one way to answer it. */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '../../env.ts';
import { CODES, ERROR_CODE, type ErrorCode, type ErrorStatus } from './error-codes.ts';
import { problemPage } from '../../pages/report-page.ts';
import { answerPage } from '../pages/answer-page.ts';

export interface Refused {
  readonly kind: 'refused';
  readonly status: ContentfulStatusCode;
  /** As JSON endpoints say it: a sentence without its capital and its full stop. */
  readonly error: string;
  /** For people. Default: only the explanation. */
  readonly title?: string;
  /** For people. Default: `error`. */
  readonly explanation?: string;
  /** For people: the path that they may have meant. */
  readonly onward?: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly code: ErrorCode;
}

/** @param code by default that of the status. */
export function refused(
  status: ContentfulStatusCode,
  error: string,
  headers: Readonly<Record<string, string>> = {},
  code: ErrorCode = CODES[status as ErrorStatus] ?? 'internal-error',
): Refused {
  return { kind: 'refused', status, error, headers, code };
}

/** For everything but a push, which is answered in-band. */
export const BUSY = refused(503, 'the service is busy: try again in a minute', { 'Retry-After': '60' });

/** @param error names the field. */
export function invalidField(error: string): Refused {
  return refused(400, error, {}, 'invalid-field');
}

/** For people first; a program gets the same words. */
export function explained(
  status: ContentfulStatusCode,
  title: string,
  explanation: string,
  headers: Readonly<Record<string, string>> = {},
): Refused {
  return { ...refused(status, `${title}. ${explanation}`, headers), title, explanation };
}

/** For a form that is shown again: whole sentences, without a title. */
export function problem(status: ContentfulStatusCode, explanation: string): Refused {
  return { ...refused(status, explanation), explanation };
}

/** In whole sentences. */
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
    case 'text': {
      const heading = title === undefined ? '' : `${title}. `;
      return c.text(`${heading}${explanation ?? error}\n`, status, headers);
    }
    case 'page': {
      const page = problemPage(title ?? 'Not now', explanationOf(refusal), refusal.onward);
      // It may depend on what someone has typed.
      return answerPage(c, page, status, { 'Cache-Control': 'no-store', ...headers });
    }
  }
}

export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
