/** The text format of Prometheus (0.0.4), which monitoring systems read. Pure. */
import { CATALOGUE, type Family, type Gauge, type GaugeName, GAUGES } from './catalogue.ts';
import type { IsolateFigures } from './isolate.ts';
import { type Counts, labelText } from './series.ts';

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface GaugeValue {
  readonly name: GaugeName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** @param counts and `gauges` of the whole service; `isolate` of the one isolate that answers. */
export function expose(counts: Counts, gauges: readonly GaugeValue[], isolate: IsolateFigures): string {
  const lines = Object.entries(CATALOGUE).flatMap(([name, family]) =>
    head(name, family).concat(
      family.type === 'counter' ? counterLines(name, counts) : histogramLines(name, family, counts),
    ),
  );
  return [...lines, ...gaugeLines(gauges), ...isolateLines(isolate), ''].join('\n');
}

function gaugeLines(gauges: readonly GaugeValue[]): string[] {
  return Object.entries<Gauge>(GAUGES).flatMap(([name, gauge]) =>
    head(name, { type: 'gauge', help: gauge.help }).concat(
      gauges
        .filter((value) => value.name === name)
        .map(({ labels, value }) => `${name}{${labelText(gauge, labels)}} ${value}`),
    ),
  );
}

function counterLines(name: string, counts: Counts): string[] {
  return labelTexts(name, counts).map((text) => `${name}{${text}} ${counts[`${name}{${text}}`]}`);
}

/** Each bucket holds what the smaller ones hold, too: so the format wants it. */
function histogramLines(name: string, { buckets = [] }: Family, counts: Counts): string[] {
  return labelTexts(`${name}_count`, counts).flatMap((text) => {
    let held = 0;
    const lines = [...buckets, '+Inf'].map((bound) => {
      const series = `${name}_bucket{${text},le="${bound}"}`;
      held += counts[series] ?? 0;
      return `${series} ${held}`;
    });
    return lines.concat(
      ['sum', 'count'].map((part) => `${name}_${part}{${text}} ${counts[`${name}_${part}{${text}}`]}`),
    );
  });
}

/** The labels of a series, without the braces. */
function labelTexts(name: string, counts: Counts): string[] {
  return Object.keys(counts)
    .filter((series) => series.startsWith(`${name}{`))
    .map((series) => series.slice(name.length + 1, -1))
    .toSorted();
}

/** Of the one isolate that answers. */
const ISOLATE: readonly (readonly [
  name: string,
  type: string,
  help: string,
  (of: IsolateFigures) => number,
])[] = [
  ['uptime_seconds', 'gauge', 'Since the first request.', ({ uptimeMs }) => uptimeMs / 1000],
  ['requests_in_flight', 'gauge', 'Requests being answered.', (of) => of.requestsInFlight],
  ['buffered_bytes', 'gauge', 'Buffers of bodies not yet freed.', (of) => of.bufferedBytes],
  ['memory_limit_bytes', 'gauge', 'What the platform allows.', (of) => of.memoryLimitBytes],
  ['collections_total', 'counter', 'Garbage collections noticed.', (of) => of.collections],
];

function isolateLines(figures: IsolateFigures): string[] {
  return ISOLATE.flatMap(([part, type, help, valueOf]) => {
    const name = `gitveil_isolate_${part}`;
    return head(name, { type, help: `${help} Of the isolate that answers.` }).concat(
      `${name} ${valueOf(figures)}`,
    );
  });
}

function head(name: string, { type, help }: { type: string; help: string }): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}
