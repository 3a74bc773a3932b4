/**
 * Which of the pushes that are due are published now. Pure. Fair among clients: the first push of
 * each comes before the second one of anybody. Of pushes that wait for a chosen time, few are
 * published a minute or two apart, so that two of them do not look like one person's; many are a
 * crowd that hides them, and the spacing would only delay them.
 */
import { bytesOf, type DelayedPush } from './delayed-push.ts';

/**
 * The most pushes that are published at once, by all runs of the scheduled handler together. A live
 * push finds room beside them.
 */
export const MOST_AT_ONCE = 3;
/** The most bytes that these hold, so a push of 100 MB goes alone. */
const MOST_BYTES_AT_ONCE = 100_000_000;
const MOST_COMMITS_AT_ONCE = 20_000;
/** The most pushes that count as few, of those that wait for a time. */
const FEW = 5;
/** The shortest pause between two of them; the longest is twice as long. */
export const SPACING_MS = 60_000;

interface Waiting extends Pick<DelayedPush, 'name' | 'client' | 'reason' | 'commits' | 'spool'> {
  readonly stage: { readonly dueAt: number };
}

interface Room {
  /** The pushes that are being published. */
  readonly running: readonly Pick<Waiting, 'spool' | 'commits'>[];
  /** When the next one may come that waits for a time; milliseconds since 1970. */
  readonly spacedUntil: number;
}

/**
 * Picks the pushes to publish now.
 * @param due in any order
 */
export function pick<T extends Waiting>(due: readonly T[], { running, spacedUntil }: Room, now: number): T[] {
  const picked: T[] = [];
  const isFew = due.filter(({ reason }) => reason === 'delay').length <= FEW;
  // A clock that was set back must not stop them.
  let isSpaced = isFew && now < spacedUntil && spacedUntil - now <= 2 * SPACING_MS;
  for (const each of inTurn(due)) {
    const all = [...running, ...picked];
    const fits =
      all.length === 0 ||
      (all.length < MOST_AT_ONCE &&
        sum([...all, each].map(bytesOf)) <= MOST_BYTES_AT_ONCE &&
        sum([...all, each].map(({ commits }) => commits)) <= MOST_COMMITS_AT_ONCE);
    // Nobody passes one that waits for room: it would wait for ever.
    if (!fits) break;
    if (each.reason === 'delay') {
      if (isSpaced) continue;
      isSpaced = isFew;
    }
    picked.push(each);
  }
  return picked;
}

/** Orders them by turns. One that has lost its client's name is a client of its own. */
function inTurn<T extends Waiting>(due: readonly T[]): T[] {
  const byTime = (a: T, b: T): number => a.stage.dueAt - b.stage.dueAt;
  const clients = Map.groupBy(due.toSorted(byTime), ({ client, name }) => client ?? name);
  const turns = [...clients.values()].flatMap((own) => own.map((each, turn) => ({ each, turn })));
  return turns.toSorted((a, b) => a.turn - b.turn || byTime(a.each, b.each)).map(({ each }) => each);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
