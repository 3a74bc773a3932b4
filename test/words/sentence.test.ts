import { expect, it } from 'vitest';
import { sentence } from '../../src/words/sentence.ts';

it.each([
  ['body is required', 'Body is required.'],
  ['octo/hello takes no private reports', 'octo/hello takes no private reports.'],
  ['codeberg.org asks to slow down', 'codeberg.org asks to slow down.'],
  ['', '.'],
])('of %j is %j', (text, made) => {
  expect(sentence(text)).toBe(made);
});
