/**
 * Adds up what all isolates count (src/metrics/tally.ts).
 * Proved by test/metrics/tally.test.ts.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import { type Counts, CountSheet } from '../metrics/series.ts';

const KEY = 'totals';

export class Tally extends DurableObject<Env> {
  /** Adds counts in one write: there are some hundred series, because labels are fixed. */
  add(counts: Counts): Counts {
    const totals = new CountSheet();
    totals.addAll(this.ctx.storage.kv.get<Counts>(KEY) ?? {});
    totals.addAll(counts);
    const sums = totals.counts();
    if (Object.keys(counts).length > 0) this.ctx.storage.kv.put(KEY, sums);
    return sums;
  }
}
