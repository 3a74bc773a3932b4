/**
 * Counting, wherever in the service something happens: `count` and `observe` write on this isolate's sheet, and the sheet
 * goes to the one Tally object, where those of all isolates are added up.
 *
 * It goes at once when something rare was counted, but not twice within a second, and else with the first count after ten
 * seconds. So a busy isolate sends a small message a second, and what may be lost with an isolate is the traffic of its
 * last seconds. A sheet that could not be delivered is kept; if it was, and only the answer was lost, its counts count
 * twice.
 */
import { env, waitUntil } from 'cloudflare:workers';
import { systemClock } from '../clock.ts';
import type { Env } from '../env.ts';
import {
  CATALOGUE,
  type CounterName,
  type Family,
  type FamilyName,
  type HistogramName,
  type LabelsOf,
} from './catalogue.ts';
import { type Counts, CountSheet } from './series.ts';

const DELIVERY_INTERVAL_MS = 10_000;
/** Each delivery is a write to the disk: what is rare may come in crowds. */
const RARE_INTERVAL_MS = 1_000;

const sheet = new CountSheet();
let deliveredAt = Number.NEGATIVE_INFINITY;
/** When the sheet goes next, while that is planned. */
let plannedAt = Number.NEGATIVE_INFINITY;

export function count<N extends CounterName>(name: N, labels: LabelsOf<N>): void {
  sheet.increment(name, labels);
  deliverIfDue(name);
}

/** @param seconds how long it took. The platform's clock moves only while the service waits for something. */
export function observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void {
  sheet.observe(name, labels, seconds);
  deliverIfDue(name);
}

/** The counts of the whole service, this isolate's last ones included. Rejects if they cannot be had. */
export function allCounts(): Promise<Counts> {
  return deliver();
}

function deliverIfDue(name: FamilyName): void {
  const now = Date.now();
  // What is counted before it goes along.
  if (now <= plannedAt) return;
  const { isRare = false }: Family = CATALOGUE[name];
  const sinceLastMs = now - deliveredAt;
  if (!isRare && sinceLastMs < DELIVERY_INTERVAL_MS) return;
  const pauseMs = Math.min(RARE_INTERVAL_MS, Math.max(0, RARE_INTERVAL_MS - sinceLastMs));
  plannedAt = now + pauseMs;
  waitUntil(deliverIn(pauseMs));
}

async function deliverIn(pauseMs: number): Promise<void> {
  // What is counted in the same moment goes along.
  await (pauseMs === 0 ? Promise.resolve() : systemClock.sleep(pauseMs));
  plannedAt = Number.NEGATIVE_INFINITY;
  deliveredAt = Date.now();
  // Not worth a line in the log: the counts are kept, and go with the next ones.
  if (!sheet.isEmpty) await deliver().catch(() => {});
}

async function deliver(): Promise<Counts> {
  const counts = sheet.counts();
  sheet.clear();
  const { TALLY } = env as unknown as Pick<Env, 'TALLY'>;
  try {
    return await TALLY.get(TALLY.idFromName('tally')).add(counts);
  } catch (error) {
    sheet.addAll(counts);
    throw error;
  }
}
