/**
 * Keeps the panic switches (contract, 3.2) while the guard cannot store them, on one machine only.
 * There, one isolate is the whole service, so what it holds is true everywhere, and outlives the
 * guard, which a failed write resets. It does not outlive the process: after a restart, what was
 * stored last counts. Cloudflare has many isolates, which come and go. There, a switch that cannot
 * be stored is not set, and its caller is told.
 * Proved by test/routes/moderation/admin.test.ts.
 */
import { onForget } from './recent.ts';

/** The switch of pushes, and that of comments and issues. */
export type Switch = 'pushes' | 'writes';

const held = new Map<Switch, boolean>();
onForget(() => held.clear());

/** Returns a switch that is held here, or null if the stored one counts. */
export function heldSwitch(which: Switch): boolean | null {
  return held.get(which) ?? null;
}

export function heldSwitches(): readonly (readonly [Switch, boolean])[] {
  return [...held];
}

export function holdSwitch(which: Switch, isOn: boolean): void {
  held.set(which, isOn);
}

/** Releases a switch that was stored, unless it was set otherwise meanwhile. */
export function releaseSwitch(which: Switch, isOn: boolean): void {
  if (held.get(which) === isOn) held.delete(which);
}
