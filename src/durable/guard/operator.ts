/**
 * Alerts for the operator that wait for the notification service, and how often each kind may come.
 * Without a topic, no alert is kept. The address that an alert may name is in memory until the
 * first attempt only; the alert itself has a pseudonym in its place.
 * Proved by test/durable/guard/guard.test.ts.
 */
import type { Config } from '../../config/config.ts';
import { configOf, openHttp } from '../../config/configured.ts';
import type { Env } from '../../env.ts';
import { hit } from '../../limits/sliding-window.ts';
import { type Alert, actionsOf, CAPPED, type CappedKind } from '../../notify/alert.ts';
import { alertNotification } from '../../notify/alert-message.ts';
import { operatorService, publishNotification } from '../../notify/ntfy.ts';
import { type Trouble, troubleOf } from '../../notify/trouble.ts';
import type { HttpClient } from '../../outgoing/http-client.ts';
import { notTaken, Outbox, type Waiting } from '../outbox.ts';
import type { ToldMemory } from './told-memory.ts';
import type { ActionTokens } from './tokens.ts';

const HOUR_MS = 60 * 60 * 1000;

/** How many alerts of one kind may come in an hour. Further ones of a capped kind are summed up. */
type Quota = { readonly name: string; readonly most: number };

const MOST_OF_A_KIND = 20;
/**
 * The quota of alerts about pseudonyms without comments, which cost an attacker nothing. Further
 * ones are dropped.
 */
const OF_NOBODY: Quota = { name: 'nobody', most: 2 };

/** The pause between two alerts that pushes wait for review. */
const REVIEW_ALERT_PAUSE_MS = HOUR_MS;
/** How often to look whether an invalid configuration was corrected. */
const INVALID_PAUSE_MS = 5 * 60 * 1000;
const ALERT_LIFE_MS = 7 * 24 * HOUR_MS;
/**
 * The longest pause between attempts, unless the notification service asks for a longer one: alerts
 * arrive soon after it is back.
 */
const LONGEST_RETRY_MS = 5 * 60 * 1000;
/** Bounds the alerts that wait: nobody reads more, and the stored value may have at most 2 MB. */
const MOST_WAITING = 200;
/** Room beyond that for bursts, so that nobody can keep them out by filling the queue. */
const MOST_URGENT = 20;
/** How long after the first alert that was too many their sum is told. */
const SUM_AFTER_MS = HOUR_MS;
const ALERTS_KEY = 'alerts';
const TROUBLE_KEY = 'alert-trouble';
const REVIEW_KEY = 'told review';
type AlertConfig = Config & { readonly notifyAdminTopic: string };

interface WaitingAlert extends Waiting {
  alert: Alert;
}

/** Why alerts do not arrive now. */
interface StandingTrouble extends Trouble {
  /** When the first attempt failed of those that have all failed since; milliseconds since 1970. */
  readonly since: number;
}

export interface AlertState {
  /** Number of alerts to be delivered. */
  readonly waiting: number;
  readonly trouble: StandingTrouble | null;
}

export class Operator {
  readonly #kv: SyncKvStorage;
  readonly #tokens: ActionTokens;
  readonly #told: ToldMemory;
  readonly #waiting: WaitingAlert[];
  readonly #outbox: Outbox<WaitingAlert>;
  readonly #addresses = new WeakMap<object, string>();
  /** When alerts of each kind were told, since the object started. */
  readonly #windows = new Map<string, readonly number[]>();
  #http: HttpClient | null = null;

