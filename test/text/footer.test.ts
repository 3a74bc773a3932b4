import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  characters,
  commentText,
  issueText,
  shownKarma,
  splitFooter,
  withKarma,
} from '../../src/text/footer.ts';
import { runs } from '../support/runs.ts';

const HASH = '1a2b3c4d';
const ORIGIN = 'https://veil.test';
const text = (body: string, karma: number) => commentText(body, { hash: HASH, karma, origin: ORIGIN });

const anyBody = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('---', '\n---\n', '\r\n', text('quoted', 7), '$1$<start>', `anon-${HASH} · karma (3)`),
);

describe('the footer of a comment', () => {
  it("is the contract's, byte for byte", () => {
    expect(text('Hi', 3)).toBe(
      'Hi\n\n---\nanon-1a2b3c4d · karma (3) · [report](https://veil.test/v1/moderation/report?hash=1a2b3c4d)',
    );
  });

  it('is found again under any words, and alone is changed', () => {
    fc.assert(
      fc.property(anyBody, fc.nat(), (body, karma) => {
        expect(shownKarma(text(body, karma), HASH)).toBe(karma);
        expect(withKarma(text(body, karma), HASH, 0)).toBe(text(body, 0));
        expect(splitFooter(text(body, karma))).toEqual({ words: body.trimEnd(), hash: HASH });
      }),
      runs(70),
    );
  });

  it('is found where the host writes line breaks in its own way', () => {
    const theirs = `${text('Hi', 3).replaceAll('\n', '\r\n')}\r\n`;
    expect(withKarma(theirs, HASH, 0)).toBe(theirs.replace('(3)', '(0)'));
  });

  it.each([
    ['words without one', 'Hello'],
    ["another's", text('Hi', 3).replaceAll(HASH, '00000000')],
    ['one that is followed by words', `${text('Hi', 3)}\nmore`],
    ['one without its line', text('Hi', 3).replace('---', '')],
  ])('is not seen in %s', (_, other) => {
    expect(shownKarma(other, HASH)).toBeNull();
    expect(withKarma(other, HASH, 0)).toBeNull();
  });
});

describe('the footer of an issue', () => {
  it('stands behind a line, in two italic lines', () => {
    expect(issueText('Words', ORIGIN)).toBe(
      'Words\n\n---\n*This issue is an anonymous contribution made via [gitveil](https://veil.test).*\n' +
        "*The original author's identity has been anonymized.*",
    );
  });
});

describe('the length of a text', () => {
  it('is counted in code points, as the host does', () => {
    expect(['', 'abc', 'ä', '🎉', 'a🎉b', '\ud83d'].map(characters)).toEqual([0, 3, 1, 1, 3, 1]);
  });
});
