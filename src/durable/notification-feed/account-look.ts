/** Looks at the bot's account, of which nothing else tells. */
import type { ActivityHost } from '../../host/open.ts';
import type { AccountNews } from '../../host-access.ts';
import { isWithin } from '../../isolate/clock.ts';

/** The pause between two looks at the account. */
const PAUSE_MS = 60 * 60 * 1000;
const LOGIN_KEY = 'login';

/**
 * Looks at the bot's account once an hour for what nothing else shows: GitHub has flagged, and so
 * hidden it, or its login has changed.
 */
export class AccountLook {
  readonly #kv: SyncKvStorage;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #wasHidden = false;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** Rejects if the host does not answer; the next look comes an hour later all the same. */
  async look(
    host: Pick<ActivityHost, 'account' | 'isHidden'>,
    news: AccountNews,
    now: number,
  ): Promise<void> {
    if (isWithin(this.#lookedAt, PAUSE_MS, now)) return;
    this.#lookedAt = now;
    const { login } = await host.account();
    const before = this.#kv.get<string>(LOGIN_KEY) ?? login;
    if (before !== login) await news.renamed(before, login);
    this.#kv.put(LOGIN_KEY, login);
    const isHidden = await host.isHidden(login);
    if (isHidden === null) return;
    // The host's first such answer may be wrong, so the next run asks again before anybody is told.
    if (isHidden && !this.#wasHidden) this.#lookedAt = Number.NEGATIVE_INFINITY;
    else await news.hidden(isHidden);
    this.#wasHidden = isHidden;
  }
}
