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
    const bot = (this.#bot ??= await activity.account());
    const known = this.knownApp;
    const app = await activity.appAccount().catch(() => known);
    if (app !== null && (app.id !== known?.id || app.login !== known.login)) this.#kv.put(APP_KEY, app);
    return app === null ? [bot] : [bot, app];
  }

  /** The App's account, as it was last known; null: none was. */
  get knownApp(): AppAccount | null {
    return this.#kv.get<AppAccount>(APP_KEY) ?? null;
  }

  /** Answers whether somebody may have spoken to the service. Before its name is known, anybody. */
  isNamedIn(mentions: readonly string[]): boolean {
    if (this.#bot === null) return mentions.length > 0;
    const accounts = [this.#bot, this.knownApp];
    return accounts.some((own) => own !== null && mentions.includes(mentionOf(own)));
  }

  /** Has the bot's name asked for again: maintainers speak to the new one. */
  renamed(): void {
    this.#bot = null;
  }
}
