const DAY_MS = 24 * 3_600_000;

/**
 * The noon (UTC) of the next day. A client counts as another one from midnight on, so a test that lets hours pass begins
 * far from it.
 */
export const nextNoon = (now: number): number => (Math.floor(now / DAY_MS) + 1.5) * DAY_MS;
