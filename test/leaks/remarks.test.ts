/** Remarks that a person reads before a push is published, although nothing of it is refused. */
import { expect, it } from 'vitest';
import { remarksOn } from '../../src/leaks/remarks.ts';
import { linesOf } from '../../src/words/finding.ts';

const remarks = (...found: Parameters<typeof remarksOn>) => linesOf(remarksOn(...found));

const nothing = {
  hits: [],
  isComplete: true,
  hasGitlinks: false,
  opaque: [],
  homeFolders: [],
  files: [],
};

it('are paths of home folders, in files and in texts', () => {
  const homeFolders = [
    { home: '/home/ada', path: 'Makefile' },
    { home: '/home/eve', path: null },
  ];
  const found = { ...nothing, homeFolders };
  expect(remarks(['title: /Users/ada'], found)).toEqual([
    'Paths of home folders become public. Check whether they name you:',
    '  Makefile: /home/ada',
    '  a changed file: /home/eve',
    '  title: /Users/ada',
  ]);
  expect(remarksOn([], found)).toMatchObject([{ code: 'home-folders', places: ['Makefile'] }]);
});

const opaque = (path: string | null, ...tells: string[]) => ({ path, kind: 'PNG picture', tells });
const REMOVE =
  'To remove it from a file: "exiftool -all= <file>", or "mat2 --inplace <file>", which also reads documents.';

it('are what programs leave, what pictures say, and files that nobody can look into', () => {
  const found = {
    ...nothing,
    files: ['a.c', '.DS_Store'],
    opaque: [opaque('a.png'), opaque(null, 'place', 'author Ada')],
  };
  expect(remarks([], found)).toEqual([
    'Files of an editor, a system or one machine become public:',
    '  .DS_Store: how a file manager shows a folder of yours',
    'These pictures say more than they show:',
    '  PNG picture: place; author Ada',
    'The service cannot search inside these files for names:',
    '  a.png (PNG picture)',
    REMOVE,
  ]);
});

it('are one file of each kind before others of the same kind, because ten are shown', () => {
  const settings = Array.from({ length: 12 }, (_, at) => `.vscode/${at}.json`);
  const lines = remarks([], { ...nothing, files: [...settings, '.ssh/id_ed25519'] });
  expect(lines.slice(1, 3)).toEqual([
    expect.stringContaining('.vscode/0.json: '),
    expect.stringContaining('.ssh/id_ed25519: '),
  ]);
  expect(lines.slice(11)).toEqual(['  and 3 more']);
});

it('are programs, whose names and searches say little', () => {
  const program = { path: 'bin/x', kind: 'program (ELF)', tells: [] };
  expect(remarks([], { ...nothing, opaque: [program] })).toEqual([
    'These files are compiled, and may hold paths of the machine that has made them:',
    '  bin/x (program (ELF))',
  ]);
});

it('are counted beyond ten', () => {
  const many = Array.from({ length: 30 }, (_, at) => opaque(`${at}.png`));
  expect(remarks([], { ...nothing, opaque: many })).toHaveLength(13);
  expect(remarks([], { ...nothing, opaque: many }).at(-2)).toBe('  and 20 more');
});

it('are none if there is nothing to tell', () => {
  expect(remarks([], { ...nothing, files: null })).toEqual([]);
});
