/**
 * Counts as plain data: series, spelled as in Prometheus (`name{label="value"}`), with their
 * values, so that those of several isolates can be added. For a histogram, only the smallest bucket
 * that fits is counted; `expose` makes the sums that Prometheus expects. Pure.
 */
import {
  CATALOGUE,
  type CounterName,
  type Family,
  type Gauge,
  type GaugeName,
  GAUGES,
  type HistogramName,
  type LabelsOf,
} from './catalogue.ts';
import type { IsolateFigures } from './isolate.ts';

export type Counts = Readonly<Record<string, number>>;

export class CountSheet {
  readonly #values = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  increment<N extends CounterName>(name: N, labels: LabelsOf<N>): void {
    this.#add(`${name}{${labelText(CATALOGUE[name], labels)}}`, 1);
  }

  /** @param value in the unit of the histogram's name. */
  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, value: number): void {
    const family: Family = CATALOGUE[name];
    const text = labelText(family, labels);
    const bound = family.buckets?.find((most) => value <= most) ?? '+Inf';
    this.#add(`${name}_bucket{${text},le="${bound}"}`, 1);
    this.#add(`${name}_sum{${text}}`, value);
    this.#add(`${name}_count{${text}}`, 1);
  }

  addAll(counts: Counts): void {
    for (const [series, value] of Object.entries(counts)) this.#add(series, value);
  }

  counts(): Counts {
    return Object.fromEntries(this.#values);
  }

  clear(): void {
    this.#values.clear();
  }

  #add(series: string, value: number): void {
    this.#values.set(series, (this.#values.get(series) ?? 0) + value);
  }
}

/** Writes the labels of a series, without the braces, in the family's order. */
function labelText({ labels: names }: Gauge, labels: Readonly<Record<string, string>>): string {
  return names.map((name) => `${name}="${escaped(labels[name] ?? '')}"`).join(',');
}

function escaped(value: string): string {
  if (!/[\\"\n]/.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

export interface GaugeValue {
  readonly name: GaugeName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Writes the text format of Prometheus, 0.0.4.
 * @param counts those of the whole service, like `gauges`.
 */
export function expose(counts: Counts, gauges: readonly GaugeValue[], isolate: IsolateFigures): string {
  const lines: string[] = [];
  for (const [name, family] of Object.entries<Family>(CATALOGUE)) {
    const own = family.type === 'counter' ? counterLines(name, counts) : histogramLines(name, family, counts);
    lines.push(...head(name, family.type, family.help), ...own);
  }
  for (const [name, gauge] of Object.entries<Gauge>(GAUGES)) {
    const own = gauges.filter((value) => value.name === name);
    const ownLines = own.map(({ labels, value }) => `${name}{${labelText(gauge, labels)}} ${value}`);
    lines.push(...head(name, 'gauge', gauge.help), ...ownLines);
  }
  return [...lines, ...isolateLines(isolate), ''].join('\n');
}

function counterLines(name: string, counts: Counts): string[] {
  return labelTexts(name, counts).map((text) => `${name}{${text}} ${counts[`${name}{${text}}`]}`);
}

/** Adds the smaller buckets to each, as the format demands. */
function histogramLines(name: string, { buckets = [] }: Family, counts: Counts): string[] {
  return labelTexts(`${name}_count`, counts).flatMap((text) => {
    let held = 0;
    const lines = [...buckets, '+Inf'].map((bound) => {
      const series = `${name}_bucket{${text},le="${bound}"}`;
      held += counts[series] ?? 0;
      return `${series} ${held}`;
    });
    const [sum, count] = [`${name}_sum{${text}}`, `${name}_count{${text}}`];
    return lines.concat(`${sum} ${counts[sum]}`, `${count} ${counts[count]}`);
  });
}

function labelTexts(name: string, counts: Counts): string[] {
  return Object.keys(counts)
    .filter((series) => series.startsWith(`${name}{`))
    .map((series) => series.slice(name.length + 1, -1))
    .toSorted();
}

/** Writes the figures of the isolate that answers. */
function isolateLines(of: IsolateFigures): string[] {
  const all = [
    ['uptime_seconds', 'gauge', 'Since the first request.', of.uptimeMs / 1000],
    ['requests_in_flight', 'gauge', 'Requests being answered.', of.requestsInFlight],
    ['buffered_bytes', 'gauge', 'Buffers of bodies not yet freed.', of.bufferedBytes],
    ['memory_limit_bytes', 'gauge', 'What the platform allows.', of.memoryLimitBytes],
    ['collections_total', 'counter', 'Garbage collections noticed.', of.collections],
  ] as const;
  return all.flatMap(([part, type, help, value]) => {
    const name = `gitveil_isolate_${part}`;
    return head(name, type, `${help} Of the isolate that answers.`).concat(`${name} ${value}`);
  });
}

function head(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}
