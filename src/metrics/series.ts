/**
 * Counts as plain data: a series, spelled as Prometheus does (`name{label="value"}`), and its value. Sums of such
 * records are sums of their series, so that records of many isolates become one. Of a histogram, only the smallest
 * bucket that a value fits into is counted: a request costs three additions. Pure.
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

/** The labels of a series, without the braces, in the family's order. */
export function labelText(
  { labels: names }: Pick<Family, 'labels'>,
  labels: Readonly<Record<string, string>>,
): string {
  let text = '';
  for (const name of names) text += `${text === '' ? '' : ','}${name}="${escaped(labels[name] ?? '')}"`;
  return text;
}

function escaped(value: string): string {
  if (!/[\\"\n]/.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
