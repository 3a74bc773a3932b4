/**
 * Remarks for the person before a push is published, and how lines are shown. No remark refuses a push, because all of it
 * may be wanted.
 */
import { isLeftover } from '../../../files/leftovers.ts';
import { homeFoldersIn } from '../../../git/search/home-folders.ts';
import type { PackFindings } from '../../../git/search/pack-search.ts';

/** The search of texts ends after so many paths: each is kept, and a message can hold a hundred thousand. */
const MAX_FOUND = 1_000;
export const MAX_SHOWN_LENGTH = 120;
/** More lines are counted, not shown. */
const MAX_SHOWN = 10;
const REMOVE =
  'To remove it from a file: "exiftool -all= <file>", or "mat2 --inplace <file>", which also reads documents.';

type Remarkable = Pick<PackFindings, 'homeFolders' | 'files' | 'opaque'>;

/** @param texts that become public besides files, by what they are called. */
export function remarksOn(
  texts: Iterable<readonly [where: string, text: string]>,
  found: Remarkable,
): string[] {
  const homes = new Set<string>();
  for (const line of homesIn(texts, found)) if (homes.add(line).size === MAX_FOUND) break;
  const { files, opaque } = found;
  const telling = opaque.filter(({ tells }) => tells.length > 0);
  return [
    ...told('Paths of home folders become public. Check whether they name you:', [...homes].map(shown)),
    ...told(
      'Files of an editor, a system or one machine become public:',
      (files ?? []).filter(isLeftover).map(shown),
    ),
    ...told('These pictures say more than they show:', telling.map(described)),
    ...told(
      'The service cannot search inside these files for names:',
      opaque.filter((file) => !telling.includes(file)).map(described),
    ),
    ...(opaque.length === 0 ? [] : [REMOVE]),
  ];
}

function described({ path, kind, tells }: Remarkable['opaque'][number]): string {
  const name = path === null ? kind : `${shown(path)} (${kind})`;
  return tells.length === 0 ? name : shown(`${name}: ${tells.join('; ')}`);
}

function* homesIn(
  texts: Iterable<readonly [where: string, text: string]>,
  { homeFolders }: Remarkable,
): Generator<string> {
  for (const path of homeFolders) yield `a changed file: ${path}`;
  for (const [where, text] of texts) for (const path of homeFoldersIn(text)) yield `${where}: ${path}`;
}

/** What someone has written, so that it fits on one line of a terminal. */
export function shown(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line;
}

/** The first lines under a heading; nothing if there are none. */
export function told(heading: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MAX_SHOWN ? [`  and ${lines.length - MAX_SHOWN} more`] : [];
  return [heading, ...lines.slice(0, MAX_SHOWN).map((line) => `  ${line}`), ...more];
}

/** `a, b and 7 more`. */
export function listed(words: readonly string[]): string {
  const few = words.slice(0, MAX_SHOWN);
  if (words.length > few.length) few.push(`${words.length - few.length} more`);
  return few.length === 1 ? few.join() : `${few.slice(0, -1).join(', ')} and ${few.at(-1)}`;
}
