/**
 * Compares texts by lines, and turns a file into the text that a browser shows and back without
 * loss. A text field sends CR LF for each line end, so an untouched line gets back its own end, and
 * a new line that of the line before it. A byte order mark stays, and so does a missing end of the
 * last line.
 */
import { diffArrays } from 'diff';
import { decodeUtf8, utf8 } from '../git/bytes.ts';

/** Maximum size of a file that can be changed in a browser. */
export const MAX_FILE_BYTES = 1024 * 1024;
/**
 * Maximum number of lines. Each costs a hundred bytes while texts are compared. Usual files within
 * the size limit have far fewer.
 */
export const MAX_LINES = 100_000;

const BOM = '\ufeff';

interface Line {
  readonly text: string;
  /** The line end, `\n`, `\r\n` or `\r`. It is empty if the file ends without one. */
  readonly end: string;
}

type FileText =
  /**
   * The text for a text field: without a byte order mark, and with a line feed for every line end.
   */
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'unfit'; readonly problem: string };

const unfit = (problem: string): FileText => ({ kind: 'unfit', problem: `${problem}. Change it with Git.` });

/**
 * Turns a file into a text for a text field.
 * @param content is null if it is larger than MAX_FILE_BYTES.
 */
export function fileText(content: Uint8Array | null): FileText {
  if (content === null || content.byteLength > MAX_FILE_BYTES) return unfit('This file is larger than 1 MB');
  if (content.includes(0)) return unfit('This file is not text: it contains NUL bytes');
  const text = decodeUtf8(content);
  if (text === null) return unfit('This file is not text in UTF-8');
  const shown = withoutBom(text).replaceAll(/\r\n?/g, '\n');
  const lineEnds = shown.split('\n', MAX_LINES + 2).length - 1;
  if (lineEnds > MAX_LINES) return unfit(`This file has more than ${MAX_LINES.toLocaleString('en')} lines`);
  return { kind: 'text', text: shown };
}

/** Splits a text into lines, each with its end. The last line counts only if it is not empty. */
export function splitLines(text: string): Line[] {
  return Array.from(text.matchAll(/([^\r\n]*)(\r\n|\n|\r)|([^\r\n]+)$/g), (match) =>
    match[3] === undefined ? { text: match[1] ?? '', end: match[2] ?? '' } : { text: match[3], end: '' },
  );
}

/**
 * Makes the new content of a file.
 * @param original is the old content, which `fileText` could read, or null for a new file.
 * @param typed is the text as the browser has sent it.
 * @param files the number of files that are compared for one request.
 */
export function newContent(original: Uint8Array | null, typed: string, files = 1): Uint8Array {
  const old = original === null ? '' : (decodeUtf8(original) ?? '');
  const oldLines = splitLines(withoutBom(old));
  const usual = oldLines[0]?.end || '\n';
  const lines = withLineEnds(oldLines, splitLines(typed), usual, mostChanges(files));
  const last = lines.at(-1);
  const hadEnd = oldLines.at(-1)?.end !== '';
  if (last !== undefined) lines[lines.length - 1] = { ...last, end: hadEnd ? last.end || usual : '' };
  const text = lines.map((line) => line.text + line.end).join('');
  return utf8((old.startsWith(BOM) ? BOM : '') + text);
}

function withLineEnds(old: readonly Line[], typed: readonly Line[], usual: string, most: number): Line[] {
  const texts = (of: readonly Line[]): string[] => of.map(({ text }) => text);
  const lines: Line[] = [];
  let oldAt = 0;
  let end = usual;
  const put = (): unknown => lines.push({ text: (typed[lines.length] as Line).text, end });
  for (const { same, removed, added } of diffLines(texts(old), texts(typed), most).blocks) {
    for (let line = 0; line < same + removed; line++) {
      end = old[oldAt++]?.end || end;
      if (line < same) put();
    }
    for (let line = 0; line < added; line++) put();
  }
  return lines;
}

function withoutBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(BOM.length) : text;
}

export interface ShownLine extends Line {
  readonly kind: 'same' | 'removed' | 'added';
  /**
   * The line numbers in the old and in the new text, from 1 on. They are null where the line is
   * missing.
   */
  readonly before: number | null;
  readonly after: number | null;
}

/** The changed places of a text, with some lines around them, as a page shows them. */
export interface Difference {
  readonly hunks: readonly (readonly ShownLine[])[];
  readonly added: number;
  readonly removed: number;
  /** Sentences that say what is not shown. */
  readonly remarks: readonly string[];
}

