/** Diffs of Git and what is none: names, modes, hunks, binary patches, and hostile ones of each. */
import { describe, expect, it } from 'vitest';
import { readDiffs } from '../../src/patch/diff.ts';
import { PatchError } from '../../src/patch/patch-error.ts';

const files = (diff: string) =>
  readDiffs(Buffer.from(diff, 'latin1'), 0, diff.length, { files: 0, hunks: 0 });
const HUNK = '@@ -1,2 +1,2 @@\n a\n-b\n+c\n';
const HEAD = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n';

function refusal(diff: string): string {
  try {
    files(diff);
  } catch (error) {
    if (error instanceof PatchError) return error.lines.join('\n');
    throw error;
  }
  return 'it is accepted';
}

describe('a diff', () => {
  it.each([
    ['a change', HEAD + HUNK, { from: 'x', to: 'x' }],
    [
      'a new file',
      'diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n',
      { from: null, to: 'x', newMode: '100755' },
    ],
    [
      'a new file that is empty',
      'diff --git a/x b/x\nnew file mode 100644\nindex 0..e\n',
      { from: null, to: 'x', hunks: [] },
    ],
    [
      'a file that goes',
      'diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n',
      { from: 'x', to: null },
    ],
    [
      'a rename',
      'diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n',
      { from: 'x', to: 'y', isCopy: false },
    ],
    [
      'a copy',
      'diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n',
      { from: 'x', to: 'y', isCopy: true },
    ],
    [
      'a mode',
      'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n',
      { oldMode: '100644', newMode: '100755' },
    ],
    [
      'a name with blanks',
      'diff --git a/x y b/x y\n--- a/x y\t\n+++ b/x y\t\n' + HUNK,
      { from: 'x y', to: 'x y' },
    ],
    [
      'a quoted name',
      'diff --git "a/\\303\\266\\t\\"" "b/\\303\\266\\t\\""\nold mode 100644\nnew mode 100755\n',
      { from: '\u00c3\u00b6\t"' },
    ],
    ['other prefixes', 'diff --git i/x w/x\n--- i/x\n+++ w/x\n' + HUNK, { from: 'x', to: 'x' }],
    ['a signature behind it', `${HEAD}${HUNK}-- \n2.39.5\n`, { from: 'x' }],
    ['a line without its blank', `${HEAD}@@ -1,2 +1,2 @@\n\n-b\n+c\n`, { from: 'x' }],
  ])('has %s', (_, diff, file) => {
    expect(files(diff)).toEqual([expect.objectContaining(file)]);
  });

  it.each([
    ['a hunk with too few lines', `${HEAD}@@ -1,3 +1,3 @@\n a\n-b\n+c\n`, 'does not have the lines'],
    ['a hunk with too many lines', `${HEAD}@@ -1,3 +1,1 @@\n a\n b\n-b\n`, 'does not have the lines'],
    ['a hunk whose lines go on', `${HEAD}${HUNK}@@ -9 +9 @@\n d\n`, 'changes nothing'],
    ['a hunk without a change', `${HEAD}@@ -1 +1 @@\n a\n`, 'changes nothing'],
    ['a hunk that begins with a mark', `${HEAD}@@ -1 +1 @@\n\\ No newline\n-a\n+b\n`, 'does not have'],
    ['a hunk with two marks', `${HEAD}@@ -1 +1 @@\n-ab\n\\ No\n\\ No\n+b\n`, 'does not have'],
    ['a hunk with another mark', `${HEAD}@@ -1 +1 @@\n-ab\n\\No\n+b\n`, 'does not have'],
    ['a hunk that is none', `${HEAD}@@ nothing @@\n`, 'malformed hunk'],
    ['a hunk alone', HUNK, 'outside of a file'],
    ['no hunk', HEAD, 'should begin a hunk'],
    ['half a name', 'diff --git a/x b/x\n--- a/x\n', 'should begin with +++'],
    ['two names', `diff --git a/x b/x\n--- a/x\n+++ b/y\n${HUNK}`, 'without a clear name'],
    ['half a rename', 'diff --git a/x b/y\nrename from x\n', 'without a clear name'],
    [
      'a new file with an old one',
      `diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n${HUNK}`,
      'without a clear name',
    ],
    ['a name without its end', 'diff --git "a/x b/x\n', 'quoted name'],
    [
      'a quoted name without measure',
      `diff --git "a/${'x'.repeat(20_000)}" "b/${'x'.repeat(20_000)}"\nold mode 100644\nnew mode 100755\n`,
      'quoted name',
    ],
    ['an escape that is none', 'diff --git "a/\\q" "b/\\q"\n', 'quoted name'],
    ['a submodule', 'diff --git a/x b/x\nnew file mode 160000\n', 'submodule'],
    ['a mode that is none', 'diff --git a/x b/x\nnew file mode 777\n', 'a mode that Git does not have'],
    [
      'a binary file without its change',
      'diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n',
      '--binary',
    ],
    [
      'a binary patch without ids',
      'diff --git a/x b/x\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n',
      '--binary',
    ],
    ['the diff of a merge', 'diff --cc x\n', 'merge'],
    ['a diff of another program', `--- x\n+++ x\n${HUNK}`, 'without "diff --git"'],
    ['nothing that changes', 'diff --git a/x b/x\nindex 1..2 100644\n', 'does not change'],
    ['too many files', 'diff --git a/x b/x\nnew file mode 100644\n'.repeat(5_001), 'more than 5000 files'],
    ['too many hunks', HEAD + '@@ -1 +1 @@\n-a\n+b\n'.repeat(100_001), 'more than 100000 hunks'],
  ])('is refused with %s', (_, diff, words) => {
    expect(refusal(diff)).toContain(words);
  });
});
