/**
 * Raises alerts and delivers them to the operator's topic; without a topic there is nobody to tell, and nothing is
 * kept.
 *
 * An address is in memory only, for the first attempt; a later one names its pseudonym, which is all that is stored.
 */
import type { Config } from '../../config.ts';
import { configOf, openHttp } from '../../configured.ts';
import type { Env } from '../../env.ts';
import { type Alert, actionsOf, alertNotification, type CappedKind } from './alert.ts';
import { ALERTS } from '../../limits/limits.ts';
import { EMPTY_WINDOW, hit, type SlidingWindow } from '../../limits/sliding-window.ts';
import { NotificationError, operatorService, publish } from '../../notify/ntfy.ts';
import { logRefusal } from '../../notify/refusals.ts';
import type { HttpClient } from '../../outgoing/http-client.ts';
import type { ActionTokens } from './action-tokens.ts';
import { AlertOutbox, type WaitingAlert } from './alert-outbox.ts';

/** How often to look whether an invalid configuration was corrected. */
const INVALID_PAUSE_MS = 5 * 60 * 1000;

type AlertConfig = Config & { readonly notifyAdminTopic: string };

export class Alerts {
  readonly #outbox: AlertOutbox;
  readonly #tokens: ActionTokens;
  /** By the alert's id. */
  readonly #addresses = new Map<number, string>();
  /** Of this life of the object. */
  readonly #told = new Map<CappedKind, SlidingWindow>();
  #http: HttpClient | null = null;

  constructor(sql: SqlStorage, tokens: ActionTokens) {
    this.#outbox = new AlertOutbox(sql);
    this.#tokens = tokens;
  }

  /**
   * Puts it into the outbox; false if there is no topic. With an invalid configuration it is kept.
   * @param address that the alert may contain.
   */
  raise(env: Env, alert: Alert, address: string | null, now: number): boolean {
    const config = alertConfigOf(env);
    if (config === null) return false;
    if (isCapped(alert) && !this.#isWithinLimit(alert.kind, now)) {
      this.#outbox.addToSum(alert.kind, now);
      return true;
    }
    const id = this.#outbox.add(alert, now);
    const isShown = config !== 'invalid' && config.alertAddress === 'shown';
    if (address !== null && isShown) this.#addresses.set(id, address);
    return true;
  }

  /** So many pushes wait for the operator. In place of what was to be told of them. False if there is no topic. */
  raiseReview(env: Env, waiting: number, now: number, dueAt: number): boolean {
    if (alertConfigOf(env) === null) return false;
    this.forgetReview();
    this.#outbox.add({ kind: 'review', waiting }, now, dueAt);
    return true;
  }

  /** The operator looks at them now. */
  forgetReview(): void {
    this.#outbox.removeUntried('review');
  }

  #isWithinLimit(kind: CappedKind, now: number): boolean {
    const after = hit(this.#told.get(kind) ?? EMPTY_WINDOW, [ALERTS], now);
    this.#told.set(kind, after.window);
    return after.hit.allowed;
  }

  /**
   * Answers when to try again; null: not at all.
   * @param isUrgent stops between two alerts if it becomes true, because something else needs the alarm.
   */
  async deliver(env: Env, isUrgent: () => boolean): Promise<number | null> {
    const config = alertConfigOf(env);
    // The operator will correct it. Until then the alerts wait.
    if (config === 'invalid') return this.#outbox.isEmpty ? null : Date.now() + INVALID_PAUSE_MS;
    if (config === null) {
      this.#outbox.clear();
      this.#addresses.clear();
      return null;
    }
    for (const waiting of this.#outbox.due(Date.now())) {
      if (isUrgent()) break;
      try {
        await this.#publish(waiting, config);
        this.#outbox.delivered(waiting);
      } catch (error) {
        logRefusal(config.notifyAdminUrl, config, error);
        const refusal = error instanceof NotificationError ? error : null;
        // After any error, it stays and is tried again.
        const retryAt = this.#outbox.failed(waiting, Date.now(), refusal?.retryAfterMs ?? 0);
        if (refusal?.concernsTopic === true) {
          this.#outbox.postponeAll(waiting, retryAt);
          break;
        }
      } finally {
        this.#addresses.delete(waiting.id);
      }
    }
    return this.#outbox.nextDueAt();
  }

  /** Each attempt has its own tokens: it may come long after the last one, and the last one may have arrived anyway. */
  async #publish({ id, alert, at }: WaitingAlert, config: AlertConfig): Promise<void> {
    const notification = alertNotification(alert, {
      topic: config.notifyAdminTopic,
      serviceUrl: config.serviceUrl,
      at,
      address: this.#addresses.get(id) ?? null,
      tokens: this.#tokens.make(actionsOf(alert), Date.now()),
    });
    const http = (this.#http ??= openHttp(config));
    await publish(http, operatorService(config), notification);
  }
}

function isCapped(alert: Alert): alert is Extract<Alert, { kind: CappedKind }> {
  return alert.kind === 'burst' || alert.kind === 'rate-limit' || alert.kind === 'token';
}

/** Null: there is no topic. */
function alertConfigOf(env: Env): AlertConfig | 'invalid' | null {
  const result = configOf(env);
  if (result.kind === 'invalid') return 'invalid';
  if (result.config.notifyAdminTopic === null) return null;
  const { notifyAdminTopic } = result.config;
  return { ...result.config, notifyAdminTopic };
}