/**
 * Maximum number of removed and added lines together. The time and memory of jsdiff grow with its
 * square.
 */
const MAX_CHANGES = 1_000;
/** Returns the maximum for each of several files, so that all of them take as long as one. */
const mostChanges = (files: number): number => Math.floor(MAX_CHANGES / Math.sqrt(files));
const CONTEXT_LINES = 3;
const MAX_SHOWN_LINES = 2_000;
/** Maximum length of all lines shown for one request. In a page, they take five times that. */
const MAX_SHOWN_CHARACTERS = 2 * MAX_FILE_BYTES;

const coarse = (most: number): string =>
  `More than ${most.toLocaleString('en')} lines differ: all lines from the first change to the last are shown as replaced.`;
const CUT = 'The difference is longer; this is its beginning.';

/** Makes the text by which lines are compared. A line whose end has changed is another line. */
const whole = ({ text, end }: Line): string => text + end;

/**
 * Compares two texts. The lines of both are in memory.
 * @param oldText is empty for a new file.
 * @param files the number of files that are compared for one request.
 */
export function difference(oldText: string, newText: string, files = 1): Difference {
  const [old, now] = [splitLines(oldText), splitLines(newText)];
  const { blocks, isBeyondLimit } = diffLines(old.map(whole), now.map(whole), mostChanges(files));
  const hunks: ShownLine[][] = [];
  let [oldAt, nowAt, wanted, hasGap] = [0, 0, 0, true];
  let charactersLeft = MAX_SHOWN_CHARACTERS / files;
  const isCut = (): boolean => wanted > MAX_SHOWN_LINES || charactersLeft < 0;
  const show = (kind: ShownLine['kind'], line: Line): void => {
    wanted += 1;
    charactersLeft -= line.text.length;
    if (isCut()) return;
    if (hasGap) hunks.push([]);
    hasGap = false;
    const before = kind === 'added' ? null : oldAt + 1;
    const after = kind === 'removed' ? null : nowAt + 1;
    hunks.at(-1)?.push({ ...line, kind, before, after });
  };
  for (const [index, { same, removed, added }] of blocks.entries()) {
    for (let line = 0; line < same; line++, oldAt++, nowAt++) {
      const isNear =
        (index > 0 && line < CONTEXT_LINES) || (removed + added > 0 && line >= same - CONTEXT_LINES);
      if (isNear) show('same', now[nowAt] as Line);
      else hasGap = true;
    }
    for (let line = 0; line < removed; line++, oldAt++) show('removed', old[oldAt] as Line);
    for (let line = 0; line < added; line++, nowAt++) show('added', now[nowAt] as Line);
  }
  const sum = (kind: 'removed' | 'added'): number => blocks.reduce((lines, block) => lines + block[kind], 0);
  return {
    hunks,
    added: sum('added'),
    removed: sum('removed'),
    remarks: [...(isBeyondLimit ? [coarse(mostChanges(files))] : []), ...(isCut() ? [CUT] : [])],
  };
}

/** The number of lines that stay, and of those that are then removed and added. */
type DiffBlock = Readonly<Record<'same' | 'removed' | 'added', number>>;

/**
 * Finds the shortest difference of two texts. Beyond the limit, all lines from the first to the
 * last changed one are replaced.
 */
export function diffLines(
  before: readonly string[],
  after: readonly string[],
  most = MAX_CHANGES,
): { readonly blocks: readonly DiffBlock[]; readonly isBeyondLimit: boolean } {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shortest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const old = before.slice(head, before.length - tail);
  const now = after.slice(head, after.length - tail);
  const replaced = [{ same: head, removed: old.length, added: now.length }];
  const isOneSided = old.length === 0 || now.length === 0;
  const changes = isOneSided ? undefined : diffArrays(old, now, { maxEditLength: most });
  const blocks = changes === undefined ? replaced : [{ same: head, removed: 0, added: 0 }];
  for (const { added, removed, count } of changes ?? []) {
    const last = blocks.at(-1)!;
    if (removed) last.removed += count;
    else if (added) last.added += count;
    else blocks.push({ same: count, removed: 0, added: 0 });
  }
  if (tail > 0) blocks.push({ same: tail, removed: 0, added: 0 });
  return { blocks, isBeyondLimit: !isOneSided && changes === undefined };
}
