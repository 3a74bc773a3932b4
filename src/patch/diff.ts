/**
 * Reads the diffs that Git writes (git-diff, "Generating patch text with -p"), by the rules of
 * `git apply`: bytes, quoted names, modes, renames, copies and binary patches. What it leaves open,
 * such as a diff of another program, is refused.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
import { isOid } from '../git/objects/oid.ts';
import { type BinaryChange, readBinary } from './binary.ts';
import { Lines } from './lines.ts';
import { malformed, tooMuch } from './patch-error.ts';

export const MAX_FILES = 5_000;
const MAX_HUNKS = 100_000;
/** More than the longest path, if each of its bytes is written as `\ooo`. */
const MAX_QUOTED_LENGTH = 20_000;

/** A change of one file. Names have one character for each byte. */
export interface FileDiff {
  /** The file that it begins with; null: it is new. */
  readonly from: string | null;
  /** The file that it leaves; null: none. */
  readonly to: string | null;
  readonly isCopy: boolean;
  readonly oldMode: string | null;
  /** The mode that it sets; null: it stays. */
  readonly newMode: string | null;
  /** Ids of the file before and after it, if they are given whole. */
  readonly ids: readonly [old: string, now: string] | null;
  readonly hunks: readonly Hunk[];
  readonly binary: BinaryChange | null;
}

export interface Hunk {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  /** Where its lines begin and end in the patch. */
  readonly start: number;
  readonly end: number;
}

/** Counts hunks of a whole patch, so that their number is bounded. */
export interface DiffCount {
  files: number;
  hunks: number;
}

/** @throws PatchError */
export function readDiffs(patch: Uint8Array, start: number, end: number, count: DiffCount): FileDiff[] {
  const lines = new Lines(patch, start, end);
  const files: FileDiff[] = [];
  while (!lines.isAtEnd) {
    if (!lines.startsWith('diff --git ')) {
      refuseOther(lines);
      lines.skip();
      continue;
    }
    files.push(readFile(lines, count));
    if (++count.files > MAX_FILES) throw tooMuch(`It changes more than ${MAX_FILES} files.`);
  }
  return files;
}

/** Refuses what would be a change, but none that is read here. */
function refuseOther(lines: Lines): void {
  if (lines.startsWith('--- ') && lines.next.startsWith('+++ '))
    throw malformed(`Line ${lines.numberAt()} begins a diff without "diff --git". Make it with Git.`);
  if (lines.startsWith('@@ -'))
    throw malformed(
      `Line ${lines.numberAt()} begins a hunk outside of a file, or a hunk before it has too many lines.`,
    );
  if (lines.startsWith('diff --cc ') || lines.startsWith('diff --combined '))
    throw malformed(`Line ${lines.numberAt()} begins the diff of a merge. Make a diff between two commits.`);
}

/** The lines between `diff --git` and the change. */
interface Header {
  oldMode: string | null;
  newMode: string | null;
  isNew: boolean;
  isDeleted: boolean;
  moved: 'rename' | 'copy' | null;
  from: string | null;
  to: string | null;
  ids: FileDiff['ids'];
}

const SIMILARITY = /^(?:similarity index|dissimilarity index) /;
const INDEX = /^index ([0-9a-f]+)\.\.([0-9a-f]+)(?: ([0-7]+))?$/;
const NAMED_MODE = /^(old mode|new mode|deleted file mode|new file mode) ([0-7]+)$/;
const MOVE = /^(rename|copy) (from|to) (.+)$/s;
const WITHOUT_BINARY =
  'It has a binary file without its change. Add --binary to the command that made the patch.';
const NO_BINARY = /^(?:Binary files|Files) .* differ$/;

