/** What the operator was last told about the bots' tokens: each isolate finds it out by itself, and once a day is enough. */
import type { TokenProblem } from '../../host/account/account-rules.ts';
import { type ToldProblems, toldNow } from '../../host/account/token-watch.ts';

export class TokenReport {
  readonly #kv: SyncKvStorage;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** Whether the operator is to hear of it now. Cost: one write if so. */
  isNews(account: string, problems: readonly TokenProblem[], now: number): boolean {
    const key = `token-report:${account}`;
    const told = toldNow(this.#kv.get<ToldProblems>(key), problems, now);
    if (told !== null) this.#kv.put(key, told);
    return told !== null;
  }
}
