/**
 * Raises alerts and delivers them to the operator's topic; without a topic there is nobody to tell, and nothing is kept.
 *
 * An address is in memory only, for the first attempt; a later one names its pseudonym, which is all that is stored.
 */
import { type Config, parseConfig } from '../../config.ts';
import type { Env } from '../../env.ts';
import { type Alert, actionsOf, alertNotification } from '../../guard/alert.ts';
import { publish } from '../../notify/ntfy.ts';
import { HttpClient } from '../../outgoing/http-client.ts';
import type { ActionTokens } from './action-tokens.ts';
import { AlertOutbox, type WaitingAlert } from './alert-outbox.ts';

type AlertConfig = Config & { readonly notifyAdminTopic: string };

export class Alerts {
  readonly #outbox: AlertOutbox;
  readonly #tokens: ActionTokens;
  /** By the alert's id. */
  readonly #addresses = new Map<number, string>();
  #http: HttpClient | null = null;

  constructor(sql: SqlStorage, tokens: ActionTokens) {
    this.#outbox = new AlertOutbox(sql);
    this.#tokens = tokens;
  }

  /** Puts it into the outbox; false if there is no topic. @param address that the alert may contain. */
  raise(env: Env, alert: Alert, address: string | null, now: number): boolean {
    const config = configOf(env);
    if (config === null) return false;
    const id = this.#outbox.add(alert, now);
    if (address !== null && config.alertAddress === 'shown') this.#addresses.set(id, address);
    return true;
  }

  /** Answers when to try again; null: not at all. */
  async deliver(env: Env): Promise<number | null> {
    const config = configOf(env);
    if (config === null) {
      this.#outbox.clear();
      return null;
    }
    for (const waiting of this.#outbox.due(Date.now())) {
      try {
        await this.#publish(waiting, config);
        this.#outbox.delivered(waiting);
      } catch {
        // After any error, it stays and is tried again.
        this.#outbox.failed(waiting, Date.now());
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
    const http = (this.#http ??= new HttpClient(config.outgoingFetchHosts));
    await publish(http, config, notification);
  }
}

function configOf(env: Env): AlertConfig | null {
  const result = parseConfig({ ...env });
  if (result.kind === 'invalid' || result.config.notifyAdminTopic === null) return null;
  const { notifyAdminTopic } = result.config;
  return { ...result.config, notifyAdminTopic };
}
