/**
 * The operator's controls: the panic switch, the burst detectors, alerts and their buttons, and what a rollback undoes
 * (contract, 3.2 to 3.4). One object for the whole service, so that the switch works everywhere immediately.
 *
 * Cost: a push attempt writes nothing, because the last minute is only in memory. A pull request, a comment or an issue
 * writes one row, and an alert about five. After a restart of the object, the minute and the limit of pushes start
 * again. Everything else stays as it was, above all the panic switch.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import type { TokenProblem } from '../../host/account/account-rules.ts';
import { Recent } from '../../isolate/recent.ts';
import { type ClientHits, hitBy, type Limit, type Wait } from '../../limits/sliding-window.ts';
import {
  type AccountPlace,
  type Action,
  type Alert,
  type Appeal,
  type ModerationNews,
  pardonOf,
  pseudonymOf,
} from '../../notify/alert.ts';
import { earliest } from '../due-rows.ts';
import { BURST_PAUSE_MS, BurstDetector, POST_BURST, PUSH_BURST, type ToldBurst } from './burst.ts';
import { type AccountProblems, MODERATION_ALERT_LIMITS, Operator } from './operator.ts';
import { type PanicScope, PanicSwitch, type Suspension } from './panic.ts';
import {
  type RollbackResult,
  stopDelayed,
  Rollbacks,
  type RollbackScope,
  TRACKED_MS,
  type TrackedPost,
  type TrackedPullRequest,
  undoAtHost,
} from './rollback.ts';
import { ActionTokens } from './tokens.ts';

/** Expired entries have no effect, and are deleted within this time. */
const CLEANING_PAUSE_MS = 10 * 60 * 1000;

/** How a caller has shown that they are the operator. The password was compared by the caller of this object. */
export type Credential = { readonly kind: 'password' } | { readonly kind: 'token'; readonly hash: string };

/** What everybody may know. */
export interface GuardStatus extends Suspension {
  readonly accountProblems: AccountProblems;
}

/** Pushes, for the longest time in which a limit may count them. */
const attempts: ClientHits = new Recent({ most: 50_000, lifeMs: 24 * 60 * 60_000 });

/** How long this client must wait, and whether everybody must. */
export interface Admittance extends Wait {
  readonly panicMode: boolean;
}

