/** Results of the search become findings: names, and folders that code hosts would refuse. */
import { expect, it } from 'vitest';
import { folderFindings, folders, names } from '../../../../src/push/judge/rules/searched.ts';
import { warn } from '../../../../src/words/finding.ts';
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

it.each([
  ['different', (at: number) => `a${at}`, 5, 5],
  ['the same', () => 'a', 1, 1_000],
])('describes few faults of thousands, if their lines are %s', (_, pathOf, told, most) => {
  let asked = 0;
  const faults = Array.from({ length: 5_000 }, (__, at) => ['hasDotgit', oidNumber(at)] as const);
  const [found] = folderFindings(faults, { pathOf: () => pathOf(asked++) }, commits);
  expect(found).toMatchObject({ lines: { length: told + 1 } });
  expect(asked).toBeLessThanOrEqual(most);
});

it('refuses with the reason of the search for names, and keeps what else was found', () => {
  const searched = { hasGitlinks: false, hasWorkflows: false, findings: warn('home-folders', '/home/ada') };
  expect(names({ searched: { ...searched, refusal: null } })).toEqual(searched.findings);
  const refusal = { reason: 'your name would become public', lines: ['Ada'] };
  expect(names({ searched: { ...searched, refusal } })).toMatchObject([
    { severity: 'refuse', code: 'names', ...refusal },
    { severity: 'warn', code: 'home-folders' },
  ]);
});
