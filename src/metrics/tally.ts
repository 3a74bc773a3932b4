/**
 * Counting, wherever in the service something happens: `count` and `observe` write on this isolate's sheet, and the sheet
 * goes to the one Tally object, where those of all isolates are added up.
 *
 * It goes at once when something rare was counted, and else with the first count after ten seconds. So a busy isolate
 * sends six small messages a minute, and what may be lost with an isolate is the traffic of its last seconds. A sheet
 * that could not be delivered is kept; if it was, and only the answer was lost, its counts count twice.
 */
import { env, waitUntil } from 'cloudflare:workers';
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

const sheet = new CountSheet();
let deliveredAt = Number.NEGATIVE_INFINITY;

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
  const { isRare = false }: Family = CATALOGUE[name];
  if (!isRare && Date.now() - deliveredAt < DELIVERY_INTERVAL_MS) return;
  deliveredAt = Date.now();
  waitUntil(deliverSoon());
}

async function deliverSoon(): Promise<void> {
  // What is counted in the same moment goes along.
  await Promise.resolve();
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
