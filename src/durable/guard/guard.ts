/**
 * The operator's controls: the panic switches, burst detectors, alerts and their buttons, and
 * rollbacks (contract, 3.2 to 3.4). One object serves the whole service, so that a switch takes
 * effect everywhere within two seconds, the age of a copy (service/suspension.ts). Cost: counting a
 * push attempt writes nothing unless it causes an alert, because bursts and the limit of pushes are
 * counted in memory. Opening a pull request writes a test value and one row.
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
import {
  BURST_PAUSE_MS,
  BurstDetector,
  POST_BURST,
  PUSH_BURST,
  REPORT_BURST,
  type ToldBurst,
} from './burst.ts';
import { type AlertState, Operator } from './operator.ts';
import { type RollbackResult, Rollbacks, type RollbackScope, TRACKED_MS, type Tracked } from './rollback.ts';
import { type AccountProblems, ToldMemory } from './told-memory.ts';
import { ActionTokens } from './tokens.ts';

/** How long expired entries, which have no effect, may stay on disk. */
const CLEANING_PAUSE_MS = 10 * 60 * 1000;
/** Keys of the panic switches: that of pushes (contract, 3.2), and that of comments and issues. */
const SWITCHES = { pushes: 'panic', writes: 'panic-writes' } as const satisfies Record<Switch, string>;
/** Key of the note that the operator was told of a wrong clock, and how long the note counts. */
const CLOCK_TOLD = 'told clock';
const CLOCK_PAUSE_MS = 24 * 60 * 60 * 1000;
/** Keys of what the operator was told last about a burst. */
const LAST_TOLD = { burst: 'told burst', flood: 'told flood', reports: 'told reports' } as const;

/** Key of a value that is overwritten to see whether the disk takes anything. */
const WRITE_TEST = 'room';

export type PanicScope = Switch | 'all';

/** Proof that a caller is the operator. Whoever passes `password` has compared it already. */
export type OperatorCredential =
  { readonly kind: 'password' } | { readonly kind: 'token'; readonly hash: string };

/** The public part of the guard's state. */
export interface GuardStatus {
  readonly panicMode: boolean;
  /** Whether comments and issues are suspended. */
  readonly writesSuspended: boolean;
  readonly accountProblems: AccountProblems;
}

const pushAttempts: ClientHits = new Recent({ most: 50_000 });

/** The wait of this client, and whether pushes are suspended for everybody. */
type Admittance = TriedWait & { readonly panicMode: boolean };

