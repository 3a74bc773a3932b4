import { expect, it } from 'vitest';
import { visibleText } from '../../src/pages/layout.ts';

it('direction marks and what terminals obey are written out, and nothing else changes', () => {
  expect(visibleText('x\u202egpj.md')).toBe('x[U+202E]gpj.md');
  expect(visibleText('a\u061cb\u2066c\u2069')).toBe('a[U+061C]b[U+2066]c[U+2069]');
  expect(visibleText('\u001b[31m\u0007\u009b2J')).toBe('[U+001B][31m[U+0007][U+009B]2J');
  expect(visibleText('a\tb\r\nc')).toBe('a\tb\r\nc');
  expect(visibleText('Zoë שלום 山田 👩‍💻 <b>')).toBe('Zoë שלום 山田 👩‍💻 <b>');
});
