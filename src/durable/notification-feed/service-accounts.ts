/**
 * The accounts in whose names the service writes: the bot's, and the App's.
 * Proved by test/durable/notification-feed/wake.test.ts.
 */
import { mentionOf } from '../../events/maintainer-words.ts';
import type { Account } from '../../host/code-host.ts';
import type { ActivityHost } from '../../host/open.ts';
import type { AppAccount } from '../../host/rest/actor.ts';

/** Key of the App's account. */
const APP_KEY = 'app';

export class ServiceAccounts {
  readonly #kv: SyncKvStorage;
  #bot: Account | null = null;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /**
   * Reads the accounts. The App's is kept: its pull requests must not be taken for foreign while it
   * cannot be asked.
   */
  async list(activity: ActivityHost): Promise<readonly Account[]> {
    const kv = this.#kv;
    const bot = (this.#bot ??= await activity.account());
    const known = kv.get<AppAccount>(APP_KEY) ?? null;
    const app = await activity.appAccount().catch(() => known);
    if (app !== null && (app.id !== known?.id || app.login !== known.login)) kv.put(APP_KEY, app);
    return app === null ? [bot] : [bot, app];
  }

  /** Answers whether somebody may have spoken to the service. Before its name is known, anybody. */
  isNamedIn(mentions: readonly string[]): boolean {
    if (this.#bot === null) return mentions.length > 0;
    const accounts = [this.#bot, this.#kv.get<AppAccount>(APP_KEY)];
    return accounts.some((own) => own !== undefined && mentions.includes(mentionOf(own)));
  }

  /** Has the bot's name asked for again: maintainers speak to the new one. */
  renamed(): void {
    this.#bot = null;
  }
}
