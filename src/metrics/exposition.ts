/**
 * The text formats that monitoring systems read: Prometheus' own (0.0.4) and OpenMetrics 1.0, which differ in the names
 * of counters' families and in the end mark. Pure.
 */
import { CATALOGUE, type Family } from './catalogue.ts';
import type { IsolateFigures } from './isolate.ts';
import type { Counts } from './series.ts';

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
export const OPENMETRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

interface Format {
  readonly isOpenMetrics: boolean;
}

/** @param counts of the whole service; `isolate` of the one isolate that answers. */
export function expose(counts: Counts, isolate: IsolateFigures, format: Format): string {
  const series = Object.entries(counts).toSorted(([a], [b]) => bySeries(a, b));
  const lines = Object.entries(CATALOGUE).flatMap(([name, family]) =>
    head(name, family, format).concat(
      series.filter(([key]) => isOf(name, family, key)).map(([key, value]) => `${key} ${value}`),
    ),
  );
  const end = format.isOpenMetrics ? ['# EOF'] : [];
  return [...lines, ...isolateLines(isolate, format), ...end, ''].join('\n');
}

function isolateLines(figures: IsolateFigures, format: Format): string[] {
  const gauge = (name: string, help: string, value: number): string[] => [
    ...head(name, { type: 'gauge', help }, format),
    `${name} ${value}`,
  ];
  return [
    ...gauge('gitveil_isolate_uptime_seconds', `Since the first request. ${ONE}`, figures.uptimeMs / 1000),
    ...gauge(
      'gitveil_isolate_requests_in_flight',
      `Requests being answered. ${ONE}`,
      figures.requestsInFlight,
    ),
    ...gauge(
      'gitveil_isolate_buffered_bytes',
      `Buffers of bodies not yet freed. ${ONE}`,
      figures.bufferedBytes,
    ),
    ...gauge(
      'gitveil_isolate_memory_limit_bytes',
      `What the platform allows. ${ONE}`,
      figures.memoryLimitBytes,
    ),
    ...head(
      'gitveil_isolate_collections_total',
      { type: 'counter', help: `Garbage collections noticed. ${ONE}` },
      format,
    ),
    `gitveil_isolate_collections_total ${figures.collections}`,
  ];
}

const ONE = 'Of the isolate that answers.';

function head(
  name: string,
  { type, help }: { type: string; help: string },
  { isOpenMetrics }: Format,
): string[] {
  const family = isOpenMetrics && type === 'counter' ? name.replace(/_total$/, '') : name;
  return [`# HELP ${family} ${help}`, `# TYPE ${family} ${type}`];
}

function isOf(name: string, { type }: Family, series: string): boolean {
  const [seriesName = ''] = series.split('{', 1);
  return type === 'counter'
    ? seriesName === name
    : [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(seriesName);
}

/** Buckets of one histogram in rising order, which is how they were first counted: numbers, not texts, are compared. */
function bySeries(a: string, b: string): number {
  const [left, right] = [withoutBound(a), withoutBound(b)];
  if (left.text !== right.text) return left.text < right.text ? -1 : 1;
  return left.bound - right.bound;
}

function withoutBound(series: string): { text: string; bound: number } {
  const [match, bound = ''] = /,le="([^"]+)"/.exec(series) ?? [];
  if (match === undefined) return { text: series, bound: 0 };
  return { text: series.replace(match, ''), bound: bound === '+Inf' ? Infinity : Number(bound) };
}
