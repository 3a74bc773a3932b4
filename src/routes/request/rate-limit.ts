/**
 * Holds a request against a limit of its client, always before its work: a refused client costs nobody else anything.
 *
 * Cost: one call of the client's window. Once a client is over a limit, this isolate remembers until when, so that
 * further requests do not reach the window either.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { onForget, Recent } from '../../isolate/recent.ts';
import { ClientAttempts } from '../../limits/client-attempts.ts';
import { limitText, OPEN_LIMITS, type OpenLimitName, waitText } from '../../limits/limits.ts';
import { isAhead, longestOf } from '../../limits/sliding-window.ts';
import { clientWindowsOf } from '../../objects.ts';
import { ALL_CLIENTS, type Client, clientOf, siteWindowKey, windowKey } from './client.ts';
import { answerRefused, type Refused, refused, sentence } from './refused.ts';
import { retryAfter } from './write-refusal.ts';

const MAX_REMEMBERED = 10_000;

const vainLookUps = new ClientAttempts();
onForget(() => vainLookUps.clear());

/** When a client may try again, by its hash and the limit; milliseconds since 1970. */
const refusedUntil = new Recent<number>({ most: MAX_REMEMBERED });

/** Counts an attempt. Answers how long the client must wait; 0 if it need not. Rejects if nobody can tell. */
export async function countAttempt(c: Context<AppEnv>, name: OpenLimitName): Promise<number> {
  const known = await knownWait(c, name);
  if (known > 0) return known;
  const client = await clientOf(c);
  const key = keyOf(name, client);
  const { waitMs } = await clientWindowsOf(c.env, key).hit(key, name, c.var.config.limits[name]);
  await rememberWait(c, name, waitMs);
  return waitMs;
}

/** A client over a limit need not ask again before its time is over. @param waitMs 0: it is within its limit. */
export async function rememberWait(c: Context<AppEnv>, name: OpenLimitName, waitMs: number): Promise<void> {
  if (waitMs > 0) refusedUntil.set(`${name} ${keyOf(name, await clientOf(c))}`, Date.now() + waitMs);
}

/** Names the client, or those who are counted with it. */
function keyOf(name: OpenLimitName, client: Client): string {
  const { countedFor } = OPEN_LIMITS[name];
  if (countedFor === 'all clients together') return ALL_CLIENTS;
  return countedFor === 'client' ? windowKey(client) : siteWindowKey(client);
}

/**
 * Counts a look-up that found nothing. Each isolate counts for itself, because asking for what does not exist must
 * leave nothing behind, not even an object that counts. Answers how long the client must wait; 0 if it need not.
 */
export async function countVainLookUp(c: Context<AppEnv>): Promise<number> {
  try {
    const key = `lookUps ${keyOf('lookUps', await clientOf(c))}`;
    const { waitMs } = vainLookUps.hit(key, c.var.config.limits.lookUps, Date.now());
    await rememberWait(c, 'lookUps', waitMs);
    return waitMs;
  } catch (error) {
    c.var.logger.warn('a limit could not be checked', { error });
    return 0;
  }
}

/** How long the client must wait, as far as this isolate knows. Counts nothing. */
export async function knownWait(c: Context<AppEnv>, name: OpenLimitName): Promise<number> {
  if (refusedUntil.size === 0) return 0;
  const key = `${name} ${keyOf(name, await clientOf(c))}`;
  const until = refusedUntil.get(key);
  const now = Date.now();
  if (until !== null && isAhead(until, longestOf(c.var.config.limits[name]), now)) return until - now;
  refusedUntil.delete(key);
  return 0;
}

/** For endpoints that write: fails closed. Null if the client may go on. */
export async function refuseTooMany(c: Context<AppEnv>, name: OpenLimitName): Promise<Refused | null> {
  let waitMs: number;
  try {
    const callsMs = await knownWait(c, 'calls');
    if (callsMs > 0) return overLimit(c, 'calls', callsMs);
    waitMs = await countAttempt(c, name);
  } catch (error) {
    return uncheckedLimit(c, error);
  }
  if (waitMs === 0) return null;
  return overLimit(c, name, waitMs);
}

export function uncheckedLimit(c: Context<AppEnv>, error: unknown): Refused {
  c.var.logger.error('a limit could not be checked', { error });
  const message = 'the service cannot check its limits; nothing was posted: try again in a minute';
  return refused(503, message, { 'Retry-After': '60' });
}

/** For endpoints that only read: if the limit cannot be checked, the request passes. */
export async function withinLimit(
  c: Context<AppEnv>,
  name: OpenLimitName,
  work: () => Promise<Response>,
): Promise<Response> {
  const waitMs = await countAttempt(c, name).catch((error: unknown) => {
    c.var.logger.warn('a limit could not be checked', { error });
    return 0;
  });
  return waitMs > 0 ? textRefusal(c, name, waitMs) : work();
}

export function textRefusal(
  c: Context<AppEnv>,
  name: OpenLimitName,
  waitMs: number,
): Response | Promise<Response> {
  const over = overLimit(c, name, waitMs);
  const headers = { ...over.headers, 'Cache-Control': 'no-store' };
  return answerRefused(c, { ...over, explanation: sentence(over.error), headers }, 'text');
}

function overLimit(c: Context<AppEnv>, name: OpenLimitName, waitMs: number): Refused {
  return refused(429, tooMany(c, name, waitMs), { 'Retry-After': retryAfter(waitMs) });
}

/** `too many pushes from your network: at most 60 in 1m; try again in about 5 seconds` */
export function tooMany(c: Context<AppEnv>, name: OpenLimitName, waitMs: number): string {
  const limit = limitText(c.var.config.limits[name]);
  const { what } = OPEN_LIMITS[name];
  return `too many ${what} from your network: at most ${limit}; try again in ${waitText(waitMs)}`;
}
