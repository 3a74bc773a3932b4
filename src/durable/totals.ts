/** Adds up what all isolates count (src/metrics/tally.ts), and keeps the snapshot of it that everybody may see. */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import { type Counts, CountSheet } from '../metrics/series.ts';
import { isCurrent, type Snapshot } from '../metrics/snapshot.ts';

const KEY = 'totals';
const SNAPSHOT_KEY = 'snapshot';

export class Tally extends DurableObject<Env> {
  /** One write for all series. There are some hundred, because labels come from fixed sets. */
  add(counts: Counts): Counts {
    const totals = new CountSheet();
    totals.addAll(this.ctx.storage.kv.get<Counts>(KEY) ?? {});
    totals.addAll(counts);
    const sums = totals.counts();
    if (Object.keys(counts).length > 0) this.ctx.storage.kv.put(KEY, sums);
    return sums;
  }

  /** Null if it is time for a new one. */
  snapshot(now: number): Snapshot | null {
    const kept = this.ctx.storage.kv.get<Snapshot>(SNAPSHOT_KEY);
    return kept !== undefined && isCurrent(kept, now) ? kept : null;
  }

  /** Answers the one to show: of several that are taken at once, the first. */
  keep(taken: Snapshot): Snapshot {
    const kept = this.snapshot(taken.takenAt);
    if (kept !== null) return kept;
    this.ctx.storage.kv.put(SNAPSHOT_KEY, taken);
    return taken;
  }
}