export class Guard extends DurableObject<Env> {
  readonly #bursts = { push: new BurstDetector(PUSH_BURST), post: new BurstDetector(POST_BURST) };
  readonly #panic: PanicSwitch;
  readonly #tokens: ActionTokens;
  readonly #operator: Operator;
  readonly #rollbacks: Rollbacks;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { sql, kv } = ctx.storage;
    this.#panic = new PanicSwitch(kv);
    this.#tokens = new ActionTokens(sql);
    this.#operator = new Operator(kv, this.#tokens);
    this.#rollbacks = new Rollbacks(sql);
  }

  status(): GuardStatus {
    return { ...this.#panic.suspension, accountProblems: this.#operator.accountProblems(Date.now()) };
  }

  /**
   * Counts a push attempt, whether or not it is accepted.
   * @param address as a keyed hash. @param limits of one address. @param site as a keyed hash: all addresses that the
   * client may hold.
   */
  async admit(address: string, limits: readonly Limit[], site: string): Promise<Admittance> {
    const at = Date.now();
    await this.#count('push', address, site, at);
    const { waitMs, withinMs } = hitBy(address, attempts, limits, at);
    return { panicMode: this.#panic.suspension.panicMode, waitMs, withinMs };
  }

  /** Something is wrong with the bot's account or token, or nothing any more. */
  async tokenProblems(
    account: string,
    place: AccountPlace,
    problems: readonly TokenProblem[],
  ): Promise<void> {
    const now = Date.now();
    if (this.#operator.takeReport(account, problems, now)) {
      await this.#tell({ kind: 'token', account: place, problems }, null, now);
    }
  }

  /** The bot account at a host has another login. */
  async accountRenamed(hostName: string, before: string, login: string): Promise<void> {
    await this.#tell({ kind: 'renamed', hostName, before, login }, null, Date.now());
  }

  /**
   * A pull request is open. @param site of who has pushed it, as for `admit`; null: nobody knows.
   * @param openedAt milliseconds since 1970.
   */
  async opened(pullRequest: TrackedPullRequest, site: string | null, openedAt: number): Promise<void> {
    await this.#track({ kind: 'pull-request', ...pullRequest }, site, openedAt);
  }

  /** A comment or an issue is there: a rollback can remove it. @param at milliseconds since 1970. */
  async posted(post: TrackedPost, at: number): Promise<void> {
    await this.#track(post, null, at);
  }

  /** Counts a comment or an issue that was posted. @param address and `site` as for `admit`. */
  async countPost(address: string, site: string): Promise<void> {
    await this.#count('post', address, site, Date.now());
  }

  /**
   * @param client the keyed hash of its address, and the address itself, which is kept only until the alert was sent.
   */
  async rateLimitExceeded(
    client: { readonly hash: string; readonly network: string },
    figures: { readonly attempts: number; readonly most: number },
  ): Promise<void> {
    const alert: Alert = { kind: 'rate-limit', client: pseudonymOf(client.hash), ...figures };
    await this.#tell(alert, client.network, Date.now());
  }

  /** False if it is to be told later. @param at when it happened; milliseconds since 1970. */
  async moderated(news: ModerationNews, at: number): Promise<boolean> {
    const kind = news.comments === 0 ? 'nobody' : 'news';
    const told = this.#operator.mayTell(kind, Date.now());
    // Flagging a pseudonym without comments costs nothing, so these are dropped and not kept for later.
    if (told === null) return kind === 'nobody';
    const isLast = told === MODERATION_ALERT_LIMITS[kind].most;
    return this.#tell({ kind: 'moderation', ...news, isLast }, null, at);
  }

  /** False if too many come at once. */
  async appealed(appeal: Appeal, at: number): Promise<boolean> {
    if (this.#operator.mayTell('appeal', Date.now()) === null) return false;
    return this.#tell({ kind: 'appeal', ...appeal }, null, at);
  }

  /** A push has begun to wait for the operator. @param waiting how many do. */
  async toReview(waiting: number): Promise<void> {
    const at = this.#operator.tellReview(this.env, waiting, Date.now());
    if (at !== null) await this.#wakeAt(at);
  }

  /** The clock has jumped forward while pushes waited. */
  async clockJumped(byMs: number): Promise<void> {
    await this.#tell({ kind: 'clock', byMs }, null, Date.now());
  }

  /** False if the credential is not good for looking at them. */
  mayReview(credential: Credential): boolean {
    if (!this.#accepts(credential, 'review')) return false;
    this.#operator.forgetReview();
    return true;
  }

  /** False if the credential is not good for pardoning this pseudonym. */
  mayPardon(hash: string, credential: Credential): boolean {
    return this.#accepts(credential, pardonOf(hash));
  }

  /** What it was for has failed: the button may be pressed again. */
  giveBack(credential: Credential): void {
    if (credential.kind === 'token') this.#tokens.giveBack(credential.hash);
  }

  /** False if the credential is not valid for this. The switch is on disk before this resolves. */
  async setPanic(active: boolean, credential: Credential, scope: PanicScope = 'pushes'): Promise<boolean> {
    if (!this.#accepts(credential, active ? 'activate-panic' : 'deactivate-panic')) return false;
    this.#panic.set(active, scope);
    return true;
  }

  /**
   * Begins to undo what was created in the last two hours. Answers the rollback's id, for `rollbackResult`; null if the
   * credential is not valid. Asked again with the same credential while it runs, it answers the same id.
   */
  async beginRollback(credential: Credential, scope: RollbackScope): Promise<string | null> {
    const now = Date.now();
    const tokenHash = credential.kind === 'token' ? credential.hash : null;
    const mayBegin = () => this.#accepts(credential, 'rollback');
    const id = this.#rollbacks.begin(tokenHash, scope, mayBegin, now);
    if (id !== null) await this.#wakeAt(now);
    return id;
  }

  /** Resolves when the rollback has ended; null if its result is not kept any more. */
  rollbackResult(id: string): Promise<RollbackResult | null> {
    return this.#rollbacks.result(id);
  }

  override async alarm(): Promise<void> {
    // One alarm runs at a time: alerts that the notification service does not take must not hold up a rollback.
    const [retryAt] = await Promise.all([
      this.#operator.deliver(this.env, () => this.#rollbacks.isWaiting),
      this.#rollbacks.run(
        () => stopDelayed(this.env),
        undoAtHost(this.env),
        Date.now,
        (token) => this.#tokens.giveBack(token),
      ),
    ]);
    const now = Date.now();
    const expiry = [this.#tokens, this.#operator, this.#rollbacks].map((part) => part.forgetOld(now));
    const cleaning = expiry.map((at) => (at === null ? null : Math.max(at, now + CLEANING_PAUSE_MS)));
    const next = earliest(...cleaning, this.#rollbacks.isWaiting ? now : null, retryAt);
    if (next !== null) await this.#wakeAt(next);
  }

  #accepts(credential: Credential, action: Action): boolean {
    return credential.kind === 'password' || this.#tokens.use(credential.hash, action, Date.now());
  }

  async #track(one: Parameters<Rollbacks['track']>[0], client: string | null, at: number): Promise<void> {
    // A clock that is ahead must not make the two hours longer.
    const createdAt = Math.min(at, Date.now());
    this.#rollbacks.track(one, client, createdAt);
    await this.#wakeAt(createdAt + TRACKED_MS);
  }

  /** Counts an event, and tells the operator of a burst. */
  async #count(what: 'push' | 'post', address: string, site: string, now: number): Promise<void> {
    const burst = this.#bursts[what];
    const hasBegun = burst.record({ address, site }, now);
    if (!burst.isOn) return;
    const [kind, key] =
      what === 'push' ? (['burst', 'told burst'] as const) : (['flood', 'told flood'] as const);
    const told = burst.toTell(this.#operator.last(key, now) as ToldBurst | null, hasBegun, now);
    if (told === null) return;
    this.#operator.remember(key, told, now, BURST_PAUSE_MS);
    await this.#wakeAt(now + BURST_PAUSE_MS);
    const { events, addresses, most } = told;
    await this.#tell({ kind, events, addresses, most }, null, now);
  }

  /** False if so many alerts wait that there is no room for it. */
  async #tell(alert: Alert, address: string | null, at: number): Promise<boolean> {
    const outcome = this.#operator.tell(this.env, alert, address, at);
    if (outcome === 'kept') await this.#wakeAt(at);
    return outcome !== 'full';
  }

  async #wakeAt(at: number): Promise<void> {
    const planned = await this.ctx.storage.getAlarm();
    if (planned === null || at < planned) await this.ctx.storage.setAlarm(at);
  }
}
