/**
 * The operator's controls: the panic switch, burst detectors, alerts and their buttons, and
 * rollbacks (contract, 3.2 to 3.4). One object for the whole service, so that the switch works
 * everywhere immediately. Cost: a push attempt writes nothing, as the last minute and the limit of
 * pushes are in memory; what is opened writes two rows, a comment one, an alert five.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import type { TokenProblem } from '../../host/account/token-problems.ts';
import { heldSwitch, type Switch } from '../../isolate/held-switches.ts';
import { Recent } from '../../isolate/recent.ts';
import { type ClientHits, hitBoth, type Limit, type TriedWait } from '../../limits/sliding-window.ts';
import type { AccountPlace, Action, Alert } from '../../notify/alert.ts';
import type { Trouble } from '../../notify/trouble.ts';
import type { LedgerRepository } from '../../stats/ledger.ts';
import { earliest } from '../due-rows.ts';
import { BURST_PAUSE_MS, BurstDetector, POST_BURST, PUSH_BURST, type ToldBurst } from './burst.ts';
import { type AccountProblems, type AlertState, Operator } from './operator.ts';
import { type RollbackResult, Rollbacks, type RollbackScope, TRACKED_MS, type Tracked } from './rollback.ts';
import { ActionTokens } from './tokens.ts';

/** Expired entries have no effect, and are deleted within this time. */
const CLEANING_PAUSE_MS = 10 * 60 * 1000;
/**
 * Where each panic switch is kept: that of pushes (contract, 3.2), and that of comments and issues.
 */
const SWITCHES = { pushes: 'panic', writes: 'panic-writes' } as const satisfies Record<Switch, string>;
/** Where it is kept that the operator was told of a wrong clock, and for how long. */
const CLOCK_TOLD = 'told clock';
const CLOCK_PAUSE_MS = 24 * 60 * 60 * 1000;
/** Where it is kept what the operator was told of a burst. */
const LAST_TOLD = { burst: 'told burst', flood: 'told flood' } as const;

/** Written over, to see whether anything can be. */
const ROOM = 'room';

export type PanicScope = Switch | 'all';

/**
 * How a caller has shown that they are the operator. The password was compared by the caller of
 * this object.
 */
export type OperatorCredential =
  { readonly kind: 'password' } | { readonly kind: 'token'; readonly hash: string };

/** What everybody may know. */
export interface GuardStatus {
  readonly panicMode: boolean;
  /** Comments and issues. */
  readonly writesSuspended: boolean;
  readonly accountProblems: AccountProblems;
}

const pushAttempts: ClientHits = new Recent({ most: 50_000 });

/** How long this client must wait, and whether everybody must. */
type Admittance = TriedWait & { readonly panicMode: boolean };

