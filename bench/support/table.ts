/** Writes the table for people. */
import type { Row } from './figures.ts';

const HEAD = ['', 'value', 'reference', 'ratio', 'goal', ''];

export function table(rows: readonly Row[]): string {
  const cells = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((line) => (line[column] as string).length)));
  const lines = cells.map((line) =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] as number) : cell.padStart(widths[column] as number),
      )
      .join('  ')
      .trimEnd(),
  );
  return [
    ...lines,
    ...rows.filter(({ note }) => note !== '').map(({ name, note }) => `${name}: ${note}`),
  ].join('\n');
}

function cellsOf({ name, value, reference, ratio, goal, ok, unit }: Row): string[] {
  return [
    name,
    `${figure(value)} ${unit}`,
    `${figure(reference)} ${unit}`,
    figure(ratio),
    goal === null ? '' : `≤ ${goal}`,
    goal === null ? '' : ok ? 'ok' : 'MISSED',
  ];
}

/** Writes a number with three significant digits. */
function figure(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
