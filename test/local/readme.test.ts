/** The README's tables name every variable that the configuration reads, and no other. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { VARIABLES } from '../../src/config/environment-reader.ts';

it('documents every variable', async () => {
  const readme = await readFile(join(import.meta.dirname, '../../README.md'), 'utf8');
  const firstCells = readme.split('\n').flatMap((line) => /^\| (`[A-Z].*?) *\|/.exec(line)?.[1] ?? []);
  const documented = firstCells.flatMap((cell) => cell.replace('<KEY>', '').match(/[A-Z_]+/g) ?? []);
  expect(documented.toSorted()).toEqual([...VARIABLES, 'HOSTING_TOKEN_'].toSorted());
});
