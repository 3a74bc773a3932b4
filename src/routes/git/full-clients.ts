/**
 * Which clients have no place left for another pull request, as far as this isolate knows: their pushes need not reach
 * their window, which said so, and few of them the guard.
 *
 * A place may be given back in another isolate, so this is believed for a minute at most.
 */
import { BURST_PUSHES, BURST_WINDOW_MS } from '../../durable/guard/burst-detector.ts';
import { onForget, Recent } from '../../isolate/recent.ts';
import { ClientAttempts } from '../../limits/client-attempts.ts';
import type { FullPlaces } from '../../limits/places.ts';
import { isAhead } from '../../limits/sliding-window.ts';

const BELIEVED_MS = 60_000;

interface FullClient {
  /** Milliseconds since 1970. */
  readonly until: number;
  /** By their keys: the pushes that have the places. One that is repeated goes on. */
  readonly holders: readonly string[];
}

const full = new Recent<FullClient>({ most: 10_000, lifeMs: BELIEVED_MS });
const told = new ClientAttempts();
onForget(() => told.clear());

/**
 * @param client as its window names it. @param answered the key of a push that was answered before: it holds a place, but
 * wants another one.
 */
export function rememberFull(client: string, { holders, waitMs }: FullPlaces, answered: string | null): void {
  const now = Date.now();
  const known = full.get(client, now)?.holders ?? holders;
  const until = now + Math.min(waitMs, BELIEVED_MS);
  full.set(client, { until, holders: known.filter((key) => key !== answered) }, now);
}

/** A place of the client was given back. */
export function forgetFull(client: string): void {
  full.delete(client);
}

/** Whether nobody is known to be full: then there is nothing to ask. */
export function isNobodyFull(): boolean {
  return full.size === 0;
}

/** @param key of the push: whether it holds a place itself. */
export function isFull(client: string, key: string): boolean {
  const now = Date.now();
  const known = full.get(client, now);
  return known !== null && isAhead(known.until, BELIEVED_MS, now) && !known.holders.includes(key);
}

/**
 * Counts a push of a client that is full. Answers whether the guard must hear of it: the operator is to be told of a
 * burst also if it is refused, so the guard gets as many pushes of a client in a minute as make one.
 */
export function mustBeTold(client: string): boolean {
  return told.hit(client, [{ most: BURST_PUSHES, withinMs: BURST_WINDOW_MS }], Date.now()).allowed;
}
