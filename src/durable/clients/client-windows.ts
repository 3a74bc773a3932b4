/**
 * Counts what clients do against their limits (src/limits/limits.ts). A client is a network, or an IPv6 /48, by a keyed
 * hash that changes every day; its address never gets here. Clients are rows of a few objects, because the file of an
 * object of its own would tell by its name and its date who came when (src/objects.ts).
 *
 * While there is anything to forget, an alarm runs every hour. It deletes what no longer counts, without a trace.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import type { TriedName } from '../../limits/limits.ts';
import type { Limit, Wait } from '../../limits/sliding-window.ts';
import { keepOnly } from '../keep-only.ts';
import { LimitRows } from '../limit-rows.ts';

const HOUR_MS = 60 * 60 * 1000;

export class ClientWindows extends DurableObject<Env> {
  readonly #rows = new LimitRows(this.ctx.storage.kv);
  #hasAlarm = false;

  /**
   * Answers whether an attempt is within the limits. @param client by its hash, as in every call. @param isAttempt false:
   * it is not counted.
   */
  async hit(client: string, action: TriedName, limits: readonly Limit[], isAttempt = true): Promise<Wait> {
    const answer = this.#rows.hit(`${client} ${action}`, limits, Date.now(), isAttempt);
    await this.#forgetLater();
    return answer;
  }

  /** The client's random name, under which its delayed pushes are counted. After a day it has another one. */
  async tag(client: string): Promise<string> {
    const tag = this.#rows.tag(`${client} tag`, Date.now());
    await this.#forgetLater();
    return tag;
  }

  /** Forgets what does not count any more. */
  override alarm(): Promise<void> {
    return this.#forget();
  }

  async #forget(): Promise<void> {
    const now = Date.now();
    const kept = this.#rows.forgetOld(now);
    this.#hasAlarm = kept.length > 0 || this.#rows.size > 0;
    await keepOnly(this.ctx.storage, kept, this.#hasAlarm ? now + HOUR_MS : null);
  }

  async #forgetLater(): Promise<void> {
    if (this.#rows.isFull) await this.#forget();
    if (this.#hasAlarm) return;
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
    this.#hasAlarm = true;
  }
}
