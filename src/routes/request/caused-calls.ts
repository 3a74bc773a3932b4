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
import { clientWindowsOf } from '../../objects.ts';
import { HttpClient } from '../../outgoing/http-client.ts';
import { clientOf, siteWindowKey } from './client.ts';
import { rememberWait } from './rate-limit.ts';

/** The window is told of so many at a time. */
const BATCH = 20;

const calls = new ClientAttempts();
onForget(() => calls.clear());
/** By client: calls that its window was not told of. Of a crowd, those who caused some last are kept. */
const untold = new Recent<number>({ most: 10_000 });

/** Charges each call of a host's REST interface to the client of the request. */
export class ChargedHttp extends HttpClient {
  readonly #c: Context<AppEnv>;

  constructor(c: Context<AppEnv>) {
    super(c.var.config.outgoingFetchHosts);
    this.#c = c;
  }

  override fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const { hosts } = this.#c.var.config;
    const isCall = typeof input === 'string' && hosts.some(({ apiUrl }) => input.startsWith(`${apiUrl}/`));
    if (isCall) waitUntil(charge(this.#c));
    return super.fetch(input, init);
  }
}

/** Never rejects: what cannot be counted is not charged. */
async function charge(c: Context<AppEnv>): Promise<void> {
  try {
    const key = siteWindowKey(await clientOf(c));
    const limits = c.var.config.limits.calls;
    const { waitMs } = calls.hit(key, limits, Date.now());
    await rememberWait(c, 'calls', waitMs);
    const more = 1 + (untold.get(key) ?? 0);
    untold.set(key, more % BATCH);
    if (more < BATCH) return;
    const batches = limits.map(({ most, withinMs }) => ({ most: Math.ceil(most / BATCH), withinMs }));
    const told = await clientWindowsOf(c.env, key).hit(key, 'calls', batches);
    await rememberWait(c, 'calls', told.waitMs);
  } catch (error) {
    c.var.logger.warn('a limit could not be checked', { error });
  }
}
