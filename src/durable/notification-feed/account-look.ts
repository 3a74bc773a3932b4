/**
 * What no answer to another call shows of the bot's account: that GitHub has flagged it, so that nobody else sees its pull
 * requests, and that its login has changed. Looked for once an hour.
 */
import type { ActivityHost } from '../../host/code-host.ts';
import { isWithin } from '../../isolate/clock.ts';

const PAUSE_MS = 60 * 60 * 1000;
const LOGIN_KEY = 'login';

export interface AccountNews {
  /** Told with every look. */
  hidden(isHidden: boolean): Promise<void>;
  renamed(before: string, login: string): Promise<void>;
}

export class AccountLook {
  readonly #kv: SyncKvStorage;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isMissed = false;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** Rejects if the host does not answer; then it is looked again an hour later. */
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
    // The host may have been wrong once: the next run asks again.
    if (isHidden && !this.#isMissed) this.#lookedAt = Number.NEGATIVE_INFINITY;
    else await news.hidden(isHidden);
    this.#isMissed = isHidden;
  }
}
