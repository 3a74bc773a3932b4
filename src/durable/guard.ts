/**
 * The operator's controls: the panic switch, the burst detector, alerts and their buttons, and the pull requests that a
 * rollback closes (contract, 3.2 to 3.4). One object for the whole service, so that the switch works everywhere
 * immediately.
 *
 * Cost: a push attempt writes nothing, because the last minute of pushes is only in memory. A pull request writes one
 * row, and an alert about five. After a restart of the object, the minute and the limit of pushes begin anew. Everything else stays as it was,
 * above all the panic switch.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import type { Action } from '../guard/action-token.ts';
import { type Alert, pseudonymOf } from '../guard/alert.ts';
import { BURST_WINDOW_MS, BurstDetector } from '../guard/burst-detector.ts';
import { ClientAttempts } from '../guard/client-attempts.ts';
import type { Limit } from '../guard/sliding-window.ts';
import type { PanicScope } from '../guard/panic-scope.ts';
import type { TrackedPullRequest } from '../guard/tracked-pull-request.ts';
import { ActionTokens } from './guard/action-tokens.ts';
import { Alerts } from './guard/alerts.ts';
import { BurstRecord, TRACKED_MS } from './guard/burst-record.ts';

/** Expired entries have no effect, and are deleted within this time. */
const CLEANING_PAUSE_MS = 10 * 60 * 1000;

/** How a caller has shown that they are the operator. The password was compared by the caller of this object. */
export type Credential = { readonly kind: 'password' } | { readonly kind: 'token'; readonly hash: string };

/** What the operator has suspended. */
export interface Suspension {
  /** Pushes (contract, 3.2). */
  readonly panicMode: boolean;
  /** Comments and issues. */
  readonly writesSuspended: boolean;
}

/** Where each switch is kept. */
const SWITCHES = {
  panicMode: 'panic',
  writesSuspended: 'panic-writes',
} as const satisfies Record<keyof Suspension, string>;

const SWITCHES_OF: Readonly<Record<PanicScope, readonly (keyof Suspension)[]>> = {
  pushes: ['panicMode'],
  writes: ['writesSuspended'],
  all: ['panicMode', 'writesSuspended'],
};

export interface Admittance {
  readonly panicMode: boolean;
  readonly at: number;
  readonly waitMs: number;
}

export class Guard extends DurableObject<Env> {
  readonly #detector = new BurstDetector();
  readonly #attempts = new ClientAttempts();
  readonly #bursts: BurstRecord;
  readonly #tokens: ActionTokens;
  readonly #alerts: Alerts;
  #suspension: Suspension;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { sql, kv } = ctx.storage;
    this.#suspension = {
      panicMode: kv.get<boolean>(SWITCHES.panicMode) ?? false,
      writesSuspended: kv.get<boolean>(SWITCHES.writesSuspended) ?? false,
    };
    this.#bursts = new BurstRecord(sql);
    this.#tokens = new ActionTokens(sql);
    this.#alerts = new Alerts(sql, this.#tokens);
    // A burst that a restart interrupted ends within a minute, unless the detector fires again.
    this.#bursts.burstEnded(Date.now() + BURST_WINDOW_MS);
  }

  status(): Suspension {
    return this.#suspension;
  }

  /**
   * Counts a push attempt, whether or not it is accepted.
   * @param address as a keyed hash. @param limits of one client.
   * @returns the switch, the time of the attempt in milliseconds since 1970, and how long this client must wait (0: not
   *   at all).
   */
  async admit(address: string, limits: readonly Limit[]): Promise<Admittance> {
    const at = Date.now();
    this.#endBurst(at);
    const figures = this.#detector.record(address, at);
    if (figures !== null) {
      this.#bursts.burstBegan(at);
      await this.#wakeAt(at + BURST_WINDOW_MS);
      await this.#raise({ kind: 'burst', ...figures }, null, at);
    }
    const { waitMs } = this.#attempts.hit(address, limits, at);
    return { panicMode: this.#suspension.panicMode, at, waitMs };
  }

  /** A pull request is open. */
  async opened(pullRequest: TrackedPullRequest): Promise<void> {
    const now = Date.now();
    this.#endBurst(now);
    this.#bursts.opened(pullRequest, now);
    await this.#wakeAt(now + TRACKED_MS);
  }

  /**
   * @param client the keyed hash of its address, and the address itself, which is kept only until the alert was sent.
   */
  async rateLimitExceeded(client: { hash: string; network: string }, attempts: number): Promise<void> {
    const alert: Alert = { kind: 'rate-limit', client: pseudonymOf(client.hash), attempts };
    await this.#raise(alert, client.network, Date.now());
  }

  /** False if the credential is not valid for this. The switch is on disk before this resolves. */
  async setPanic(active: boolean, credential: Credential, scope: PanicScope = 'pushes'): Promise<boolean> {
    if (!this.#accepts(credential, active ? 'activate-panic' : 'deactivate-panic')) return false;
    for (const name of SWITCHES_OF[scope]) {
      this.ctx.storage.kv.put(SWITCHES[name], active);
      this.#suspension = { ...this.#suspension, [name]: active };
    }
    return true;
  }

  /**
   * The pull requests that the caller must close, and report with `endRollback`; null if the credential is not valid.
   */
  async beginRollback(credential: Credential): Promise<TrackedPullRequest[] | null> {
    const now = Date.now();
    this.#endBurst(now);
    return this.#accepts(credential, 'rollback') ? this.#bursts.tracked(now) : null;
  }

  /**
   * @param settledUrls those that need nothing more. The others stay for the next rollback.
   * @param isComplete false lets the token be used again.
   */
  async endRollback(
    credential: Credential,
    settledUrls: readonly string[],
    isComplete: boolean,
  ): Promise<void> {
    this.#bursts.settle(settledUrls);
    if (!isComplete && credential.kind === 'token') this.#tokens.giveBack(credential.hash);
  }

  override async alarm(): Promise<void> {
    const retryAt = await this.#alerts.deliver(this.env);
    const now = Date.now();
    this.#endBurst(now);
    const expiry = [this.#tokens.forgetExpired(now), this.#bursts.forgetOld(now)].filter((at) => at !== null);
    const cleaning = expiry.length === 0 ? [] : [Math.max(Math.min(...expiry), now + CLEANING_PAUSE_MS)];
    // The end of a burst must be noticed before the platform evicts this object, because the pushes are only in memory.
    const burstCheck = this.#detector.isOn ? [now + BURST_WINDOW_MS] : [];
    const next = Math.min(...cleaning, ...burstCheck, retryAt ?? Infinity);
    if (next < Infinity) await this.#wakeAt(next);
  }

  #accepts(credential: Credential, action: Action): boolean {
    return credential.kind === 'password' || this.#tokens.use(credential.hash, action, Date.now());
  }

  /** A burst is over when the detector may fire again. This is checked on every call, and once a minute. */
  #endBurst(now: number): void {
    if (this.#detector.rearm(now)) this.#bursts.burstEnded(now);
  }

  async #raise(alert: Alert, address: string | null, now: number): Promise<void> {
    if (this.#alerts.raise(this.env, alert, address, now)) await this.#wakeAt(now);
  }

  async #wakeAt(at: number): Promise<void> {
    const planned = await this.ctx.storage.getAlarm();
    if (planned === null || at < planned) await this.ctx.storage.setAlarm(at);
  }
}
