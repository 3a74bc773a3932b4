/**
 * Shares costly answers between the requests of an isolate, so that a question is rarely asked
 * twice in the life of its answer. Requests that ask at the same time take turns. They do not share
 * a promise, because it belongs to the request that created it, and never settles once that client
 * disconnects.
 */
import type { Clock } from './clock.ts';
import { busy, SingleFlight } from './waiting.ts';
import { Recent } from './recent.ts';

const MOST_QUESTIONS = 10_000;

interface SharedLimits<T> {
  /** Time for which an answer is valid. */
  readonly lifeMs: number;
  readonly mostBytes: number;
  readonly bytesOf: (answer: T) => number;
}

export class SharedAnswers<T> {
  readonly #answers: Recent<T>;
  /** Questions whose answer was kept, even if it was dropped since to make room. */
  readonly #asked: Recent<true>;
  readonly #turns = new SingleFlight();

  constructor({ lifeMs, mostBytes, bytesOf }: SharedLimits<T>) {
    this.#answers = new Recent({ lifeMs, most: mostBytes, weightOf: bytesOf });
    this.#asked = new Recent({ lifeMs, most: MOST_QUESTIONS });
  }

  /**
   * Returns the answer to a question.
   * @param ask asks it. It calls `beforeWait` before it waits for memory, because those who wait
   * for their turn may hold that memory.
   * @param isKept tells if an answer is kept. By default, all are.
   * @throws what `ask` throws.
   * @throws HostError `busy` after too long a wait, or if the answer was dropped to make room.
   */
  async read(
    key: string,
    clock: Clock,
    ask: (beforeWait: () => void) => Promise<T>,
    isKept: (answer: T) => boolean = () => true,
  ): Promise<T> {
    const known = this.#known(key, clock);
    if (known !== null) return known;
    const turn = await this.#turns.take(key, clock);
    try {
      const answeredMeanwhile = turn.hasWaited ? this.#known(key, clock) : null;
      if (answeredMeanwhile !== null) return answeredMeanwhile;
      const answer = await ask(() => turn.end());
      if (isKept(answer)) {
        this.#answers.set(key, answer, clock.now());
        this.#asked.set(key, true, clock.now());
      }
      return answer;
    } finally {
      turn.end();
    }
  }

  #known(key: string, clock: Clock): T | null {
    const answer = this.#answers.get(key, clock.now());
    if (answer === null && this.#asked.get(key, clock.now()) !== null) throw busy();
    return answer;
  }
}
