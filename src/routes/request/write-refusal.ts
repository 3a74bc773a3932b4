/** The refusals if the host refuses a comment or an issue (contract, section 7). */
import type { Context } from 'hono';
import { hostNameOf, tokenVariable } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import type { Failure } from '../../host-error.ts';
import { type Refused, refused, sentence } from './refused.ts';

/** The wait if the host does not say how long to wait. */
const USUAL_PAUSE_MS = 60_000;

/** HTTP/2 carries no phrases, so they are the standard's (RFC 9110, section 15). */
const PHRASES: Readonly<Record<number, string>> = {
  301: 'Moved Permanently',
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

export function writeRefusal(c: Context<AppEnv>, what: 'comment' | 'issue', failure: Failure): Refused {
  const hostName = hostNameOf(c.var.host);
  const { effect, lasts, retryAfterMs, status, says } = failure;
  if (effect === 'unknown' || (status === null && lasts !== 'until')) {
    return refused(
      502,
      `no answer from ${hostName}: the ${what} may exist; look there before you try again`,
      {},
      'may-exist',
    );
  }
  if (lasts === 'until') {
    return refused(503, `${hostName} asks to slow down; the ${what} was not created: try again later`, {
      'Retry-After': retryAfter(retryAfterMs ?? USUAL_PAUSE_MS),
    });
  }
  const phrase = `${status} ${PHRASES[status ?? 0] ?? ''}`.trim();
  c.var.logger.warn('the code host refused the bot account', { step: what, hostSays: says || phrase });
  // The contract has the status alone.
  const refusal = refused(400, `failed to create ${what}: ${phrase}`, {}, 'not-created');
  if (says === '') return refusal;
  return { ...refusal, explanation: `${sentence(refusal.error)} ${hostName} says: ${says}` };
}

/** Of a host without a bot account; null if it has one. */
export function refuseWithoutBot(c: Context<AppEnv>): Refused | null {
  const { key, token } = c.var.host;
  if (token !== null) return null;
  return refused(503, `this service has no bot account yet: its operator must set ${tokenVariable(key)}`);
}

/** Whole seconds, at least one (RFC 9110, 10.2.3). */
export function retryAfter(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)));
}
