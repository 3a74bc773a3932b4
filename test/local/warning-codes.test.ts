/** The table of docs/clients.md explains each warning that the option `yes` takes, and no other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { WARNING_CODES } from '../../src/words/finding.ts';

it('are the same in the code and in docs/clients.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/clients.md'), 'utf8');
  const table = text.slice(text.indexOf('## Warnings')).split('\n## ', 1).join('');
  const codes = [...table.matchAll(/^\| `([a-z-]{1,40})` +\|/gm)].map(([, code]) => code);
  expect(new Set(codes)).toEqual(new Set(WARNING_CODES));
});
