/**
 * The footer of a comment, which a person sees once, however the author's Markdown and HTML try to
 * hide it.
 */
import * as fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { expect, it } from 'vitest';
import { footerProblem } from '../../src/text/footer-room.ts';
import { readMarkdown } from '../../src/text/markdown.ts';
import { commentText } from '../../src/text/footer.ts';
import { hostileMarkdown } from '../text/support/hostile-markdown.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { exhaustive } from '../support/exhaustive.ts';

const OURS = { hash: '1a2b3c4d', karma: 3, origin: 'https://veil.test' };
const BODIES = 20_000;
/** Runs in the browser: those pages on which the one footer that is seen is not ours. */
const WITHOUT_OURS = String.raw`(pages) => {
  const isFooter = ({ innerText }) => /anon-[0-9a-f]{8}\s*·\s*karma \(\d+\)\s*·\s*report/.test(innerText);
  return pages.filter((html) => {
    // Parsed in a document of its own, where nothing is loaded and nothing runs.
    const parsed = new DOMParser().parseFromString('<main>' + html + '</main>', 'text/html');
    for (const element of parsed.querySelectorAll('img, script, source, link')) element.remove();
    document.body.replaceChildren(...parsed.body.childNodes);
    const footers = [...document.querySelectorAll('p, li, td, th, h1, div')].filter(
      (element) =>
        isFooter(element) &&
        element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) &&
        element.closest('blockquote, pre, code') === null &&
        ![...element.children].some(isFooter),
    );
    const [footer] = footers;
    const link = footer?.querySelector('a[href="https://veil.test/v1/moderation/report?hash=1a2b3c4d"]');
    return footers.length !== 1 || !link || Number.parseFloat(getComputedStyle(footer).fontSize) < 16;
  });
}`;

const chromium = useChromium();

describeInBrowser('a comment that is taken', () => {
  it('shows one footer, and it is ours', exhaustive, async () => {
    const markdown = new MarkdownIt({ html: true });
    const bodies = fc
      .sample(hostileMarkdown, { numRuns: BODIES, seed: 1 })
      .filter((body) => footerProblem(readMarkdown(body)) === null);
    const pages = bodies.map((body) => markdown.render(commentText(body, OURS)));
    const page = await chromium.newPage();
    expect(await page.evaluate(`(${WITHOUT_OURS})(${JSON.stringify(pages)})`)).toEqual([]);
    expect(pages.length).toBeGreaterThan(BODIES / 50);
  });
});
