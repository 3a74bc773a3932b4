/**
 * Whether the account's code host can be used, as it was found out last. It outlives the object, which sleeps between
 * two runs that ask for it.
 */
import type { HostCheck } from '../../host/host-check.ts';
import type { HostKind } from '../../host/kinds.ts';

/** Under which it is kept. */
export const USABILITY_KEY = 'usability';
/** A host that works is checked now and then, and one that does not, more often. */
const READY_FOR_MS = 60 * 60_000;
const PROBLEM_FOR_MS = 10 * 60_000;

interface Found {
  /** What the host was taken for. */
  readonly as: HostKind;
  readonly problem: Exclude<HostCheck, { kind: 'ready' }> | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export class Usability {
  readonly #kv: SyncKvStorage;
  #found: Found | null;
  #isAsking = false;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    this.#found = kv.get<Found>(USABILITY_KEY) ?? null;
  }

  /** What is wrong; null: nothing, as far as it is known. */
  get problem(): Found['problem'] {
    return this.#found?.problem ?? null;
  }

  /** @param as the kind of host that the configuration names. After a change of kind, the host is checked at once. */
  isDue(as: HostKind, now: number): boolean {
    if (this.#isAsking) return false;
    const lifeMs = this.problem === null ? READY_FOR_MS : PROBLEM_FOR_MS;
    return this.#found?.as !== as || Math.abs(now - this.#found.at) >= lifeMs;
  }

  /** Answers whether this differs from what was known before. Cost: one write. */
  async ask(as: HostKind, check: () => Promise<HostCheck>, now: number): Promise<boolean> {
    this.#isAsking = true;
    const before = this.problem?.sentence;
    const answer = await check().finally(() => (this.#isAsking = false));
    this.#found = { as, problem: answer.kind === 'ready' ? null : answer, at: now };
    this.#kv.put(USABILITY_KEY, this.#found);
    return this.problem?.sentence !== before;
  }
}
