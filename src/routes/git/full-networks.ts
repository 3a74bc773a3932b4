/**
 * The networks that have no room for another pull request, as far as this isolate knows: their pushes reach neither the
 * host, nor the account, which said so, and few of them the guard. Room may be released in another isolate, so this is
 * believed for a minute at most.
 */
import { Recent } from '../../isolate/recent.ts';
import type { Grant, Refused } from '../../limits/port.ts';
import type { Wait } from '../../limits/sliding-window.ts';
import {
  type FullWindow,
  isOfOneNetwork,
  type WantedWindow,
  windowName,
  type Wants,
} from '../../limits/wants.ts';

interface FullNetwork {
  readonly withinMs: number;
  /** When there is room again, if nothing is released; milliseconds since 1970. */
  readonly freeAt: number;
  /** By their keys: the pushes that count. One that is repeated goes on. */
  readonly holders: readonly string[];
  /** The account has refused a push for it. False: it has only given the last room. */
  readonly isRefused: boolean;
}

export interface KnownFull extends Wait {
  readonly window: WantedWindow;
  /** The account knows that the client tries, and so does the operator. */
  readonly isTold: boolean;
}

/** By the names of windows. */
const networks = new Recent<FullNetwork>({ most: 10_000, lifeMs: 60_000 });

/** Whether nobody is known to be full: then there is nothing to ask. */
export function isNobodyFull(): boolean {
  return networks.size === 0;
}

/** Why a pull request would be refused; null: nothing is known. */
export function knownFull({ windows, push }: Wants): KnownFull | null {
  const now = Date.now();
  for (const window of windows) {
    const known = networks.get(windowName(window), now);
    if (known === null || known.freeAt <= now || known.holders.includes(push?.key ?? '')) continue;
    return { window, isTold: known.isRefused, waitMs: known.freeAt - now, withinMs: known.withinMs };
  }
  return null;
}

/** Who has been given the last room needs no call to be refused. */
export function noteGranted({ full }: Grant): void {
  for (const each of full) remember(each, false);
}

export function noteRefused({ full, waitMs, withinMs }: Refused, { push }: Wants): void {
  if (full === null) return;
  const holders = networks.get(full.name)?.holders ?? full.holders;
  // Whoever was answered before opens another one.
  const others = push?.isAnother ? holders.filter((key) => key !== push.key) : holders;
  remember({ name: full.name, holders: others, waitMs, withinMs }, true);
}

/** After the account has heard of it: until then, it may have said that there is no room. */
export function noteReleased(windows: readonly WantedWindow[]): void {
  for (const window of windows) if (isOfOneNetwork(window)) networks.delete(windowName(window));
}

function remember({ name, holders, waitMs, withinMs }: FullWindow, isRefused: boolean): void {
  networks.set(name, { withinMs, freeAt: Date.now() + waitMs, holders, isRefused });
}
