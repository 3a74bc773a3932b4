/**
 * Our widths against the tables of badge-maker's own measure, which it uses here: only the bundle
 * has ours.
 */
import { makeBadge } from 'badge-maker';
import { describe, expect, it } from 'vitest';
import textWidth from '../../src/badges/text-width.ts';

const PADDING = 5;

/** How wide badge-maker draws a text: rounded down to a whole pixel, and up to an odd one. */
function drawnWidth(text: string): number {
  const width = Number(/ width="(\d+)"/.exec(makeBadge({ message: text }))?.[1]);
  return width - 2 * PADDING;
}

function odd(pixels: number): number {
  return pixels % 2 === 0 ? pixels + 1 : pixels;
}

describe('the width of a text', () => {
  it('is that of badge-maker for every printable ASCII character', () => {
    for (let code = 0x21; code <= 0x7e; code++) {
      // Ninety-nine of them show a hundredth of a pixel, up to the rounding to odd numbers.
      const text = String.fromCharCode(code).repeat(99);
      expect([text, odd(Math.floor(textWidth(text)))]).toEqual([text, drawnWidth(text)]);
    }
  });

  it.each(['Anonymous PRs', 'anonymous-friendly', 'not verified', 'deployed', 'suspended', '1234567890'])(
    'is that of badge-maker for "%s"',
    (text) => {
      expect(odd(Math.floor(textWidth(text)))).toBe(drawnWidth(text));
    },
  );

  it('leaves room for what it does not know', () => {
    expect(textWidth('漢')).toBe(textWidth('%'));
  });
});
