/** Where a trailer is put, compared with Git's own `git interpret-trailers`. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { withTrailer } from '../../../src/git/objects/trailers.ts';
import { mustRun, neutralEnvironment } from '../support/run.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const LINE = 'Signed-off-by: bot <bot@x.example>';
/**
 * A block that Git takes for one begins with the title's paragraph only if a message begins with a
 * blank line.
 */
const title = fc.constantFrom('Fix it', 'fix: it', 'Signed-off-by: A <a@b>', 'Fix\nit');
const line = fc.constantFrom(
  'Words.',
  'Some words: and more',
  'Reviewed-by: B <b@c>',
  'Closes: #1',
  'Signed-off-by: C <c@d>',
  'signed-off-by: C <c@d>',
  '(cherry picked from commit 0123456)',
  ' continued',
  '\tcontinued: too',
  'Token : value',
  'Tok_en: value',
  ': value',
  'https://x.example/y',
);
const message = fc
  .tuple(
    title,
    fc.array(
      fc.oneof({ weight: 5, arbitrary: line }, { weight: 1, arbitrary: fc.constantFrom('', ' ', '\r') }),
      { maxLength: 9 },
    ),
  )
  .map(([first, lines]) => `${[first, '', ...lines].join('\n').trimEnd()}\n`);

/** Git writes the blanks of all trailers anew. */
const bare = (text: string): string => text.replaceAll(/[ \t\r]/g, '');

it('is put where Git puts it', exhaustive, async () => {
  const args = ['interpret-trailers', '--no-divider', '--if-exists', 'add', '--trailer', LINE];
  await fc.assert(
    fc.asyncProperty(message, async (text) => {
      const options = { cwd: '/', env: neutralEnvironment({ GIT_CONFIG_GLOBAL: '/dev/null' }), input: text };
      const lines = (await mustRun('git', args, options)).toString();
      const ours = withTrailer(text, LINE);
      expect(ours.startsWith(text)).toBe(true);
      expect(bare(ours)).toBe(bare(lines));
    }),
    { numRuns: 60, seed: 1, endOnFailure: true },
  );
});
