/**
 * Counts for the whole service: `count` and `observe` add to this isolate's sheet, and the one
 * Tally object adds up all sheets. Rare events send the sheet at once, but at most once a second,
 * because each delivery writes to disk; other events wait until ten seconds have passed since the
 * last delivery. A sheet that could not be delivered is kept; if only the answer was lost, its
 * counts are counted twice.
 */
import { env, waitUntil } from 'cloudflare:workers';
import { systemClock } from '../isolate/clock.ts';
import { onForget } from '../isolate/recent.ts';
import {
  CATALOGUE,
  type CounterName,
  type FamilyName,
  type HistogramName,
  type LabelsOf,
} from './catalogue.ts';
import { type Counts, CountSheet } from './series.ts';
import { tallyOf } from '../objects.ts';
import type { Http } from '../outgoing/http-client.ts';

const DELIVERY_INTERVAL_MS = 10_000;
const RARE_INTERVAL_MS = 1_000;

/** The one binding that is needed: the type of all would depend on nearly every file. */
interface TallyBinding {
  readonly TALLY: DurableObjectNamespace<Rpc.DurableObjectBranded & { add(counts: Counts): Counts }>;
}

const sheet = new CountSheet();
let deliveredAt = -Infinity;
/** When the sheet will be sent next; in the past if nothing is planned. */
let plannedAt = -Infinity;

onForget(() => {
  sheet.clear();
  deliveredAt = plannedAt = -Infinity;
});

export function count<N extends CounterName>(name: N, labels: LabelsOf<N>): void {
  sheet.increment(name, labels);
  deliverIfDue(name);
}

/** @param seconds measured by the platform's clock, which advances only while the service waits. */
export function observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void {
  sheet.observe(name, labels, seconds);
  deliverIfDue(name);
}

function deliverIfDue(name: FamilyName): void {
  const now = Date.now();
  // The delivery that is planned takes this count along.
  if (now <= plannedAt) return;
  const sinceLastMs = now - deliveredAt;
  if (!('isRare' in CATALOGUE[name]) && sinceLastMs < DELIVERY_INTERVAL_MS) return;
  const pauseMs = Math.min(RARE_INTERVAL_MS, Math.max(0, RARE_INTERVAL_MS - sinceLastMs));
  plannedAt = now + pauseMs;
  waitUntil(deliverIn(pauseMs));
}

async function deliverIn(pauseMs: number): Promise<void> {
  // Even without a pause, waiting once lets counts of the same moment go along.
  await (pauseMs === 0 ? Promise.resolve() : systemClock.sleep(pauseMs));
  plannedAt = -Infinity;
  deliveredAt = Date.now();
  // A failure is not logged, because the counts are kept and sent with the next ones.
  if (!sheet.isEmpty) await allCounts().catch(() => {});
}

/**
 * Sends the sheet, and gives the counts of the whole service. Rejects if the Tally object cannot be
 * reached.
 */
export async function allCounts(): Promise<Counts> {
  const counts = sheet.counts();
  sheet.clear();
  try {
    return await tallyOf(env as unknown as TallyBinding).add(counts);
  } catch (error) {
    sheet.addAll(counts);
    throw error;
  }
}

/** Makes a `fetch` that counts requests and their statuses. */
export function countedFetch(service: 'rest' | 'git' | 'notifications', http: Http): Http['fetch'] {
  return async (input, init) => {
    let status = 'none';
    try {
      const response = await http.fetch(input, init);
      status = String(response.status);
      return response;
    } finally {
      count('gitveil_outgoing_requests_total', { service, status });
    }
  };
}
