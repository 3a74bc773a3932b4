/** Results of the search for names become findings; the search itself: test/leaks. */
import { expect, it } from 'vitest';
import { names } from '../../../../src/push/judge/rules/names.ts';
import { warn } from '../../../../src/words/finding.ts';

const searched = { hasGitlinks: false, hasWorkflows: false, findings: warn('home-folders', '/home/ada') };

it('refuses with the reason of the search, and keeps what else was found', () => {
  expect(names({ searched: { ...searched, refusal: null } })).toEqual(searched.findings);
  const refusal = { reason: 'your name would become public', lines: ['Ada'] };
  expect(names({ searched: { ...searched, refusal } })).toMatchObject([
    { severity: 'refuse', code: 'names', ...refusal },
    { severity: 'warn', code: 'home-folders' },
  ]);
});