export class Guard extends DurableObject<Env> {
  readonly #bursts = { burst: new BurstDetector(PUSH_BURST), flood: new BurstDetector(POST_BURST) };
  readonly #tokens: ActionTokens;
  readonly #operator: Operator;
  readonly #rollbacks: Rollbacks;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { sql, kv } = ctx.storage;
    this.#tokens = new ActionTokens(sql);
    this.#operator = new Operator(kv, this.#tokens);
    this.#rollbacks = new Rollbacks(sql);
  }

  status(): GuardStatus {
    return {
      panicMode: this.#isOn('pushes'),
      writesSuspended: this.#isOn('writes'),
      accountProblems: this.#operator.accountProblems(Date.now()),
    };
  }

  /**
   * Counts a push attempt, accepted or not, by keyed hashes of the address and of all that the
   * client may hold.
   * @param wider of all that it may hold; null: that is the address alone.
   */
  async admit(
    address: string,
    limits: readonly Limit[],
    prefix: string,
    wider: readonly Limit[] | null = null,
  ): Promise<Admittance> {
    const at = Date.now();
    await this.#count('burst', address, prefix, at);
    const around = wider && { key: prefix, limits: wider };
    const wait = hitBoth({ key: address, limits }, around, pushAttempts, at);
    return { panicMode: this.#isOn('pushes'), ...wait };
  }

  /** Counts a comment or an issue that was posted. @param address and `prefix` as for `admit`. */
  async countPost(address: string, prefix: string): Promise<void> {
    await this.#count('flood', address, prefix, Date.now());
  }

  /** Something is about to be opened. Rejects if it could not be tracked: then it is not opened. */
  mayTrack(): void {
    this.ctx.storage.kv.put(ROOM, true);
  }

  /**
   * A rollback can undo it.
   * @param prefix of who has pushed it, as for `admit`; null: nobody knows.
   */
  async track(one: Tracked, prefix: string | null, at: number): Promise<void> {
    // A clock that is ahead must not make the two hours longer.
    const createdAt = Math.min(at, Date.now());
    this.#rollbacks.track(one, prefix, createdAt);
    await this.#wakeAt(createdAt + TRACKED_MS);
  }

  /** Something is wrong with the bot's account or token, or nothing any more. */
  async tokenProblems(name: string, account: AccountPlace, problems: readonly TokenProblem[]): Promise<void> {
    const isNews = this.#operator.takeReport(name, problems, Date.now());
    if (isNews) await this.tell({ kind: 'token', account, problems });
  }

  /**
   * The clocks of service and code host differ. Told once a day.
   * @param byMs as the alert has it.
   */
  async clockApart(byMs: number | null): Promise<void> {
    const now = Date.now();
    if (this.#operator.last(CLOCK_TOLD, now) !== null) return;
    this.#operator.remember(CLOCK_TOLD, true, now, CLOCK_PAUSE_MS);
    await this.tell({ kind: 'clock', byMs });
  }

  /**
   * False if too many come at once: it is told later.
   * @param address it may name; kept only until it was sent.
   */
  async tell(alert: Alert, at = Date.now(), address: string | null = null): Promise<boolean> {
    const outcome = this.#operator.tell(this.env, alert, Date.now(), { at, address });
    if (outcome === 'kept') await this.#wakeAt(Date.now());
    return outcome !== 'full';
  }

  /** Whether alerts arrive. */
  alertState(): AlertState {
    return this.#operator.state;
  }

  /**
   * Sends a test alert. Answers why it was not taken; null: it was. `nobody`: there is no topic.
   */
  testAlert(): Promise<Trouble | 'nobody' | null> {
    return this.#operator.test(this.env);
  }

  /** A push has begun to wait for the operator. @param waiting how many do. */
  async toReview(waiting: number): Promise<void> {
    const at = this.#operator.tellReview(this.env, waiting, Date.now());
    if (at !== null) await this.#wakeAt(at);
  }

  /** Whether the credential is good for this. A token is used up. */
  accepts(credential: OperatorCredential, action: Action): boolean {
    const isPassword = credential.kind === 'password';
    const isAccepted = isPassword || this.#tokens.use(credential.hash, action, Date.now());
    if (isAccepted && action === 'review') this.#operator.forgetReview();
    return isAccepted;
  }

  /** As `accepts`, for a token of the panic switch, which is used up in memory only. */
  acceptsUnstored(tokenHash: string, action: Action): boolean {
    return this.#tokens.useUnstored(tokenHash, action, Date.now());
  }

  /** What it was for has failed: the button may be pressed again. */
  giveBack(credential: OperatorCredential): void {
    if (credential.kind === 'token') this.#tokens.giveBack(credential.hash);
  }

  /** False if the credential is not valid for this. The switch is on disk before this resolves. */
  setPanic(active: boolean, credential: OperatorCredential, scope: PanicScope = 'pushes'): boolean {
    if (!this.accepts(credential, active ? 'activate-panic' : 'deactivate-panic')) return false;
    const { kv } = this.ctx.storage;
    if (scope !== 'writes') kv.put(SWITCHES.pushes, active);
    if (scope !== 'pushes') kv.put(SWITCHES.writes, active);
    return true;
  }

  /**
   * Begins to undo the last two hours. Answers the id, the same while it runs; null: the credential
   * is not valid.
   */
  async beginRollback(credential: OperatorCredential, scope: RollbackScope): Promise<string | null> {
    const tokenHash = credential.kind === 'token' ? credential.hash : null;
    const id = this.#rollbacks.begin(tokenHash, scope, () => this.accepts(credential, 'rollback'));
    if (id !== null) await this.#wakeAt(Date.now());
    return id;
  }

  /** Resolves when it has ended; null: nobody knows what it has undone. */
  rollbackResult(id: string): Promise<RollbackResult | null> {
    return this.#rollbacks.result(id);
  }

  /** How many pull requests of a repository were rolled back. */
  async rolledBackIn(repository: LedgerRepository): Promise<number> {
    return this.#rollbacks.closedIn(repository);
  }

  override async alarm(): Promise<void> {
    // One alarm runs at a time: alerts that the notification service does not take must not hold up
    // a rollback.
    const [retryAt] = await Promise.all([
      this.#operator.deliver(this.env, () => this.#rollbacks.isWaiting),
      this.#rollbacks.run(this.env, (token) => this.#tokens.giveBack(token)),
    ]);
    const now = Date.now();
    const expiry = [this.#tokens, this.#operator, this.#rollbacks].map((part) => part.forgetOld(now));
    const cleaning = expiry.map((at) => (at === null ? null : Math.max(at, now + CLEANING_PAUSE_MS)));
    const next = earliest(...cleaning, this.#rollbacks.isWaiting ? now : null, retryAt);
    if (next !== null) await this.#wakeAt(next);
  }

  #isOn(what: Switch): boolean {
    return heldSwitch(what) ?? this.ctx.storage.kv.get<boolean>(SWITCHES[what]) ?? false;
  }

  /** Counts an event, and tells the operator of a burst. */
  async #count(kind: 'burst' | 'flood', address: string, prefix: string, now: number): Promise<void> {
    const burst = this.#bursts[kind];
    const key = LAST_TOLD[kind];
    const hasBegun = burst.record({ address, prefix }, now);
    if (!burst.isOn) return;
    const told = burst.toTell(this.#operator.last(key, now) as ToldBurst | null, hasBegun, now);
    if (told === null) return;
    this.#operator.remember(key, told, now, BURST_PAUSE_MS);
    await this.#wakeAt(now + BURST_PAUSE_MS);
    const { events, addresses, most } = told;
    await this.tell({ kind, events, addresses, most });
  }

  async #wakeAt(at: number): Promise<void> {
    const planned = await this.ctx.storage.getAlarm();
    if (planned === null || at < planned) await this.ctx.storage.setAlarm(at);
  }
}
