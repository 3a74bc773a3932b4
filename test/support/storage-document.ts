/** docs/storage.md, and what it lacks of what is stored. */
import { inject } from 'vitest';
import { FIXED_TRIES, OPEN_LIMIT_NAMES } from '../../src/limits/limits.ts';
import type { Stored } from './stored.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The text of docs/storage.md. */
    storageDocument: string;
  }
}

/** The rows of its tables: in the first cell what it is, in the second its columns in backticks. */
export function documented(): Stored[] {
  const rows: Stored[] = [];
  let place = '';
  for (const line of inject('storageDocument').split('\n')) {
    place = /^##+ (\w+)$/.exec(line)?.[1] ?? place;
    const [, kind, name = '', content = ''] = /^\| (table|view|key) `([^`]+)` *\|([^|]*)\|/.exec(line) ?? [];
    if (kind === undefined) continue;
    const columns = kind === 'key' ? [] : (content.match(/[^`]+(?=`(?:,|\s*$))/g) ?? []);
    rows.push({ place, kind: kind as Stored['kind'], name, columns });
  }
  return rows;
}

/** What to write into the document, a sentence for each. */
export function lacksOf(stored: readonly Stored[], rows: readonly Stored[]): string[] {
  const lacks = stored.flatMap((found) => {
    const { place, kind, name, columns } = found;
    const row = rows.find((one) => isRowOf(one, found));
    const what = `docs/storage.md, section ${place}: the ${kind} \`${name}\``;
    if (row === undefined)
      return `${what} has no row. Add one that says who writes it, when it goes, and what a thief reads in it.`;
    const list = columns.map((column) => `\`${column}\``).join(', ');
    return row.columns.join() === columns.join() ? [] : `${what} has these columns: ${list}.`;
  });
  return [...new Set(lacks)];
}

/** What `<x>` in the name of a key stands for. Of any other x, for a word: tests call a client `a`. */
const FORMS: Readonly<Record<string, string>> = {
  push: '[0-9a-f]{64}',
  action: [...OPEN_LIMIT_NAMES, ...Object.keys(FIXED_TRIES)].join('|'),
};

function isRowOf(row: Stored, { place, kind, name }: Stored): boolean {
  if (row.place !== place || row.kind !== kind) return false;
  const form = row.name
    .split(/<([^>]+)>/)
    .map((part, index) =>
      index % 2 === 0 ? part.replaceAll(/\W/g, String.raw`\$&`) : `(?:${FORMS[part] ?? String.raw`\S+`})`,
    );
  return new RegExp(`^${form.join('')}$`).test(name);
}