function readFile(lines: Lines, count: DiffCount): FileDiff {
  const { at } = lines;
  const named = nameOf(lines.line.slice('diff --git '.length));
  lines.skip();
  const header: Header = {
    oldMode: null,
    newMode: null,
    isNew: false,
    isDeleted: false,
    moved: null,
    from: null,
    to: null,
    ids: null,
  };
  while (!lines.isAtEnd && readHeaderLine(lines.line, header)) lines.skip();
  const { isNew, isDeleted, moved, ids, oldMode, newMode } = header;
  if (NO_BINARY.test(lines.line)) throw malformed(WITHOUT_BINARY);
  const sides = readSides(lines);
  const { from, to } = namesOf(header, named, sides, () => lines.numberAt(at));
  const binary = lines.startsWith('GIT binary patch') ? readBinary(lines) : null;
  if (binary !== null && ids === null) throw malformed(WITHOUT_BINARY);
  const hunks = binary === null && sides !== null ? readHunks(lines, header, count) : [];
  const isChanged = binary !== null || hunks.length > 0 || newMode !== null || moved !== null;
  if (!isChanged && !isDeleted)
    throw malformed(`Line ${lines.numberAt(at)} begins a file that does not change.`);
  const isCopy = moved === 'copy';
  return {
    from: isNew ? null : from,
    to: isDeleted ? null : to,
    isCopy,
    oldMode,
    newMode,
    ids,
    hunks,
    binary,
  };
}

/** Reads a line of a header. Answers whether it is one. */
function readHeaderLine(line: string, header: Header): boolean {
  const [, old, now, oldMode] = INDEX.exec(line) ?? [];
  const [, kind, mode = ''] = NAMED_MODE.exec(line) ?? [];
  const [, moved, side, name = ''] = MOVE.exec(line) ?? [];
  if (old !== undefined && now !== undefined) {
    if (isOid(old) && isOid(now)) header.ids = [old, now];
    if (oldMode !== undefined) header.oldMode = modeOf(oldMode);
  } else if (kind !== undefined) {
    header.isNew ||= kind.startsWith('new file');
    header.isDeleted ||= kind.startsWith('deleted');
    header[kind.startsWith('new') ? 'newMode' : 'oldMode'] = modeOf(mode);
  } else if (moved !== undefined) {
    header.moved = moved === 'copy' ? 'copy' : 'rename';
    header[side === 'from' ? 'from' : 'to'] = wholeName(name);
  } else return SIMILARITY.test(line);
  return true;
}

/** The mode that Git would store. @throws PatchError */
function modeOf(text: string): string {
  if (/^100[0-7]{3}$/.test(text)) return (Number.parseInt(text, 8) & 0o100) === 0 ? '100644' : '100755';
  if (text === '120000') return text;
  if (text === '160000')
    throw malformed('It changes a submodule, whose files belong to another repository. Push it instead.');
  throw malformed('It gives a file a mode that Git does not have.');
}

interface Sides {
  /** The name; null for /dev/null. */
  readonly old: string | null;
  readonly new: string | null;
}

/** Reads `---` and `+++`; null if there are none. */
function readSides(lines: Lines): Sides | null {
  if (!lines.startsWith('--- ')) return null;
  const old = sideOf(lines.line);
  lines.skip();
  if (!lines.startsWith('+++ ')) throw malformed(`Line ${lines.numberAt()} should begin with +++.`);
  const side = { old, new: sideOf(lines.line) };
  lines.skip();
  return side;
}

/** Git puts a tab behind a name with a space. */
function sideOf(line: string): string | null {
  const name = line.slice('+++ '.length).replace(/\t$/, '');
  return name === '/dev/null' ? null : withoutPrefix(wholeName(name));
}

/** Gives both names, which the lines of a file must agree on. @throws PatchError */
function namesOf(
  { isNew, isDeleted, moved, ...header }: Header,
  named: string | null,
  sides: Sides | null,
  number: () => number,
): { readonly from: string; readonly to: string } {
  const from = header.from ?? sides?.old ?? named ?? sides?.new;
  const to = header.to ?? sides?.new ?? named ?? sides?.old;
  const expected = { old: isNew ? null : from, new: isDeleted ? null : to };
  const agrees = sides === null || (sides.old === expected.old && sides.new === expected.new);
  const isOne =
    moved !== null ? header.from !== null && header.to !== null : from === to && from === (named ?? from);
  if (!from || !to || !agrees || !isOne)
    throw malformed(`Line ${number()} begins a file without a clear name.`);
  return { from, to };
}

/**
 * Reads the name in `a/<name> b/<name>`; null if there are two names, which other lines give then.
 */
