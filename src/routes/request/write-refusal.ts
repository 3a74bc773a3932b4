/** The refusals if the host refuses a comment or an issue (contract, section 7). */
import type { Context } from 'hono';
import { hostNameOf, tokenVariable } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import type { WriteFailure } from '../../host/write-failure.ts';
import { type Refused, refused } from './refused.ts';

/** The wait if the host does not say how long to wait. */
const USUAL_PAUSE_MS = 60_000;

export function writeRefusal(c: Context<AppEnv>, what: 'comment' | 'issue', failure: WriteFailure): Refused {
  const hostName = hostNameOf(c.var.host);
  switch (failure.kind) {
    case 'refused':
      if (failure.said !== null) {
        c.var.logger.warn('the code host refused the bot account', { step: what, hostSays: failure.said });
      }
      return refused(400, `failed to create ${what}: ${failure.status}`, {}, 'not-created');
    case 'rate-limited':
      return refused(503, `${hostName} asks to slow down; the ${what} was not created: try again later`, {
        'Retry-After': retryAfter(failure.pauseMs ?? USUAL_PAUSE_MS),
      });
    case 'unreachable':
      return refused(
        502,
        `no answer from ${hostName}: the ${what} may exist; look there before you try again`,
        {},
        'may-exist',
      );
  }
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
