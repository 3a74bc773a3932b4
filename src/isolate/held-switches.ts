/**
 * The panic switches (contract, 3.2) as long as the guard cannot store them. On one machine only:
 * there, one isolate is the whole service, so what it holds is true everywhere, and outlives the
 * guard, which a failed write resets. It does not outlive the process: after a restart, what was
 * stored last holds. Cloudflare has many isolates, which come and go. There, a switch that cannot
 * be stored is not set, and its caller is told.
 * Proved by test/routes/moderation/admin.test.ts.
 */
import { onForget } from './recent.ts';

/** Of pushes; and of comments and issues. */
export type Switch = 'pushes' | 'writes';

const held = new Map<Switch, boolean>();
onForget(() => held.clear());

/** Null: what is stored holds. */
export function heldSwitch(which: Switch): boolean | null {
  return held.get(which) ?? null;
}

export function heldSwitches(): readonly (readonly [Switch, boolean])[] {
  return [...held];
}

export function holdSwitch(which: Switch, isOn: boolean): void {
  held.set(which, isOn);
}

/** It is stored, unless it was set again meanwhile. */
export function releaseSwitch(which: Switch, isOn: boolean): void {
  if (held.get(which) === isOn) held.delete(which);
}
