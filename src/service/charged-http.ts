/**
 * Charges the bot account's calls to the client that causes them: the host allows some 5,000 an
 * hour for everybody.
 * Proved by test/routes/request/refused-first.test.ts.
 */
import { waitUntil } from 'cloudflare:workers';
import { hostNameOf } from '../config/hosts.ts';
import { accountOf } from '../host-access.ts';
import { readsPauseMs } from '../host/account/account-budget.ts';
import { HostPause } from '../host/failure.ts';
import { NO_WAIT, toldMs } from '../limits/sliding-window.ts';
import { HttpClient } from '../outgoing/http-client.ts';
import { HostError } from '../words/host-error.ts';
import { sentence } from '../words/sentence.ts';
import { type LimitedScope, limitsOf, tooMany } from './limits.ts';

/**
 * The kind of a request. A discovery reads, too, but somebody who writes may wait for it. One of a
 * page of another site must not use up the calls that its reader's network may cause.
 */
export type RequestKind = 'page' | 'discovery' | 'foreign-discovery' | 'write';

export class ChargedHttp extends HttpClient {
  readonly #scope: LimitedScope;
  readonly #kind: RequestKind;

  /** @param kind of the request that causes the calls */
  constructor(scope: LimitedScope, kind: RequestKind) {
    super(scope.config.outgoingFetchHosts);
    this.#scope = scope;
    this.#kind = kind;
  }

  /**
   * Asks the limit at each call of a request that only reads, as hundreds of pages can begin at
   * once. What writes must not stop half-way.
   * @throws HostError if the request only reads and the client has no calls left, it is a page and
   * the account's are for those who write, or it is the discovery of another site's page
   */
  override async fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const { config } = this.#scope;
    const host = config.hosts.find(
      ({ apiUrl }) => typeof input === 'string' && input.startsWith(`${apiUrl}/`),
    );
    if (host === undefined) return super.fetch(input, init);
    if (this.#kind === 'foreign-discovery')
      throw new HostError('refused', 'Discoveries of other sites do not use the account.');
    const pauseMs = this.#kind === 'page' ? readsPauseMs(accountOf(host), Date.now()) : 0;
    if (pauseMs > 0) throw new HostPause(hostNameOf(host), pauseMs);
    const limits = limitsOf(this.#scope);
    const charging = limits.charge();
    waitUntil(charging.then(() => limits.tellCalls()));
    const wait = this.#kind === 'write' ? NO_WAIT : await charging;
    if (wait.waitMs === 0) return super.fetch(input, init);
    const message = sentence(tooMany(config, 'calls', wait));
    throw new HostError('rate-limited', message, undefined, { retryAfterMs: toldMs(wait), whose: 'person' });
  }
}
