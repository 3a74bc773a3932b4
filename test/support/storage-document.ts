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

/** Its headings and items: what it is, its name, and in brackets the columns of a table. */
const HEADING_OR_ITEM = /^(?:##+ (\w+)|- (table|view|key) `([^`]+)`(?: \(([^)]*)\))?:.*)$/gm;

export function documented(): Stored[] {
  const items: Stored[] = [];
  let place = '';
  for (const [, heading, kind, name = '', columns] of inject('storageDocument').matchAll(HEADING_OR_ITEM)) {
    place = heading ?? place;
    if (kind === undefined) continue;
    items.push({ place, kind: kind as Stored['kind'], name, columns: columns?.match(/\w+/g) ?? [] });
  }
  return items;
}

/** Says what to write into the document, a sentence for each. */
export function lacksOf(stored: readonly Stored[], items: readonly Stored[]): string[] {
  const lacks = stored.flatMap((found) => {
    const { place, kind, name, columns } = found;
    const item = items.find((one) => isItemOf(one, found));
    const what = `docs/storage.md, section ${place}: the ${kind} \`${name}\``;
    if (item === undefined) return `${what} has no item. Add one that says what it holds, and when it goes.`;
    const list = columns.map((column) => `\`${column}\``).join(', ');
    return item.columns.join() === columns.join() ? [] : `${what} has these columns: ${list}.`;
  });
  return [...new Set(lacks)];
}

/**
 * Patterns that `<x>` in the name of a key stands for. Any other x stands for a word: tests call a
 * client `a`.
 */
const FORMS: Readonly<Record<string, string>> = {
  push: '[0-9a-f]{64}',
  action: [...OPEN_LIMIT_NAMES, ...Object.keys(FIXED_TRIES)].join('|'),
};

function isItemOf(item: Stored, { place, kind, name }: Stored): boolean {
  if (item.place !== place || item.kind !== kind) return false;
  const form = item.name
    .split(/<([^>]+)>/)
    .map((part, index) =>
      index % 2 === 0 ? part.replaceAll(/\W/g, String.raw`\$&`) : `(?:${FORMS[part] ?? String.raw`\S+`})`,
    );
  return new RegExp(`^${form.join('')}$`).test(name);
}
