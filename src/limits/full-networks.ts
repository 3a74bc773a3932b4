/**
 * The networks that have no room for another pull request, as far as this isolate knows: their pushes reach neither the
 * host, nor the account, which said so, and few of them the guard. Room may be released in another isolate, so this is
 * believed for a minute at most.
 */
import { Recent } from '../isolate/recent.ts';
import type { Wait } from './sliding-window.ts';
import { type AccountWait, type FullWindow, type WindowKind, windowName, type Wants } from './wants.ts';

interface FullNetwork extends FullWindow {
  /** When there is room again, if nothing is released; milliseconds since 1970. */
  readonly freeAt: number;
  /** The account has refused a push for it. False: it has only given the last room. */
  readonly isRefused: boolean;
}

export interface KnownFull extends Wait {
  readonly for: WindowKind;
  /** The account knows that the client tries, and so does the operator. */
  readonly isTold: boolean;
}

/** By the names of windows. */
const networks = new Recent<FullNetwork>({ most: 10_000, lifeMs: 60_000 });

/** Why a pull request would be refused; null: nothing is known. A push that counts, and is repeated, goes on. */
export function knownFull({ windows, push }: Wants): KnownFull | null {
  const now = Date.now();
  for (const window of windows) {
    const known = networks.get(windowName(window), now);
    if (known === null || known.freeAt <= now || known.holders.includes(push?.key ?? '')) continue;
    const { isRefused: isTold, freeAt, withinMs } = known;
    return { for: window.kind, isTold, waitMs: freeAt - now, withinMs };
  }
  return null;
}

/** Whether nobody is known to be full: then there is nothing to ask. */
export function isNobodyFull(): boolean {
  return networks.size === 0;
}

/** Whoever has been given the last room needs no call to be refused. */
export function noteFull(window: FullWindow, isRefused = false): void {
  networks.set(window.name, { ...window, freeAt: Date.now() + window.waitMs, isRefused });
}

export function noteRefused({ full, ...wait }: AccountWait, { push }: Wants): void {
  if (full === null) return;
  const holders = networks.get(full.name)?.holders ?? full.holders;
  // Whoever was answered before opens another one.
  const others = push?.isAnother ? holders.filter((key) => key !== push.key) : holders;
  noteFull({ ...wait, name: full.name, holders: others }, true);
}

/** After the account has heard of a release: until then, it may have said that there is no room. */
export function noteReleased(windows: readonly string[]): void {
  for (const name of windows) networks.delete(name);
}
