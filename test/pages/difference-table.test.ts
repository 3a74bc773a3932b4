import { expect, it } from 'vitest';
import type { ShownLine } from '../../src/edit/lines.ts';
import { differenceTable } from '../../src/pages/difference-table.ts';

it('a difference writes out marks that change the direction of a line', async () => {
  const line: ShownLine = { kind: 'added', before: null, after: 1, text: 'if (\u2067x\u2069)', end: '\n' };
  const difference = { hunks: [[line]], added: 1, removed: 0, remarks: [] };
  expect(String(await differenceTable('The difference', difference))).toContain('if ([U+2067]x[U+2069])');
});