export class Guard extends DurableObject<Env> {
  readonly #bursts = {
    burst: new BurstDetector(PUSH_BURST),
    flood: new BurstDetector(POST_BURST),
    reports: new BurstDetector(REPORT_BURST),
  };
  readonly #tokens: ActionTokens;
  readonly #told: ToldMemory;
  readonly #operator: Operator;
  readonly #rollbacks: Rollbacks;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { sql, kv } = ctx.storage;
    this.#tokens = new ActionTokens(sql);
    this.#told = new ToldMemory(kv);
    this.#operator = new Operator(kv, this.#tokens, this.#told);
    this.#rollbacks = new Rollbacks(sql);
  }

  status(): GuardStatus {
    return {
      panicMode: this.#isOn('pushes'),
      writesSuspended: this.#isOn('writes'),
      accountProblems: this.#told.accountProblems(Date.now()),
    };
  }

  /**
   * Counts a push attempt: for bursts always, for the limits only if they allow it.
   * @param address a keyed hash of the client's network.
   * @param prefix a keyed hash of its IPv6 /48, or of the address if it has none.
   * @param wider limits of that /48; null if the client has none.
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

  /**
   * Counts a comment or an issue that was posted.
   * @param address a keyed hash, like `prefix`, as for `admit`.
   */
  async countPost(address: string, prefix: string): Promise<void> {
    await this.#count('flood', address, prefix, Date.now());
  }

  /** Counts a private report that was sent; the same way. */
  async countReport(address: string, prefix: string): Promise<void> {
    await this.#count('reports', address, prefix, Date.now());
  }

  /** Rejects if the disk takes nothing: then nothing may be opened, as it could not be tracked. */
  mayTrack(): void {
    this.ctx.storage.kv.put(WRITE_TEST, true);
  }

  /**
   * Remembers what was created, so that a rollback can undo it.
   * @param prefix a keyed hash that stands for the creator; null if it is not known.
   */
  async track(one: Tracked, prefix: string | null, at: number): Promise<void> {
    // A clock that is ahead must not make the two hours longer.
    const createdAt = Math.min(at, Date.now());
    this.#rollbacks.track(one, prefix, createdAt);
    await this.#wakeAt(createdAt + TRACKED_MS);
  }

  /** Takes a report about the bot's account or token; no problems: those before are over. */
  async tokenProblems(name: string, account: AccountPlace, problems: readonly TokenProblem[]): Promise<void> {
    const isNews = this.#told.takeReport(name, problems, Date.now());
    if (isNews) await this.tell({ kind: 'token', account, problems });
  }

  /**
   * Tells the operator, at most once a day, that the clocks of service and code host differ.
   * @param byMs how far the host's is ahead; null: the host does not say what time it is.
   */
  async clockApart(byMs: number | null): Promise<void> {
    const now = Date.now();
    if (this.#told.last(CLOCK_TOLD, now) !== null) return;
    this.#told.remember(CLOCK_TOLD, true, now, CLOCK_PAUSE_MS);
    await this.tell({ kind: 'clock', byMs });
  }

  /**
   * Raises an alert. Answers false if there are too many, so that the caller may try again later.
   * @param address the client's, which the alert may name; in memory until the first attempt only.
   */
  async tell(alert: Alert, at = Date.now(), address: string | null = null): Promise<boolean> {
    const outcome = this.#operator.tell(this.env, alert, Date.now(), { at, address });
    if (outcome === 'kept') await this.#wakeAt(Date.now());
    return outcome !== 'full';
  }

  alertState(): AlertState {
    return this.#operator.state;
  }

  /**
   * Sends a test alert. Answers why it was not taken, `nobody` without a topic; null: it arrived.
   */
  testAlert(): Promise<Trouble | 'nobody' | null> {
    return this.#operator.test(this.env);
  }

  /**
   * Tells the operator that a push has begun to wait for review.
   * @param waiting how many wait.
   */
  async toReview(waiting: number): Promise<void> {
    const at = this.#operator.tellReview(this.env, waiting, Date.now());
    if (at !== null) await this.#wakeAt(at);
  }

  /** Answers whether the credential is valid for the action. This uses up a token. */
  accepts(credential: OperatorCredential, action: Action): boolean {
    const isPassword = credential.kind === 'password';
    const isAccepted = isPassword || this.#tokens.use(credential.hash, action, Date.now());
    if (isAccepted && action === 'review') this.#operator.forgetReview();
    return isAccepted;
  }

  /** Does the same for a token of the panic switch, but uses it up in memory only. */
  acceptsUnstored(tokenHash: string, action: Action): boolean {
    return this.#tokens.useUnstored(tokenHash, action, Date.now());
  }

  /** Makes a used token valid again after its action has failed. */
  giveBack(credential: OperatorCredential): void {
    if (credential.kind === 'token') this.#tokens.giveBack(credential.hash);
  }

  /** Answers false if the credential is not valid. The switch is on disk before this resolves. */
  setPanic(active: boolean, credential: OperatorCredential, scope: PanicScope = 'pushes'): boolean {
    if (!this.accepts(credential, active ? 'activate-panic' : 'deactivate-panic')) return false;
    const { kv } = this.ctx.storage;
    if (scope !== 'writes') kv.put(SWITCHES.pushes, active);
    if (scope !== 'pushes') kv.put(SWITCHES.writes, active);
    return true;
  }

  /**
   * Begins to undo the last two hours. Answers the rollback's id, which is the same for this
   * credential and scope while it runs; null if the credential is not valid.
   */
  async beginRollback(credential: OperatorCredential, scope: RollbackScope): Promise<string | null> {
    const tokenHash = credential.kind === 'token' ? credential.hash : null;
    const id = this.#rollbacks.begin(tokenHash, scope, () => this.accepts(credential, 'rollback'));
    if (id !== null) await this.#wakeAt(Date.now());
    return id;
  }

  /** Resolves when the rollback has ended; null if its result is lost. */
  rollbackResult(id: string): Promise<RollbackResult | null> {
    return this.#rollbacks.result(id);
  }

  /** Counts the pull requests of a repository that were ever rolled back. */
  async rolledBackIn(repository: LedgerRepository): Promise<number> {
    return this.#rollbacks.closedIn(repository);
  }

  override async alarm(): Promise<void> {
    // Both at once: an object runs one alarm at a time, and a slow notification service must not
    // hold up a rollback.
    const [retryAt] = await Promise.all([
      this.#operator.deliver(this.env, () => this.#rollbacks.isWaiting),
      this.#rollbacks.run(this.env, (token) => this.#tokens.giveBack(token)),
    ]);
    const now = Date.now();
    const expiry = [this.#tokens, this.#told, this.#rollbacks].map((part) => part.forgetOld(now));
    const cleaning = expiry.map((at) => (at === null ? null : Math.max(at, now + CLEANING_PAUSE_MS)));
    const next = earliest(...cleaning, this.#rollbacks.isWaiting ? now : null, retryAt);
    if (next !== null) await this.#wakeAt(next);
  }

  #isOn(what: Switch): boolean {
    return heldSwitch(what) ?? this.ctx.storage.kv.get<boolean>(SWITCHES[what]) ?? false;
  }

  /**
   * Counts an event, and tells the operator of a burst. `flood`: of comments and issues; `reports`:
   * of private reports.
   */
  async #count(kind: keyof typeof LAST_TOLD, address: string, prefix: string, now: number): Promise<void> {
    const burst = this.#bursts[kind];
    const key = LAST_TOLD[kind];
    const hasBegun = burst.record({ address, prefix }, now);
    if (!burst.isOn) return;
    const told = burst.toTell(this.#told.last(key, now) as ToldBurst | null, hasBegun, now);
    if (told === null) return;
    this.#told.remember(key, told, now, BURST_PAUSE_MS);
    await this.#wakeAt(now + BURST_PAUSE_MS);
    const { events, addresses, most } = told;
    await this.tell({ kind, events, addresses, most });
  }

  async #wakeAt(at: number): Promise<void> {
    const planned = await this.ctx.storage.getAlarm();
    if (planned === null || at < planned) await this.ctx.storage.setAlarm(at);
  }
}
