/** The files of a change, in one field of a form, which a stranger may have written. */
import { expect, it } from 'vitest';
import {
  editsProblem,
  encodeEdits,
  type FileEdit,
  MOST_FILES,
  parseEdits,
  usualTitle,
  withFirst,
} from '../../src/edit/file-edits.ts';

const BLOB = 'a'.repeat(40);
const edit = (path: string, more: Partial<FileEdit> = {}): FileEdit => ({
  path,
  blob: BLOB,
  text: 'x\n',
  isRemoved: false,
  ...more,
});

it('are the same again when they are read, line ends and quotes included', () => {
  const files = [
    edit('docs/"a"\u2028.md', { text: 'one\ntwo\u0000\r😀\n' }),
    edit('b', { blob: '', text: '' }),
  ];
  expect(parseEdits(encodeEdits(files))).toEqual(files);
  expect(encodeEdits(files)).not.toMatch(/[\r\n]/);
  expect([encodeEdits([]), parseEdits('')]).toEqual(['', []]);
});

it.each([
  ['no JSON', '{'],
  ['no list', '{}'],
  ['a file without a path', JSON.stringify([{ ...edit('a'), path: '' }])],
  ['an id that is none', JSON.stringify([{ ...edit('a'), blob: 'refs/heads/main' }])],
  ['a text that is none', JSON.stringify([{ ...edit('a'), text: 1 }])],
  ['further fields', JSON.stringify([{ ...edit('a'), mode: '120000' }])],
  ['too many', JSON.stringify(Array.from({ length: MOST_FILES }, (_, index) => edit(`f${index}`)))],
  ['lists in lists', '['.repeat(100_000)],
])('are not read if they are %s', (_, field) => {
  expect(parseEdits(field)).toBeNull();
});

it('make one change unless one stands twice, or in another one', () => {
  expect(editsProblem([edit('a'), edit('ab'), edit('b/a')])).toBeNull();
  expect(editsProblem([edit('a'), edit('b'), edit('a')])).toBe(
    'a is in this change twice. Take one of both out.',
  );
  expect(editsProblem([edit('a/b'), edit('a')])).toBe(
    'a is a file of this change, and a folder of another one.',
  );
});

it('have the title that most people would write', () => {
  expect(usualTitle([edit('docs/guide.md')])).toBe('Update guide.md');
  expect(usualTitle([edit('a.md', { blob: '' })])).toBe('Add a.md');
  expect(usualTitle([edit('a.md', { isRemoved: true })])).toBe('Remove a.md');
  expect(usualTitle([edit('a.md'), edit('b.md', { blob: '' })])).toBe('Update a.md and 1 more file');
  expect(usualTitle([edit('a.md'), edit('b.md'), edit('c.md', { isRemoved: true })])).toBe(
    'Update a.md and 2 more files',
  );
  // A title that names people or issues would be refused.
  expect(usualTitle([edit('src/@types')])).toBe('Update a file');
  expect(usualTitle([edit('x'.repeat(200))])).toBe('Update a file');
});

it('have one in front, which is the one that is being edited', () => {
  const files = [edit('a'), edit('b'), edit('c')];
  expect(withFirst(files, edit('c', { text: 'y' })).map(({ path, text }) => path + text)).toEqual([
    'cy',
    'ax\n',
    'bx\n',
  ]);
});
