/**
 * The form of comments, in all our code: their width, one tag a line, and how doc comments begin.
 * A doc comment is a sentence that begins with a noun or a verb.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['.ci', 'bench', 'local', 'sandbox', 'src', 'test'];
const MOST_COLUMNS = 100;

const COMMENT_LINE = /^\s*(?:\/[/*]|\*)/;
const TAG = /(?<=\s)@(?:default|example|param|returns|see|template|throws)\b/g;
/** The first word of a doc comment, whose text may begin on the line after. */
const DOC_BEGINNING = /^[ \t]*\/\*\*\s+(?:\*\s+)?(\w+)/gm;
const RIDDLES = new Set(['Null', 'Of', 'What']);

interface SourceFile {
  readonly path: string;
  readonly text: string;
}

function sourceFiles(): SourceFile[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => ({ path: join(folder, name), text: readFileSync(join(ROOT, folder, name), 'utf8') })),
  );
}

/** A sentence for each fault, with its place. */
function faultsOf(file: SourceFile): string[] {
  return [...lineFaults(file), ...riddles(file)].map(({ line, says }) => `${file.path}:${line}: ${says}`);
}

interface Fault {
  readonly line: number;
  readonly says: string;
}

function* lineFaults({ text }: SourceFile): Generator<Fault> {
  for (const [index, content] of text.split('\n').entries()) {
    if (!COMMENT_LINE.test(content)) continue;
    const line = index + 1;
    const tags = content.match(TAG)?.length ?? 0;
    if (tags > 1) yield { line, says: `${tags} tags; one a line` };
    if (content.length > MOST_COLUMNS && !content.includes('https:'))
      yield { line, says: `a comment of ${content.length} columns; ${MOST_COLUMNS} at most` };
  }
}

function* riddles({ text }: SourceFile): Generator<Fault> {
  for (const { index, 1: word = '' } of text.matchAll(DOC_BEGINNING)) {
    const line = text.slice(0, index).split('\n').length;
    if (RIDDLES.has(word)) yield { line, says: `begins with "${word}"; begin with a noun or a verb` };
  }
}

it('has comments of at most 100 columns, but addresses, one tag a line, that begin with a noun or a verb', () => {
  expect(sourceFiles().flatMap(faultsOf)).toEqual([]);
});

it('finds each fault, with its place', () => {
  const text = [
    '/** Of a row. */',
    '/**',
    ' * What it is. @param a one @returns another',
    ' */',
    `// ${'w'.repeat(98)}`,
    `// https://example.org/${'w'.repeat(98)}`,
    '/** Null is mentioned below. Reads it, and an address of @octokit/rest. */',
    "const text = '/** Of no comment';",
  ].join('\n');
  expect(faultsOf({ path: '.ci/a.ts', text }).toSorted()).toEqual([
    '.ci/a.ts:1: begins with "Of"; begin with a noun or a verb',
    '.ci/a.ts:2: begins with "What"; begin with a noun or a verb',
    '.ci/a.ts:3: 2 tags; one a line',
    '.ci/a.ts:5: a comment of 101 columns; 100 at most',
    '.ci/a.ts:7: begins with "Null"; begin with a noun or a verb',
  ]);
});
