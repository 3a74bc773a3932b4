import { expect, it } from 'vitest';
import type { ShownLine } from '../../src/edit/lines.ts';
import { differenceTable } from '../../src/pages/forms/parts.ts';
import { visibleText } from '../../src/pages/layout.ts';

it('direction marks are written out, and nothing else changes', () => {
  expect(visibleText('x\u202egpj.md')).toBe('x[U+202E]gpj.md');
  expect(visibleText('a\u061cb\u2066c\u2069')).toBe('a[U+061C]b[U+2066]c[U+2069]');
  expect(visibleText('Zoë שלום 山田 👩‍💻 <b>')).toBe('Zoë שלום 山田 👩‍💻 <b>');
});

it('a difference shows them', async () => {
  const line: ShownLine = { kind: 'added', before: null, after: 1, text: 'if (\u2067x\u2069)', end: '\n' };
  const difference = { hunks: [[line]], added: 1, removed: 0, remarks: [] };
  expect(String(await differenceTable('The difference', difference))).toContain('if ([U+2067]x[U+2069])');
});
