/**
 * What everybody may see of the metrics: a snapshot of the whole service that changes at most every 15 minutes. Live
 * figures would show each push, preview and refusal to whoever asks every second, and how long it took.
 */
import { isWithin } from '../limits/sliding-window.ts';
import { CATALOGUE, type Family } from './catalogue.ts';
import type { GaugeValue } from './exposition.ts';
import type { IsolateFigures } from './isolate.ts';
import type { Counts } from './series.ts';

/** The counts and gauges of the whole service, and the figures of the isolate that answers. */
export interface Figures {
  readonly counts: Counts;
  readonly gauges: readonly GaugeValue[];
  readonly isolate: IsolateFigures;
}

export interface Snapshot {
  /** Milliseconds since 1970. */
  readonly takenAt: number;
  readonly figures: Figures;
}

const LIFETIME_MS = 15 * 60 * 1000;

/** Whether it is still the one to show, also to an isolate whose clock is a little behind. */
export function isCurrent({ takenAt }: Snapshot, now: number): boolean {
  return isWithin(takenAt, LIFETIME_MS, now);
}

/** Without durations, and without counts by route. */
export function publicCounts(counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).filter(([series]) => isPublic(series)));
}

function isPublic(series: string): boolean {
  const families: Readonly<Record<string, Family>> = CATALOGUE;
  const family = families[series.slice(0, series.indexOf('{'))];
  return family?.type === 'counter' && !family.labels.includes('route');
}
