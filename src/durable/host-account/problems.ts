/** What is wrong with the account or its token, as it was found out last. */
import type { TokenProblem } from '../../host/account/account-rules.ts';

interface Found {
  readonly problems: readonly TokenProblem[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

const KEY = 'problems';
/** Every isolate finds out once a day what is still wrong. */
const LIFE_MS = 25 * 60 * 60 * 1000;

export class Problems {
  readonly #kv: SyncKvStorage;
  #found: Found;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    this.#found = kv.get<Found>(KEY) ?? { problems: [], at: 0 };
  }

  /** As far as they may still hold. */
  current(now: number): readonly TokenProblem[] {
    return Math.abs(now - this.#found.at) < LIFE_MS ? this.#found.problems : [];
  }

  /** Cost: one write. */
  set(problems: readonly TokenProblem[], now: number): void {
    this.#found = { problems, at: now };
    this.#kv.put(KEY, this.#found);
  }
}
