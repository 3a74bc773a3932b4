const DAY_MS = 24 * 3_600_000;

let last = 0;

/**
 * A noon (UTC) that no test had yet, in whatever file of this isolate. A client counts as another
 * one from midnight on: a test that lets hours pass begins far from it, and what a file before has
 * left running counts for none of its clients.
 */
export function nextNoon(): number {
  last = (Math.floor(Math.max(last, Date.now()) / DAY_MS) + 1.5) * DAY_MS;
  return last;
}
