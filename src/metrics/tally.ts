/**
 * Counting for the whole service: `count` and `observe` add to this isolate's sheet, and the one
 * Tally object adds them up. Rare events send it at once, but at most once a second, because a
 * delivery writes to disk; others ten seconds after the last time. A sheet that is not delivered is
 * kept; if only the answer was lost, its counts count twice.
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

/** What is used of the bindings: their type names every object, and so nearly every file. */
interface TallyBinding {
  readonly TALLY: DurableObjectNamespace<Rpc.DurableObjectBranded & { add(counts: Counts): Counts }>;
}

const sheet = new CountSheet();
let deliveredAt = -Infinity;
/** When the sheet will be sent next, if that is planned. */
let plannedAt = -Infinity;

onForget(() => {
  sheet.clear();
  deliveredAt = plannedAt = -Infinity;
});

export function count<N extends CounterName>(name: N, labels: LabelsOf<N>): void {
  sheet.increment(name, labels);
  deliverIfDue(name);
}

/**
 * @param seconds how long it took. The platform's clock advances only while the service waits for
 * something.
 */
export function observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void {
  sheet.observe(name, labels, seconds);
  deliverIfDue(name);
}

function deliverIfDue(name: FamilyName): void {
  const now = Date.now();
  // Later counts of this moment are sent along.
  if (now <= plannedAt) return;
  const sinceLastMs = now - deliveredAt;
  if (!('isRare' in CATALOGUE[name]) && sinceLastMs < DELIVERY_INTERVAL_MS) return;
  const pauseMs = Math.min(RARE_INTERVAL_MS, Math.max(0, RARE_INTERVAL_MS - sinceLastMs));
  plannedAt = now + pauseMs;
  waitUntil(deliverIn(pauseMs));
}

async function deliverIn(pauseMs: number): Promise<void> {
  // Counts of the same moment are sent along.
  await (pauseMs === 0 ? Promise.resolve() : systemClock.sleep(pauseMs));
  plannedAt = -Infinity;
  deliveredAt = Date.now();
  // Not logged: the counts are kept and sent with the next ones.
  if (!sheet.isEmpty) await allCounts().catch(() => {});
}

/**
 * Sends the sheet. Answers the counts of the whole service; rejects if the Tally object cannot be
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

/** @param service one of the code host's two interfaces, or the notification service. */
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
