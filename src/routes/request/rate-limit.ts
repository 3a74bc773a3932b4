/**
 * Holds a request against a limit of its client, before or beside its work.
 *
 * Cost: one call of the client's window. Once a client is over a limit, this isolate remembers until when, so that
 * further requests reach neither the window nor the code host.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { ClientAttempts } from '../../guard/client-attempts.ts';
import { limitText, OPEN_LIMITS, type OpenLimitName } from '../../guard/limits.ts';
import { clientOf, rateWindowOf } from './client.ts';
import { type Refused, refused } from './refused.ts';
import { retryAfter } from './write-refusal.ts';

const MAX_REMEMBERED = 10_000;

const vainLookUps = new ClientAttempts();

/** When a client may try again, by its hash and the limit; milliseconds since 1970. */
const refusedUntil = new Map<string, number>();

/** Counts an attempt. Answers how long the client must wait; 0 if it need not. Rejects if nobody can tell. */
async function countAttempt(c: Context<AppEnv>, name: OpenLimitName): Promise<number> {
  const known = await knownWait(c, name);
  if (known > 0) return known;
  const client = await clientOf(c);
  const { waitMs } = await rateWindowOf(c.env, client).hit(name, c.var.config.limits[name]);
  if (waitMs > 0) remember(`${name} ${client.hash('window')}`, Date.now() + waitMs);
  return waitMs;
}

/**
 * Counts a look-up that found nothing. Each isolate counts for itself, because asking for what does not exist must
 * leave nothing behind, not even an object that counts. Answers how long the client must wait; 0 if it need not.
 */
export async function countVainLookUp(c: Context<AppEnv>): Promise<number> {
  try {
    const client = (await clientOf(c)).hash('window');
    const now = Date.now();
    const { waitMs } = vainLookUps.hit(client, c.var.config.limits.lookUps, now);
    if (waitMs > 0) remember(`lookUps ${client}`, now + waitMs);
    return waitMs;
  } catch (error) {
    c.var.logger.warn('a limit could not be checked', { error });
    return 0;
  }
}

/** How long the client must wait, as far as this isolate knows. Counts nothing. */
export async function knownWait(c: Context<AppEnv>, name: OpenLimitName): Promise<number> {
  if (refusedUntil.size === 0) return 0;
  const key = `${name} ${(await clientOf(c)).hash('window')}`;
  const until = refusedUntil.get(key);
  const waitMs = until === undefined ? 0 : until - Date.now();
  // Longer than any window: the clock was set back.
  const isOver =
    waitMs <= 0 || waitMs > Math.max(...c.var.config.limits[name].map((limit) => limit.withinMs));
  if (!isOver) return waitMs;
  refusedUntil.delete(key);
  return 0;
}

/** For endpoints that write: fails closed. Null if the client may go on. */
export async function refuseTooMany(c: Context<AppEnv>, name: OpenLimitName): Promise<Refused | null> {
  let waitMs: number;
  try {
    waitMs = await countAttempt(c, name);
  } catch (error) {
    c.var.logger.error('a limit could not be checked', { error });
    const message = 'the service cannot check its limits; nothing was posted: try again in a minute';
    return refused(503, message, { 'Retry-After': '60' });
  }
  if (waitMs === 0) return null;
  return refused(429, tooMany(c, name, waitMs), { 'Retry-After': retryAfter(waitMs) });
}

/**
 * For endpoints that only read: the work begins at once, and its answer is given up if the client is over the limit.
 * If the limit cannot be checked, the request passes.
 */
export async function withinLimit(
  c: Context<AppEnv>,
  name: OpenLimitName,
  work: () => Promise<Response>,
): Promise<Response> {
  const known = await knownWait(c, name).catch(() => 0);
  if (known > 0) return textRefusal(c, name, known);
  const counted = countAttempt(c, name).catch((error: unknown) => {
    c.var.logger.warn('a limit could not be checked', { error });
    return 0;
  });
  const [waitMs, answer] = await Promise.all([counted, work()]);
  if (waitMs === 0) return answer;
  c.executionCtx.waitUntil(answer.body?.cancel() ?? Promise.resolve());
  return textRefusal(c, name, waitMs);
}

/** Git shows plain text behind `remote:`. */
export function textRefusal(c: Context<AppEnv>, name: OpenLimitName, waitMs: number): Response {
  return c.text(`${sentence(tooMany(c, name, waitMs))}\n`, 429, {
    'Retry-After': retryAfter(waitMs),
    'Cache-Control': 'no-store',
  });
}

/** `too many pushes from your network: at most 60 in 1m; try again in 5 s` */
export function tooMany(c: Context<AppEnv>, name: OpenLimitName, waitMs: number): string {
  const limit = limitText(c.var.config.limits[name]);
  const { what } = OPEN_LIMITS[name];
  return `too many ${what} from your network: at most ${limit}; try again in ${retryAfter(waitMs)} s`;
}

export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

function remember(key: string, until: number): void {
  refusedUntil.delete(key);
  refusedUntil.set(key, until);
  for (const oldest of refusedUntil.keys()) {
    if (refusedUntil.size <= MAX_REMEMBERED) break;
    refusedUntil.delete(oldest);
  }
}
