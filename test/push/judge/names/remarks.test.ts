/** What a person is told of before a push is published, although nothing of it is refused. */
import { expect, it } from 'vitest';
import { remarksOn } from '../../../../src/push/judge/names/remarks.ts';

const nothing = {
  hits: [],
  isComplete: true,
  hasGitlinks: false,
  hasBinaries: false,
  homeFolders: [],
  files: [],
};

it('are paths of home folders, in files and in texts', () => {
  const found = { ...nothing, homeFolders: ['/home/ada'] };
  expect(remarksOn([['title', 'Mend it in /Users/ada/x']], found)).toEqual([
    'Paths of home folders become public. Check whether they name you:',
    '  a changed file: /home/ada',
    '  title: /Users/ada',
  ]);
});

it('are files of editors, and files that nobody can look into', () => {
  const leftovers = ['.DS_Store', 'src/.a.c.swp', 'my.code-workspace', '.vscode/settings.json'];
  leftovers.push('.idea/workspace.xml', 'workspace.xml');
  const opaque = ['docs/a.PNG', 'b.jpeg', 'c.pdf', 'd.docx', 'e.odt', 'f.zip', 'g.tar.gz'];
  const others = ['a.c', 'README', 'logo.svg', 'swp', 'png.ts', 'DS_Store.md', 'my.vscode/x'];
  expect(remarksOn([], { ...nothing, files: [...others, ...leftovers, ...opaque] })).toEqual([
    'Files of an editor or a system become public:',
    ...leftovers.map((path) => `  ${path}`),
    'The service cannot search inside these files for names:',
    ...opaque.map((path) => `  ${path}`),
  ]);
});

it('are counted beyond ten', () => {
  const files = Array.from({ length: 30 }, (_, at) => `${at}.png`);
  expect(remarksOn([], { ...nothing, files })).toHaveLength(12);
  expect(remarksOn([], { ...nothing, files }).at(-1)).toBe('  and 20 more');
});

it('say so if the push is too large for its files to be named', () => {
  expect(remarksOn([], { ...nothing, files: null })).toEqual([]);
  expect(remarksOn([], { ...nothing, files: null, hasBinaries: true })).toEqual([
    'This push is too large to tell which images, PDF files, office files and archives it adds.',
    'The service cannot search inside them for names.',
  ]);
});
