/** Folders that code hosts would refuse. */
import { expect, it } from 'vitest';
import { folderFindings, folders } from '../../../../src/push/judge/rules/folders.ts';
import { knownPush } from '../../../support/known-push.ts';
import { EMPTY_TREE, oidNumber } from '../../../support/objects.ts';

const { commits } = knownPush().pushed;
const paths = { pathOf: () => null };

it('refuses what every host does, and warns of what some do, by the place', () => {
  expect(folderFindings([], paths, commits)).toEqual([]);
  expect(folderFindings([['hasDotgit', EMPTY_TREE]], paths, commits)).toMatchObject([
    {
      severity: 'refuse',
      code: 'fsck',
      lines: [expect.stringContaining('the root folder'), expect.stringContaining('git rebase -i')],
    },
  ]);
  const some = folderFindings([['zeroPaddedFilemode', oidNumber(7)]], paths, commits);
  expect(some).toMatchObject([{ severity: 'warn', lines: [expect.stringMatching(/^Some .* a folder: /)] }]);
  expect(folders({ oddFolders: some })).toBe(some);
});
