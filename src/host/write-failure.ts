/** How the host failed to take something new, as plain data that crosses from a Durable Object to a route. */
import type { HostError } from '../host-error.ts';
import { askedPauseMs } from './failure.ts';
import { failureStatus } from './rest/request-failure.ts';

export type WriteFailure =
  /** It said no. `status` is the HTTP status with its phrase, such as `404 Not Found`; `said` is for the operator. */
  | { readonly kind: 'refused'; readonly status: string; readonly said: string | null }
  /** It did nothing, and asks for a pause; null if it does not say how long. */
  | { readonly kind: 'rate-limited'; readonly pauseMs: number | null }
  /** No answer, or a broken one: it is unknown whether it was done. */
  | { readonly kind: 'unreachable' };

/** HTTP/2 carries no phrases, so they are the standard's (RFC 9110, section 15). */
const PHRASES: Readonly<Record<number, string>> = {
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  422: 'Unprocessable Entity',
  423: 'Locked',
  451: 'Unavailable For Legal Reasons',
};

export function writeFailure(error: HostError): WriteFailure {
  if (error.code === 'rate-limited') return { kind: 'rate-limited', pauseMs: askedPauseMs(error) };
  const status = failureStatus(error.cause);
  if (error.code === 'unreachable' || status === undefined) return { kind: 'unreachable' };
  return { kind: 'refused', status: `${status} ${PHRASES[status] ?? ''}`.trim(), said: error.said };
}
