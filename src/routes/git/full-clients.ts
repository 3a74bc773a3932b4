/**
 * Which clients have no place left for another pull request, as far as this isolate knows: their pushes reach neither the
 * host, nor the account, which said so, and few of them the guard.
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
  /** How long this is believed; milliseconds since 1970. */
  readonly until: number;
  /** When there is a place again, if none is given back; milliseconds since 1970. */
  readonly freeAt: number;
  /** By their keys: the pushes that have the places. One that is repeated goes on. */
  readonly holders: readonly string[];
  /** The account has refused a push of the client for it. False: it has only given its last place. */
  readonly isRefused: boolean;
}

const full = new Recent<FullClient>({ most: 10_000, lifeMs: BELIEVED_MS });
const told = new ClientAttempts();
onForget(() => told.clear());

/**
 * @param client as the account names it. @param answered the key of a push that was answered before: it holds a place,
 * but wants another one.
 */
export function rememberFull(client: string, { holders, waitMs }: FullPlaces, answered: string | null): void {
  const now = Date.now();
  const known = full.get(client, now)?.holders ?? holders;
  remember(client, {
    freeAt: now + waitMs,
    holders: known.filter((key) => key !== answered),
    isRefused: true,
  });
}

/** The client has been given its last place. */
export function rememberLast(client: string, { holders, waitMs }: FullPlaces): void {
  remember(client, { freeAt: Date.now() + waitMs, holders, isRefused: false });
}

function remember(client: string, what: Omit<FullClient, 'until'>): void {
  const now = Date.now();
  full.set(client, { ...what, until: Math.min(what.freeAt, now + BELIEVED_MS) }, now);
}

/** Whether the account knows that the client, which is full, has tried to open more. */
export function isRefused(client: string): boolean {
  return full.get(client, Date.now())?.isRefused ?? false;
}

/** A place of the client was given back. */
export function forgetFull(client: string): void {
  full.delete(client);
}

/** Whether nobody is known to be full: then there is nothing to ask. */
export function isNobodyFull(): boolean {
  return full.size === 0;
}

/**
 * How long a push waits for a place, in milliseconds; 0: as far as is known, there is one.
 * @param key of the push: it may hold a place itself.
 */
export function fullForMs(client: string, key: string): number {
  const now = Date.now();
  const known = full.get(client, now);
  if (known === null || !isAhead(known.until, BELIEVED_MS, now) || known.holders.includes(key)) return 0;
  return Math.max(1, known.freeAt - now);
}

/**
 * Counts a push of a client that is full. Answers whether the guard must hear of it: the operator is to be told of a
 * burst also if it is refused, so the guard gets as many pushes of a client in a minute as make one.
 */
export function mustBeTold(client: string): boolean {
  return told.hit(client, [{ most: BURST_PUSHES, withinMs: BURST_WINDOW_MS }], Date.now()).allowed;
}
