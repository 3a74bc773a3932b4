/**
 * `npx node bench/bill.ts`: computes what Cloudflare bills for a million small pushes that each
 * open a pull request, line by line, as in docs/performance.md. test/e2e/host/call-counts.test.ts
 * proves the counts, and test/durable/asleep.test.ts that nothing is awake after its work.
 */
import { readArguments } from '../local/arguments.ts';

/** Counts of one push. */
export const COUNTS = {
  /** The discovery, and the push. */
  requests: 2,
  /** Calls by the push, and by the discovery before it. */
  objectCalls: 11,
  /**
   * Alarms at most: one that delivers messages, and those that forget the push and the client's
   * windows.
   */
  alarms: 3,
  objectRows: 11,
  databaseRows: 4,
} as const;

/**
 * Prices in dollars, from Cloudflare's pages of November 2026, without what a plan includes.
 * Compare them before you rely on a sum.
 */
const PRICES = {
  // developers.cloudflare.com/workers/platform/pricing
  requests: 0.3 / 1e6,
  // developers.cloudflare.com/durable-objects/platform/pricing: calls and alarms are requests.
  objectCalls: 0.15 / 1e6,
  /** Price of a GB for a second (same page). */
  duration: 12.5 / 1e6,
  // Same page. Deletes and alarms that are set count as rows.
  // developers.cloudflare.com/d1/platform/pricing has the same price.
  rowsWritten: 1 / 1e6,
  /** Price of a GB for a month (same page, "SQL Stored data"). */
  storage: 0.2,
} as const;

/** Memory for which an object is billed, whatever it uses (same page, "Compute billing"). */
const OBJECT_GB = 0.125;
/**
 * Assumed durations: a call waits for the disk once, an alarm for a distant notification service.
 */
const CALL_SECONDS = 0.01;
const ALARM_SECONDS = 0.5;
/** Timer of a notification, which nobody cleared earlier. */
const TIMER_SECONDS = 10;
/**
 * Size of an object's database before its first row
 * (developers.cloudflare.com/durable-objects/reference/faq).
 */
const OBJECT_STORAGE_GB = 12 / 1e6;

const awake = (seconds: number): number => seconds * OBJECT_GB * PRICES.duration;

/**
 * Computes the price of each item for a million pushes.
 * @param hasTimers whether timers were not cleared yet.
 */
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

/** Writes the table of docs/performance.md, one item a line. */
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
