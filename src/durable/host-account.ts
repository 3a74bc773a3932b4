/**
 * The bot account at one code host, for all isolates: how long the host wants to be left alone, what it still lets
 * the account do, who has used how much of that, which forms have posted what, and what is wrong with the account.
 * One object for each account.
 *
 * It stands apart from the guard, so that the panic switch does not depend on how busy the account is. A push asks
 * both at the same time.
 *
 * Cost: a write that creates something stores one value, which its answer does not wait for; a form stores two, which
 * its answer waits for. Everything else is in memory. After a restart, the clients' shares follow from what they have
 * created; the host's calls are unknown until the next answer tells of them.
 */
import { DurableObject } from 'cloudflare:workers';
import { hostWithKey } from '../config/hosts.ts';
import { parseConfig } from '../config.ts';
import type { Env } from '../env.ts';
import {
  type AccountUse,
  callsLeft,
  callsWaitMs,
  type CallsLeft,
  creationsLeft,
  creationWaitMs,
  type KnownCalls,
  latestCalls,
} from '../guard/account-budget.ts';
import type { AccountPlace } from '../guard/alert.ts';
import { HourlyCounts } from '../guard/hourly-counts.ts';
import type { Limit } from '../guard/sliding-window.ts';
import type { TokenProblem } from '../host/account/account-rules.ts';
import type { HostProblem } from '../host/host-check.ts';
import { checkHost } from '../host/open.ts';
import { createLogger } from '../log.ts';
import { HttpClient } from '../outgoing/http-client.ts';
import { openHostAccess } from './host-access.ts';
import { Creations } from './host-account/creations.ts';
import { Pause } from './host-account/pause.ts';
import { Problems } from './host-account/problems.ts';
import { type FormResult, type FormStanding, SentForms } from './host-account/sent-forms.ts';
import { Usability } from './host-account/usability.ts';

const HOUR_MS = 60 * 60_000;

export interface AccountAdmittance {
  /** How long the host is to be left alone; 0: it is not. */
  readonly pauseMs: number;
  /** How long this client must wait before it writes; 0: not at all. */
  readonly waitMs: number;
  /** What `giveBack` takes if nothing is created; null: nothing was taken. */
  readonly taken: string | null;
}

/** What the account may still do. */
export interface AccountFigures {
  /** Null: the host has said nothing of calls lately. */
  readonly calls: { readonly limit: number; readonly left: number } | null;
  /** By limit. */
  readonly creationsLeft: readonly number[];
  readonly problems: readonly TokenProblem[];
  /** What is wrong with the code host; null: nothing, as far as it is known. */
  readonly hostProblem: HostProblem | null;
}

export class HostAccount extends DurableObject<Env> {
  readonly #pause: Pause;
  readonly #creations: Creations;
  readonly #sentForms: SentForms;
  readonly #problems: Problems;
  readonly #usability: Usability;
  readonly #shares = new HourlyCounts();
  #calls: KnownCalls | null = null;
  /** Writes since the host said how many calls are left. */
  #begun = new Set<string>();
  #hasAlarm = false;
  /** The last of what the guard is being told. */
  #telling: Promise<void> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#pause = new Pause(ctx.storage.kv);
    this.#creations = new Creations(ctx.storage);
    this.#sentForms = new SentForms(ctx.storage.sql);
    this.#problems = new Problems(ctx.storage.kv);
    this.#usability = new Usability(ctx.storage.kv);
    for (const { client, at } of this.#creations.all(Date.now())) this.#shares.add(client, at);
    // One that is set must not be put off, or an object that sleeps often would never clean up.
    void ctx.blockConcurrencyWhile(async () => {
      this.#hasAlarm = (await ctx.storage.getAlarm()) !== null;
    });
  }

