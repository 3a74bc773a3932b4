/**
 * Badges as a browser draws them, in a page of someone else: whole, and with their texts inside
 * their boxes.
 */
import { expect, it } from 'vitest';
import { useOwnTestBed } from '../e2e/support/test-bed.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bed = useOwnTestBed({ env: { COMMIT_HASH: 'c0ffee0123456789' } });
const chromium = useChromium();

interface Drawn {
  readonly size: [width: number, height: number];
  readonly texts: string[];
  /** How far any text leaves its own half, in pixels. */
  readonly overhang: number;
}

/** Runs in the browser, on the document of a badge. */
const MEASURE = `(() => {
  const svg = document.documentElement;
  const [left, right] = [...svg.querySelectorAll('rect[fill^="#"]')].map((rect) => rect.getBoundingClientRect());
  const texts = [...svg.querySelectorAll('text:not([fill-opacity])')];
  const overhangs = texts.map((text, index) => {
    const box = text.getBoundingClientRect();
    const half = index === 0 ? left : right;
    return Math.max(half.left - box.left, box.right - half.right);
  });
  const { width, height } = svg.getBoundingClientRect();
  return {
    size: [width, height],
    texts: texts.map((text) => text.textContent),
    overhang: Math.max(...overhangs),
  };
})()`;

describeInBrowser('a badge', () => {
  it.each([
    ['/badges/anonymous-friendly.svg', ['anonymous-friendly', 'not verified']],
    ['/badges/deployed.svg', ['deployed', 'c0ffee0']],
    ['/badges/deployed.svg?commit=WWWWWWW', ['deployed', 'WWWWWWW']],
    ['/badge/octo/hello', ['Anonymous PRs', '0']],
  ])('shows its texts inside its boxes: %s', exhaustive, async (path, texts) => {
    const page = await chromium.newPage({ baseURL: bed.service.url });
    await page.goto(path);
    const drawn = await page.evaluate<Drawn>(MEASURE);
    expect(drawn.texts).toEqual(texts);
    expect(drawn.size[1]).toBe(20);
    expect(drawn.overhang).toBeLessThan(0);
  });

  it('is shown by the pages of others', exhaustive, async () => {
    const page = await chromium.newPage({ baseURL: bed.service.url });
    await page.setContent(`<img src="${bed.service.url}/badge/octo/hello" alt="">`);
    const [width, height] = await page.evaluate<[number, number]>(`(async () => {
      const image = document.querySelector('img');
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    })()`);
    expect(width).toBeGreaterThan(100);
    expect(height).toBe(20);
  });
});
