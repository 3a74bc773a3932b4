/**
 * The turns of creations, one a second, because the host asks for a pause between them. They are in
 * memory, as they are soon over.
 * Proved by test/durable/host-account/host-account.test.ts.
 */
import { isAhead } from '../../isolate/clock.ts';

/**
 * The pause between two creations. Source:
 * docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api, "Pause between
 * mutative requests".
 */
const SPACING_MS = 1_000;
/**
 * The longest wait for a turn, because a push holds memory meanwhile. A write that would wait for
 * longer is told to come later.
 */
const LONGEST_QUEUE_MS = 10_000;
/** The part of that wait that a network leaves to others while something of it waits. */
const LEFT_QUEUE_MS = 3_000;

interface Turn {
  /** The time at which the creation may begin, in milliseconds since 1970. */
  readonly at: number;
  /** The network that creates. */
  readonly by: string;
}

export interface NextTurn {
  /** The time in milliseconds until the creation may begin. */
  readonly turnMs: number;
  /** The time after which the network can ask again; 0: it may take this turn. */
  readonly waitMs: number;
}

export class CreationTurns {
  /** The turns in order, with those of the last seconds. */
  #turns: readonly Turn[] = [];

  next(by: string, now: number): NextTurn {
    const longestMs = LONGEST_QUEUE_MS + SPACING_MS;
    this.#turns = this.#turns.filter(({ at }) => isAhead(at + SPACING_MS, longestMs, now));
    const turnMs = Math.max(0, (this.#turns.at(-1)?.at ?? -Infinity) + SPACING_MS - now);
    const isWaiting = this.#turns.some((turn) => turn.by === by && turn.at > now);
    const mostMs = LONGEST_QUEUE_MS - (isWaiting ? LEFT_QUEUE_MS : 0);
    return { turnMs, waitMs: Math.max(0, turnMs - mostMs) };
  }

  take(by: string, at: number): void {
    this.#turns = [...this.#turns, { at, by }];
  }
}