  /**
   * Whether a client may write now. If so, that counts as a write of its share.
   * @param client as a keyed hash. @param creates takes one of the things that the account may create.
   * @param limits of what it may create.
   */
  admit(client: string, creates: boolean, limits: readonly Limit[]): AccountAdmittance {
    const now = Date.now();
    const pauseMs = this.#pause.left(now);
    const had = this.#shares.of(client, now);
    const use = this.#use(limits, now);
    const waitMs = Math.max(callsWaitMs(use, had, now), creates ? creationWaitMs(use, had, now) : 0);
    if (waitMs > 0) return { pauseMs, waitMs, taken: null };
    this.#shares.add(client, now);
    const taken = creates ? this.#take(client, now) : null;
    if (this.#calls !== null) this.#begun.add(taken ?? crypto.randomUUID());
    return { pauseMs, waitMs, taken };
  }

  /** Nothing was created. */
  giveBack(taken: string): void {
    this.#begun.delete(taken);
    this.#creations.giveBack(taken);
  }

  /** Whether a form may post now. If so, `endForm` must follow. @param form a keyed hash of the form. */
  beginForm(form: string): FormStanding {
    this.#wakeWithinAnHour();
    return this.#sentForms.begin(form, Date.now());
  }

  endForm(form: string, result: FormResult): void {
    this.#sentForms.end(form, result);
  }

  /** How long the host is to be left alone, in milliseconds; 0: it is not. */
  hostPause(): number {
    return this.#pause.left(Date.now());
  }

  /** The host asks to be left alone. */
  pauseHost(pauseMs: number): void {
    this.#pause.begin(pauseMs, Date.now());
  }

  /** What the host has just said. */
  callsSaid(said: CallsLeft): void {
    const latest = latestCalls(this.#calls, { ...said, at: Date.now() });
    if (latest !== this.#calls) this.#begun.clear();
    this.#calls = latest;
  }

  figures(limits: readonly Limit[]): AccountFigures {
    const now = Date.now();
    const use = this.#use(limits, now);
    const left = callsLeft(use, now);
    const calls = this.#calls === null || left === null ? null : { limit: this.#calls.limit, left };
    return {
      calls,
      creationsLeft: creationsLeft(use, now),
      problems: this.#problems.current(now),
      hostProblem: this.#usability.problem?.kind ?? null,
    };
  }

  /**
   * What is wrong with the account or its token; none: nothing is. The guard hears of it, and tells the operator.
   * Rejects if it cannot be reached.
   */
  async foundProblems(place: AccountPlace, problems: readonly TokenProblem[]): Promise<void> {
    const now = Date.now();
    if (problems.length === 0 && this.#problems.current(now).length === 0) return;
    this.#problems.set(problems, now);
    const { GUARD } = this.env;
    // One after the other, so that the guard knows the last ones.
    const telling = this.#telling.then(() =>
      GUARD.get(GUARD.idFromName('guard')).tokenProblems(this.ctx.id.name ?? '', place, problems),
    );
    this.#telling = telling.catch(() => {});
    return telling;
  }

  /**
   * Sees whether the account's code host can be used, at most once in some minutes. What is wrong is logged, and
   * `figures` tells it. Never rejects.
   */
  async check(hostKey: string): Promise<void> {
    const now = Date.now();
    const result = parseConfig({ ...this.env });
    const host = result.kind === 'valid' ? hostWithKey(result.config, hostKey) : undefined;
    if (result.kind === 'invalid' || host === undefined) return;
    // A host that wants to be left alone is left alone.
    if (this.#pause.left(now) > 0 || !this.#usability.isDue(host.kind, now)) return;
    const { logFormat, outgoingFetchHosts } = result.config;
    const access = openHostAccess(this.env, result.config, host, new HttpClient(outgoingFetchHosts));
    const isNews = await this.#usability.ask(host.kind, () => checkHost(access), now);
    const { problem } = this.#usability;
    if (!isNews) return;
    const logger = createLogger(logFormat, (line) => console.log(line));
    if (problem === null) logger.info('a code host can be used again', { host: hostKey });
    else {
      const { kind: outcome, sentence: hostSays } = problem;
      logger.warn('a code host cannot be used', { host: hostKey, outcome, hostSays });
    }
  }

  /** Forgets what was created more than an hour ago, and for whom; and forms that are not valid any more. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    const hasCreations = this.#creations.forgetOld(now);
    const hasForms = this.#sentForms.forgetOld(now);
    this.#hasAlarm = hasCreations || hasForms;
    // Hourly, so that it does not run once for each of them.
    if (this.#hasAlarm) await this.ctx.storage.setAlarm(now + HOUR_MS);
  }

  #use(limits: readonly Limit[], now: number): AccountUse {
    const createdAt = this.#creations.all(now).map(({ at }) => at);
    return { createdAt, limits, calls: this.#calls, begun: this.#begun.size };
  }

  #take(client: string, now: number): string {
    const id = this.#creations.add(client, now);
    this.#wakeWithinAnHour();
    return id;
  }

  #wakeWithinAnHour(): void {
    if (this.#hasAlarm) return;
    this.#hasAlarm = true;
    void this.ctx.storage.setAlarm(Date.now() + HOUR_MS, { allowUnconfirmed: true });
  }
}