function nameOf(names: string): string | null {
  if (names.startsWith('"')) {
    const [name, rest] = unquoted(names);
    return rest.startsWith(' "') && withoutPrefix(unquoted(rest.slice(1))[0]) === withoutPrefix(name)
      ? withoutPrefix(name)
      : null;
  }
  const middle = (names.length - 1) / 2;
  if (names[middle] !== ' ') return null;
  const [old, now] = [withoutPrefix(names.slice(0, middle)), withoutPrefix(names.slice(middle + 1))];
  return old === now ? old : null;
}

/** Removes `a/` or what else stands before the first slash, as Git does by default. */
function withoutPrefix(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

function wholeName(text: string): string {
  if (!text.startsWith('"')) return text;
  const [name, rest] = unquoted(text);
  if (rest !== '') throw malformed('A quoted name of a file is malformed.');
  return name;
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  '"': '"',
  '\\': '\\',
};

/** Reads a name in quotes (quote.c, `unquote_c_style`), and gives what follows it. */
function unquoted(text: string): [name: string, rest: string] {
  let name = '';
  for (let at = 1; at < Math.min(text.length, MAX_QUOTED_LENGTH); at++) {
    const character = text[at] as string;
    if (character === '"') return [name, text.slice(at + 1)];
    if (character !== '\\') {
      name += character;
      continue;
    }
    const [octal] = /^[0-3][0-7]{2}/.exec(text.slice(at + 1, at + 4)) ?? [];
    const escaped =
      octal === undefined ? ESCAPES[text[at + 1] ?? ''] : String.fromCharCode(Number.parseInt(octal, 8));
    if (escaped === undefined) break;
    name += escaped;
    at += octal === undefined ? 1 : 3;
  }
  throw malformed('A quoted name of a file is malformed.');
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

function readHunks(lines: Lines, { isNew, isDeleted }: Header, count: DiffCount): Hunk[] {
  const hunks: Hunk[] = [];
  while (lines.startsWith('@@ ')) {
    const { at } = lines;
    const [, oldStart, oldCount = '1', newStart, newCount = '1'] = HUNK.exec(lines.line) ?? [];
    if (newStart === undefined) throw malformed(`Line ${lines.numberAt(at)} begins a malformed hunk.`);
    const [olds, news] = [Number(oldCount), Number(newCount)];
    if ((isNew && olds > 0) || (isDeleted && news > 0))
      throw malformed(`Line ${lines.numberAt(at)} begins a hunk that a new or deleted file cannot have.`);
    lines.skip();
    const start = lines.at;
    skipHunk(lines, olds, news, at);
    hunks.push({
      oldStart: Number(oldStart),
      oldCount: olds,
      newStart: Number(newStart),
      start,
      end: lines.at,
    });
    if (++count.hunks > MAX_HUNKS) throw tooMuch(`It has more than ${MAX_HUNKS} hunks.`);
  }
  if (hunks.length === 0) throw malformed(`Line ${lines.numberAt()} should begin a hunk.`);
  return hunks;
}

/** Skips exactly the lines of a hunk. @throws PatchError if it has fewer or none that change. */
function skipHunk(lines: Lines, olds: number, news: number, at: number): void {
  let hasChange = false;
  for (let [kind, before] = ['', '']; olds > 0 || news > 0; before = kind) {
    kind = lines.isAtEnd ? '' : lines.kind;
    if (kind === ' ' || kind === '-') olds--;
    if (kind === ' ' || kind === '+') news--;
    if (!isHunkLine(lines, kind, before) || olds < 0 || news < 0)
      throw malformed(`The hunk of line ${lines.numberAt(at)} does not have the lines that it announces.`);
    hasChange ||= kind === '-' || kind === '+';
    lines.skip();
  }
  if (lines.startsWith('\\ ')) lines.skip();
  if (!hasChange) throw malformed(`The hunk of line ${lines.numberAt(at)} changes nothing.`);
}

/** Tells if a line may follow one in a hunk. `\ No newline` says that the line before has none. */
function isHunkLine(lines: Lines, kind: string, before: string): boolean {
  if (kind !== '\\') return /[ +-]/.test(kind);
  return lines.startsWith('\\ ') && before !== '' && before !== '\\';
}
