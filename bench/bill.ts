/**
 * `npx node bench/bill.ts`: what Cloudflare bills for a million small pushes that each open a pull
 * request, line by line, as docs/performance.md has it. Counts are held by
 * test/e2e/host/call-counts.test.ts, and that nothing is awake after its work by
 * test/durable/asleep.test.ts.
 */
import { readArguments } from '../local/arguments.ts';

/** Of one push. */
export const COUNTS = {
  /** The discovery, and the push. */
  requests: 2,
  /** Its own, and that of the discovery before it. */
  objectCalls: 10,
  /**
   * At most: that delivers what is to be told, and those that forget the push and the client's
   * windows.
   */
  alarms: 3,
  objectRows: 11,
  databaseRows: 4,
} as const;

/**
 * Dollars, as Cloudflare's pages of prices had them in November 2026. What a plan includes is left
 * out. Compare them before you rely on a sum.
 */
const PRICES = {
  // developers.cloudflare.com/workers/platform/pricing
  requests: 0.3 / 1e6,
  // developers.cloudflare.com/durable-objects/platform/pricing: calls and alarms are requests.
  objectCalls: 0.15 / 1e6,
  /** For each GB and second (there). */
  duration: 12.5 / 1e6,
  // There, with deletes and alarms that are set; developers.cloudflare.com/d1/platform/pricing has
  // the same.
  rowsWritten: 1 / 1e6,
  /** For each GB and month (there, "SQL Stored data"). */
  storage: 0.2,
} as const;

/** An object is billed for so much memory, whatever it uses (there, "Compute billing"). */
const OBJECT_GB = 0.125;
/** Assumed: a call waits for the disk once, and an alarm for a notification service far away. */
const CALL_SECONDS = 0.01;
const ALARM_SECONDS = 0.5;
/** That of a notification, which nobody cleared before. */
const TIMER_SECONDS = 10;
/**
 * An object's database has so much before its first row
 * (developers.cloudflare.com/durable-objects/reference/faq).
 */
const OBJECT_STORAGE_GB = 12 / 1e6;

const awake = (seconds: number): number => seconds * OBJECT_GB * PRICES.duration;

/** What each thing costs, of a million. @param hasTimers as it was before timers were cleared. */
export function bill(hasTimers = false): readonly (readonly [what: string, dollars: number])[] {
  const { requests, objectCalls, alarms, objectRows, databaseRows } = COUNTS;
  const seconds = objectCalls * CALL_SECONDS + alarms * ALARM_SECONDS + (hasTimers ? TIMER_SECONDS : 0);
  const one: readonly (readonly [string, number])[] = [
    [`${requests} requests`, requests * PRICES.requests],
    [`${objectCalls} calls of objects, ${alarms} alarms`, (objectCalls + alarms) * PRICES.objectCalls],
    ['The time that objects are awake', awake(seconds)],
    [`${objectRows} rows that objects write`, objectRows * PRICES.rowsWritten],
    [`${databaseRows} rows of the database`, databaseRows * PRICES.rowsWritten],
    ['A month of the pull request’s object', OBJECT_STORAGE_GB * PRICES.storage],
  ];
  return one.map(([what, dollars]) => [what, 1e6 * dollars]);
}

/** The table of docs/performance.md, a line each. */
export function billLines(): readonly string[] {
  const before = bill(true);
  const sum = (lines: typeof before) => lines.reduce((all, [, dollars]) => all + dollars, 0);
  const rows = bill().map(([what, dollars], index) => [what, before[index]?.[1] ?? 0, dollars] as const);
  const all = [...rows, ['Together', sum(before), sum(bill())] as const];
  return all.map(([what, was, is]) => `| ${what} | ${was.toFixed(2)} | ${is.toFixed(2)} |`);
}

if (import.meta.main) {
  readArguments('Usage: npx node bench/bill.ts\n\nPrints the bill of docs/performance.md.', {});
  console.log(
    ['| Of a million pushes | $, with timers | $, now |', '| --- | ---: | ---: |', ...billLines()].join('\n'),
  );
}
