/**
 * The operator's controls: the panic switch, the burst detector, alerts and their buttons, and the pull requests that a
 * rollback closes (contract, 3.2 to 3.4). One object for the whole service, so that the switch works everywhere
 * immediately.
 *
 * Cost: a push attempt writes nothing, because the last minute of pushes is only in memory. A pull request writes one
 * row, and an alert about five. After a restart of the object, the minute and the limit of pushes begin anew.
 * Everything else stays as it was, above all the panic switch.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import { type Action, pardonOf } from './action-token.ts';
import { type AccountPlace, type Alert, type Appeal, type ModerationNews, pseudonymOf } from './alert.ts';
import { burstToTell, ToldBurstRecord } from './burst-alerts.ts';
import { BurstDetector } from './burst-detector.ts';
import { ClientAttempts } from '../../limits/client-attempts.ts';
import { MODERATION_ALERT_LIMITS } from '../../limits/limits.ts';
import type { PanicScope } from './panic-scope.ts';
import { EMPTY_WINDOW, type Limit, type SlidingWindow, type Wait, hit } from '../../limits/sliding-window.ts';
import type { TokenProblem } from '../../host/account/account-rules.ts';
import { ActionTokens } from './action-tokens.ts';
import { Alerts } from './alerts.ts';
import { closingWorld } from './close-at-host.ts';
import { ReviewTold } from './review-told.ts';
import { type RollbackResult, Rollbacks } from './rollbacks.ts';
import { type AccountProblems, TokenReport } from './token-report.ts';
import { TRACKED_MS, type TrackedPullRequest, TrackedPullRequests } from './tracked-pull-requests.ts';

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

/** What everybody may know. */
export interface GuardStatus extends Suspension {
  readonly accountProblems: AccountProblems;
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

/** How long this client must wait, and whether everybody must. */
export interface Admittance extends Wait {
  readonly panicMode: boolean;
}

export class Guard extends DurableObject<Env> {
  readonly #detector = new BurstDetector();
  readonly #attempts = new ClientAttempts();
  readonly #tracked: TrackedPullRequests;
  readonly #tokens: ActionTokens;
  readonly #alerts: Alerts;
  readonly #rollbacks: Rollbacks;
  readonly #toldBurst: ToldBurstRecord;
  readonly #reviewTold: ReviewTold;
  /** Of this life of the object. */
  readonly #told = new Map<keyof typeof MODERATION_ALERT_LIMITS, SlidingWindow>();
  readonly #tokenReport: TokenReport;
  #suspension: Suspension;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { sql, kv } = ctx.storage;
    this.#suspension = {
      panicMode: kv.get<boolean>(SWITCHES.panicMode) ?? false,
      writesSuspended: kv.get<boolean>(SWITCHES.writesSuspended) ?? false,
    };
    this.#tracked = new TrackedPullRequests(sql);
    this.#tokens = new ActionTokens(sql);
    this.#alerts = new Alerts(sql, this.#tokens);
    this.#rollbacks = new Rollbacks(sql, this.#tracked);
    this.#toldBurst = new ToldBurstRecord(kv);
    this.#reviewTold = new ReviewTold(kv);
    this.#tokenReport = new TokenReport(kv);
  }

  status(): GuardStatus {
    return { ...this.#suspension, accountProblems: this.#tokenReport.current(Date.now()) };
  }

  /**
   * Counts a push attempt, whether or not it is accepted.
   * @param address as a keyed hash. @param limits of one address. @param site as a keyed hash: all addresses that the
   * client may hold.
   */
  async admit(address: string, limits: readonly Limit[], site: string): Promise<Admittance> {
    const at = Date.now();
    const hasBegun = this.#detector.record({ address, site }, at) !== null;
    if (this.#detector.isOn) await this.#tellBurst(hasBegun, at);
    const { waitMs, withinMs } = this.#attempts.hit(address, limits, at);
    return { panicMode: this.#suspension.panicMode, waitMs, withinMs };
  }

  /** Something is wrong with the bot's account or token, or nothing any more. */
  async tokenProblems(
    account: string,
    place: AccountPlace,
    problems: readonly TokenProblem[],
  ): Promise<void> {
    const now = Date.now();
    if (this.#tokenReport.take(account, problems, now)) {
      await this.#raise({ kind: 'token', account: place, problems }, null, now);
    }
  }

  /**
   * A pull request is open. @param site of who has pushed it, as for `admit`; null: nobody knows.
   * @param openedAt milliseconds since 1970.
   */
  async opened(pullRequest: TrackedPullRequest, site: string | null, openedAt: number): Promise<void> {
    // A clock that is ahead must not make the two hours longer.
    const at = Math.min(openedAt, Date.now());
    this.#tracked.opened(pullRequest, site, at);
    await this.#wakeAt(at + TRACKED_MS);
  }

  /**
   * @param client the keyed hash of its address, and the address itself, which is kept only until the alert was sent.
   */
  async rateLimitExceeded(
    client: { readonly hash: string; readonly network: string },
    figures: { readonly attempts: number; readonly most: number },
  ): Promise<void> {
    const alert: Alert = { kind: 'rate-limit', client: pseudonymOf(client.hash), ...figures };
    await this.#raise(alert, client.network, Date.now());
  }

  /** False if it is to be told later. @param at when it happened; milliseconds since 1970. */
  async moderated(news: ModerationNews, at: number): Promise<boolean> {
    const kind = news.comments === 0 ? 'nobody' : 'news';
    const told = this.#mayTell(kind);
    // Flagging a pseudonym without comments costs nothing, so these are dropped and not kept for later.
    if (told === null) return kind === 'nobody';
    const isLast = told === MODERATION_ALERT_LIMITS[kind].most;
    await this.#raise({ kind: 'moderation', ...news, isLast }, null, at);
    return true;
  }

  /** False if too many come at once. */
  async appealed(appeal: Appeal, at: number): Promise<boolean> {
    if (this.#mayTell('appeal') === null) return false;
    await this.#raise({ kind: 'appeal', ...appeal }, null, at);
    return true;
  }

  /**
   * A push has begun to wait for the operator. Told at once, or an hour after the last time; then the alert says how
   * many there were by then. @param waiting how many do.
   */
  async toReview(waiting: number): Promise<void> {
    const now = Date.now();
    const at = this.#reviewTold.next(now);
    if (!this.#alerts.raiseReview(this.env, waiting, now, at)) return;
    this.#reviewTold.set(at);
    await this.#wakeAt(at);
  }

  /** False if the credential is not good for looking at them. */
  mayReview(credential: Credential): boolean {
    if (!this.#accepts(credential, 'review')) return false;
    this.#alerts.forgetReview();
    return true;
  }

  /** False if the credential is not good for pardoning this pseudonym. */
  mayPardon(hash: string, credential: Credential): boolean {
    return this.#accepts(credential, pardonOf(hash));
  }

  /** A pardon has failed: the button may be pressed again. */
  pardonFailed(credential: Credential): void {
    if (credential.kind === 'token') this.#tokens.giveBack(credential.hash);
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
   * Begins to close the pull requests of the last two hours. Answers the rollback's id, for `rollbackResult`; null if the
   * credential is not valid. Asked again with the same credential while it runs, it answers the same id.
   * @param spareSingle leaves alone the pull requests of clients that opened only one.
   */
  async beginRollback(credential: Credential, spareSingle: boolean): Promise<string | null> {
    const now = Date.now();
    const tokenHash = credential.kind === 'token' ? credential.hash : null;
    const running = this.#rollbacks.runningOf(tokenHash, spareSingle);
    if (running !== null) return running;
    if (!this.#accepts(credential, 'rollback')) return null;
    const id = this.#rollbacks.begin(tokenHash, spareSingle, now);
    await this.#wakeAt(now);
    return id;
  }

  /** Resolves when the rollback has ended; null if its result is not kept any more. */
  rollbackResult(id: string): Promise<RollbackResult | null> {
    return this.#rollbacks.result(id);
  }

  override async alarm(): Promise<void> {
    const { env } = this;
    const rollingBack = this.#rollbacks.run(closingWorld(env), Date.now, (token) =>
      this.#tokens.giveBack(token),
    );
    // One alarm runs at a time: alerts that the notification service does not take must not hold up a rollback.
    const [retryAt] = await Promise.all([
      this.#alerts.deliver(env, () => this.#rollbacks.isWaiting),
      rollingBack,
    ]);
    const now = Date.now();
    const expiry = [this.#tokens, this.#tracked, this.#rollbacks, this.#toldBurst, this.#reviewTold]
      .map((part) => part.forgetOld(now))
      .filter((at) => at !== null);
    const cleaning = expiry.length === 0 ? [] : [Math.max(Math.min(...expiry), now + CLEANING_PAUSE_MS)];
    const waiting = this.#rollbacks.isWaiting ? [now] : [];
    const next = Math.min(...cleaning, ...waiting, retryAt ?? Infinity);
    if (next < Infinity) await this.#wakeAt(next);
  }

  /** How many of the kind have been told within the hour, this one included; null: enough of them. */
  #mayTell(kind: keyof typeof MODERATION_ALERT_LIMITS): number | null {
    const after = hit(this.#told.get(kind) ?? EMPTY_WINDOW, [MODERATION_ALERT_LIMITS[kind]], Date.now());
    this.#told.set(kind, after.window);
    return after.hit.allowed ? after.hit.attempts : null;
  }

  #accepts(credential: Credential, action: Action): boolean {
    return credential.kind === 'password' || this.#tokens.use(credential.hash, action, Date.now());
  }

  async #tellBurst(hasBegun: boolean, now: number): Promise<void> {
    const { figures } = this.#detector;
    const busiest = () => this.#detector.busiest();
    const told = burstToTell(this.#toldBurst.last, figures, hasBegun, busiest, now);
    if (told === null) return;
    this.#toldBurst.set(told);
    await this.#raise({ kind: 'burst', ...figures, most: busiest().pushes }, null, now);
  }

  async #raise(alert: Alert, address: string | null, now: number): Promise<void> {
    if (this.#alerts.raise(this.env, alert, address, now)) await this.#wakeAt(now);
  }

  async #wakeAt(at: number): Promise<void> {
    const planned = await this.ctx.storage.getAlarm();
    if (planned === null || at < planned) await this.ctx.storage.setAlarm(at);
  }
}