  constructor(kv: SyncKvStorage, tokens: ActionTokens, told: ToldMemory) {
    this.#kv = kv;
    this.#tokens = tokens;
    this.#told = told;
    this.#waiting = kv.get<WaitingAlert[]>(ALERTS_KEY) ?? [];
    this.#outbox = new Outbox({
      entries: this.#waiting,
      save: () => this.#save(),
      lifeMs: () => ALERT_LIFE_MS,
      receiver: () => 'topic',
      longestMs: LONGEST_RETRY_MS,
    });
  }

  /**
   * Keeps an alert for `deliver`. `nobody`: there is no topic, or nobody needs the alert. `full`:
   * too many wait, or the quota of its kind is used up, and the kind is not summed up.
   * @param at when it happened.
   * @param address the client's, which the alert may name.
   */
  tell(
    env: Env,
    alert: Alert,
    now: number,
    { at = now, dueAt = now, address = null as string | null } = {},
  ): 'kept' | 'nobody' | 'full' {
    const config = alertConfigOf(env);
    if (config === null) return 'nobody';
    const isUrgent = ['burst', 'flood', 'reports'].includes(alert.kind);
    const isFull = this.#waiting.length >= MOST_WAITING + (isUrgent ? MOST_URGENT : 0);
    const quota = quotaOf(alert);
    const told = quota === null ? 0 : this.#count(quota, now);
    if (isFull || told === null) {
      if (!isCapped(alert)) return quota === OF_NOBODY ? 'nobody' : 'full';
      this.#addToSum(alert.kind, now);
      return 'kept';
    }
    const isLast = told === quota?.most;
    const kept = alert.kind === 'moderation' ? { ...alert, isLast } : alert;
    const waiting = { alert: kept, at, attempts: 0, dueAt };
    if (isUrgent) this.#waiting.unshift(waiting);
    else this.#waiting.push(waiting);
    this.#save();
    const isShown = config !== 'invalid' && config.alertAddress === 'shown';
    if (address !== null && isShown) this.#addresses.set(waiting, address);
    return 'kept';
  }

  /**
   * Keeps an alert about the pushes that wait for review, due now or an hour after the last one.
   * Answers when it is due; null if it was not kept.
   */
  tellReview(env: Env, waiting: number, now: number): number | null {
    const last = (this.#told.last(REVIEW_KEY, now) ?? 0) as number;
    const at = last > now ? last : Math.max(now, last + REVIEW_ALERT_PAUSE_MS);
    this.forgetReview();
    if (this.tell(env, { kind: 'review', waiting }, now, { dueAt: at }) !== 'kept') return null;
    if (at !== last) this.#told.remember(REVIEW_KEY, at, now, at - now + REVIEW_ALERT_PAUSE_MS);
    return at;
  }

  /** Drops an alert about review that was never tried, because the operator is looking now. */
  forgetReview(): void {
    const review = this.#waiting.find(({ alert, attempts }) => alert.kind === 'review' && attempts === 0);
    if (review === undefined) return;
    this.#outbox.remove(review);
    this.#save();
  }

  /**
   * Sends the alerts that are due. Answers when to try again; null: never.
   * @param isUrgent asked between two alerts; if true, it stops, because others need the alarm.
   */
  async deliver(env: Env, isUrgent: () => boolean): Promise<number | null> {
    const config = alertConfigOf(env);
    // The alerts wait until the operator has corrected the configuration.
    if (config === 'invalid') return this.#waiting.length === 0 ? null : Date.now() + INVALID_PAUSE_MS;
    if (config === null) {
      // The topic was removed from the configuration.
      if (this.#waiting.splice(0).length > 0) this.#save();
      return null;
    }
    const retryAt = await this.#outbox.empty(async (waiting) => {
      if (isUrgent()) return { kind: 'interrupted' };
      try {
        await this.#publish(waiting, config);
        return { kind: 'done' };
      } catch (error) {
        return notTaken(config.notifyAdminUrl, config, error, waiting.attempts);
      } finally {
        this.#addresses.delete(waiting);
      }
    });
    this.#http?.closeIdle();
    return retryAt;
  }

  get state(): AlertState {
    return {
      waiting: this.#waiting.length,
      trouble: this.#kv.get<StandingTrouble>(TROUBLE_KEY) ?? null,
    };
  }

  /**
   * Sends a test alert. Answers why it was not taken, `nobody` without a topic; null: it arrived.
   */
  async test(env: Env): Promise<Trouble | 'nobody' | null> {
    const config = alertConfigOf(env);
    if (config === null || config === 'invalid') return 'nobody';
    try {
      await this.#publish({ alert: { kind: 'test' }, at: Date.now() }, config);
      return null;
    } catch (error) {
      return troubleOf(error);
    } finally {
      this.#http?.closeIdle();
    }
  }

  /**
   * Sends an alert. Each attempt makes tokens of its own, because it may come long after the last
   * attempt, which may have arrived all the same.
   */
  async #publish(waiting: Pick<WaitingAlert, 'alert' | 'at'>, config: AlertConfig): Promise<void> {
    const notification = alertNotification(waiting.alert, {
      topic: config.notifyAdminTopic,
      serviceUrl: config.serviceUrl,
      at: waiting.at,
      address: this.#addresses.get(waiting) ?? null,
      tokens: this.#tokens.make(actionsOf(waiting.alert), Date.now()),
    });
    const http = (this.#http ??= openHttp(config));
    try {
      await publishNotification(http, operatorService(config), notification);
      if (this.state.trouble !== null) this.#kv.delete(TROUBLE_KEY);
    } catch (error) {
      this.#noteTrouble(troubleOf(error));
      throw error;
    }
  }

  /** Stores the trouble if it differs from the one before. */
  #noteTrouble(trouble: Trouble): void {
    const { trouble: before } = this.state;
    if (before?.reason === trouble.reason && before.status === trouble.status) return;
    this.#kv.put(TROUBLE_KEY, { ...trouble, since: before?.since ?? Date.now() } satisfies StandingTrouble);
  }

  /** Adds to the alert that sums up those that were too many. */
  #addToSum(of: CappedKind, now: number): void {
    const sum = this.#waiting.find(
      ({ alert, attempts, dueAt }) =>
        alert.kind === 'more' && alert.of === of && attempts === 0 && dueAt > now,
    );
    const count = sum?.alert.kind === 'more' ? sum.alert.count + 1 : 1;
    const alert = { kind: 'more', of, count } as const;
    if (sum !== undefined) sum.alert = alert;
    else this.#waiting.push({ alert, at: now, attempts: 0, dueAt: now + SUM_AFTER_MS });
    this.#save();
  }

  /** Counts the alerts of a kind within the hour, this one included; null if the quota is full. */
  #count({ name, most }: Quota, now: number): number | null {
    const { hits, wait } = hit(this.#windows.get(name) ?? [], [{ most, withinMs: HOUR_MS }], now);
    this.#windows.set(name, hits);
    return wait.waitMs === 0 ? hits.length : null;
  }

  #save(): void {
    if (this.#waiting.length === 0) this.#kv.delete(ALERTS_KEY);
    else this.#kv.put(ALERTS_KEY, this.#waiting);
  }
}

/** Gives null for alerts that cannot come often. */
function quotaOf(alert: Alert): Quota | null {
  if (alert.kind === 'moderation' && alert.comments === 0) return OF_NOBODY;
  const isLimited = isCapped(alert) || alert.kind === 'moderation' || alert.kind === 'appeal';
  return isLimited ? { name: alert.kind, most: MOST_OF_A_KIND } : null;
}

function isCapped(alert: Alert): alert is Extract<Alert, { kind: CappedKind }> {
  return alert.kind in CAPPED;
}

/** Gives null without a topic. */
function alertConfigOf(env: Env): AlertConfig | 'invalid' | null {
  const result = configOf(env);
  if (result.kind === 'invalid') return 'invalid';
  const { notifyAdminTopic } = result.config;
  return notifyAdminTopic === null ? null : { ...result.config, notifyAdminTopic };
}
