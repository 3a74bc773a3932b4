/**
 * What the bot account asks its code host is charged to the client that causes it: the host allows some 5,000 calls an
 * hour for everybody, and a page, a badge or a push that is refused costs some of them, too.
 *
 * Cost: a call is counted in memory. Every so often the isolate tells the client's window, so that several isolates
 * know together what a client has caused.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { onForget, Recent } from '../../isolate/recent.ts';
import { ClientAttempts } from '../../limits/client-attempts.ts';
import { CLIENT_CALLS } from '../../limits/limits.ts';
import { isAhead } from '../../limits/sliding-window.ts';
import { clientWindowsOf } from '../../objects.ts';
import { HttpClient } from '../../outgoing/http-client.ts';
import { clientOf, siteWindowKey } from './client.ts';
import { type Refused, refused } from './refused.ts';
import { retryAfter } from './write-refusal.ts';

/** The window is told of so many at a time. */
const BATCH = 20;
const BATCHES = { most: CLIENT_CALLS.most / BATCH, withinMs: CLIENT_CALLS.withinMs };
const MOST_REMEMBERED = 10_000;

const calls = new ClientAttempts();
onForget(() => calls.clear());

/** Until when a client must wait, by its hash; milliseconds since 1970. */
const waitsUntil = new Recent<number>({ most: MOST_REMEMBERED });

/** Charges each call of a host's REST interface to the client of the request. */
export class ChargedHttp extends HttpClient {
  readonly #c: Context<AppEnv>;

  constructor(c: Context<AppEnv>) {
    super(c.var.config.outgoingFetchHosts);
    this.#c = c;
  }

  override fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const { hosts } = this.#c.var.config;
    if (typeof input === 'string' && hosts.some(({ apiUrl }) => input.startsWith(`${apiUrl}/`))) {
      waitUntil(charge(this.#c));
    }
    return super.fetch(input, init);
  }
}

/** Never rejects: what cannot be counted is not charged. */
async function charge(c: Context<AppEnv>): Promise<void> {
  try {
    const key = siteWindowKey(await clientOf(c));
    const now = Date.now();
    const { waitMs, attempts } = calls.hit(key, [CLIENT_CALLS], now);
    if (waitMs > 0) waitsUntil.set(key, now + waitMs);
    if (attempts % BATCH !== 0) return;
    const told = await clientWindowsOf(c.env, key).hit(key, 'calls', [BATCHES]);
    if (told.waitMs > 0) waitsUntil.set(key, now + told.waitMs);
  } catch (error) {
    c.var.logger.warn('a limit could not be checked', { error });
  }
}

/** Why a client may not cause more calls now, as far as this isolate knows; null if it may. Never rejects. */
export async function refuseCauser(c: Context<AppEnv>): Promise<Refused | null> {
  if (waitsUntil.size === 0) return null;
  const key = siteWindowKey(await clientOf(c));
  const now = Date.now();
  const until = waitsUntil.get(key) ?? 0;
  if (!isAhead(until, CLIENT_CALLS.withinMs, now)) return null;
  const { most } = CLIENT_CALLS;
  const why = `requests from your network have made the service ask the code host ${most} times within an hour, which is the limit`;
  const seconds = retryAfter(until - now);
  return refused(429, `${why}; try again in ${seconds} s`, { 'Retry-After': seconds });
}
