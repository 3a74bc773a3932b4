import { describe, expect, it } from 'vitest';
import { newUnseen } from '../../src/edit/unseen.ts';

const line = (names: string) =>
  `It has characters that nobody sees: ${names}. Whoever gave you this text can know it again by them. Type it anew.`;

describe('characters that nobody sees', () => {
  it.each([
    ['It is slow.\n\tAlways.', []],
    ['zoë 👩🏽‍🚀 👩‍👩‍👧 ❤️‍🔥 1️⃣ 山', []],
    ['It\u200b is\u200b slow', [line('[U+200B]')]],
    ['a\u200db\ufe0fc\u{e0041}\u00a0', [line('[U+200D], [U+FE0F], [U+E0041], [U+00A0]')]],
    [
      '\u200b\u200c\u200d\u2060\u00ad\ufeff',
      [line('[U+200B], [U+200C], [U+200D], [U+2060], [U+00AD], and 1 more')],
    ],
  ])('in %j', (text, lines) => {
    expect(newUnseen('', text)).toEqual(lines);
  });

  it('that the old text has as often are not new', () => {
    expect(newUnseen('a\u200b', 'b\u200b')).toEqual([]);
    expect(newUnseen('a\u200b', 'b\u200b\u200b')).toEqual([line('[U+200B]')]);
  });

  it('are found in time that grows with the text', () => {
    const hostile = '\u{1f469}\u200d'.repeat(300_000) + '\u{1f3f4}\u{e0067}'.repeat(200_000);
    expect(newUnseen('', hostile)).toHaveLength(1);
  });
});
