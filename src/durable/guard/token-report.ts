/** What the operator was last told about the bot's token: each isolate finds it out by itself, and once a day is enough. */
import type { TokenProblem } from '../../host/account/token-watch.ts';

interface StoredReport {
  readonly account: string;
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const KEY = 'token-report';
const DAY_MS = 24 * 60 * 60 * 1000;

export class TokenReport {
  readonly #kv: SyncKvStorage;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** Whether the operator is to hear of it now. Cost: one write if so. */
  isNews(account: string, problems: readonly TokenProblem[], now: number): boolean {
    const text = problems.join(' ');
    const last = this.#kv.get<StoredReport>(KEY);
    if (last?.account === account && last.text === text && now - last.at < DAY_MS) return false;
    this.#kv.put(KEY, { account, text, at: now } satisfies StoredReport);
    return true;
  }
}
