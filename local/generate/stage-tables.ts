/**
 * The section "Stages" of docs/storage.md, from the tables that the code asks.
 * Proved by test/local/documents.test.ts.
 */
import { DELAYED_STAGES } from '../../src/durable/delayed-pushes/stages.ts';
import { MODERATION_STAGES } from '../../src/durable/identity/stages.ts';
import { PULL_REQUEST_STAGES } from '../../src/durable/pull-request/stages.ts';
import type { StageTable } from '../../src/durable/stages.ts';

type Table = StageTable<string, string>;

const TABLES: Readonly<Record<string, Table>> = {
  'A delayed push': DELAYED_STAGES,
  'A pull request': PULL_REQUEST_STAGES,
  'A pseudonym': MODERATION_STAGES,
};

const SECTION = /(?<=^<!-- stages -->\n).*?(?=^<!-- end of stages -->$)/ms;

/** @param document with the two marks, between which the tables stand */
export function withStageTables(document: string): string {
  const sections = Object.entries(TABLES).map(([what, table]) => sectionOf(what, table));
  return document.replace(SECTION, () => `\n${sections.join('\n')}\n`);
}

function sectionOf(what: string, { first, stages }: Table): string {
  const names = Object.keys(stages);
  const ends = names.filter((name) => rowsOf(name, stages[name]).length === 0);
  const begins = `${what} begins as ${codes(first, ' or ')}.`;
  const finals = ends.length === 0 ? '' : ` Final: ${codes(ends)}.`;
  const meanings = names.map((name) => `- ${code(name)}: ${stages[name]?.means ?? ''}.`);
  const rows = names.flatMap((name) => rowsOf(name, stages[name]));
  return [`${begins}${finals}`, '', ...meanings, '', ...tableOf(['Stage', 'Event', 'Next'], rows), ''].join(
    '\n',
  );
}

/** A row for all events that lead to the same stages. */
function rowsOf(name: string, stage: Table['stages'][string] | undefined): string[][] {
  const moves = Object.entries(stage?.next ?? {});
  const byNext = Map.groupBy(moves, ([, next]) => codes(next ?? [], ' or '));
  return [...byNext].map(([next, alike]) => [code(name), alike.map(([event]) => event).join(', '), next]);
}

/** As Prettier has it. */
function tableOf(head: readonly string[], rows: readonly string[][]): string[] {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}

const code = (name: string): string => `\`${name}\``;
const codes = (names: readonly string[], between = ', '): string => names.map(code).join(between);
