/** The footer of a pull request is seen, whatever the description leaves open. */
import { expect, it } from 'vitest';
import { utf8 } from '../../src/git/bytes.ts';
import { namedText } from '../../src/text/pull-request-text.ts';

const FOOTER = '\n\n---\n*An anonymous contribution.*';

function bodyOf(words: string): string | null {
  const description = { bytes: utf8(words), mentions: [] };
  return namedText({ title: null, description, footer: FOOTER }, { idOf: () => '' }).body;
}

it('stands behind the description', () => {
  expect(bodyOf('Words.\n\n```\ncode\n```')).toBe(`Words.\n\n\`\`\`\ncode\n\`\`\`${FOOTER}`);
});

it.each([
  ['a code fence', 'Words.\n\n```js\ncode'],
  ['a comment', 'Words.\n\n<!-- hidden'],
  ['a block of HTML', '<details>\n\nWords.'],
  ['a direction', '\u202eWords.'],
])('stands in front of one that leaves %s open', (_, words) => {
  expect(bodyOf(words)).toBe(`---\n*An anonymous contribution.*\n\n${words}`);
});
