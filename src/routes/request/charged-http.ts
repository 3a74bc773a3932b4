/**
 * What the bot account asks its code host is charged to the client that causes it: the host allows some 5,000 calls an
 * hour for everybody, and a page, a badge or a push that is refused costs some of them, too.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import { hostNameOf } from '../../config/hosts.ts';
import { accountOf } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { readsPauseMs } from '../../host/account/account-budget.ts';
import { HostPause } from '../../host/failure.ts';
import { HttpClient } from '../../outgoing/http-client.ts';
import { limitsOf } from './limits.ts';

/** Discovery belongs to a push, or to a fetch, which asks Git. */
const DISCOVERY = /\/info\/refs$/;

export class ChargedHttp extends HttpClient {
  readonly #c: Context<AppEnv>;

  constructor(c: Context<AppEnv>) {
    super(c.var.config.outgoingFetchHosts);
    this.#c = c;
  }

  /** @throws HostPause for a page or a badge, when the calls that are left are for those who write */
  override async fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const { config } = this.#c.var;
    const host =
      typeof input === 'string'
        ? config.hosts.find(({ apiUrl }) => input.startsWith(`${apiUrl}/`))
        : undefined;
    if (host === undefined) return super.fetch(input, init);
    const { method, path } = this.#c.req;
    const onlyReads = (method === 'GET' || method === 'HEAD') && !DISCOVERY.test(path);
    const pauseMs = onlyReads ? readsPauseMs(accountOf(host), Date.now()) : 0;
    if (pauseMs > 0) throw new HostPause(hostNameOf(host), pauseMs);
    waitUntil(limitsOf(this.#c).charge());
    return super.fetch(input, init);
  }
}
