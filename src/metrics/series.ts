/**
 * Counts as plain data: a series, spelled as Prometheus does (`name{label="value"}`), and its value. Sums of such records
 * are sums of their series, so that records of many isolates become one. Pure.
 */
import { CATALOGUE, type CounterName, type Family, type HistogramName, type LabelsOf } from './catalogue.ts';

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
    for (const bound of family.buckets ?? []) {
      // Each bucket counts what the smaller ones count, too: so the format wants it.
      this.#add(`${name}_bucket{${text},le="${bound}"}`, value <= bound ? 1 : 0);
    }
    this.#add(`${name}_bucket{${text},le="+Inf"}`, 1);
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

function labelText(family: Family, labels: Readonly<Record<string, string>>): string {
  return family.labels.map((label) => `${label}="${escaped(labels[label] ?? '')}"`).join(',');
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
