/**
 * A real browser, and everything it noticed that no page of ours may cause: requests to elsewhere,
 * errors, violations of the page's policy.
 */
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject } from 'vitest';
import { executablePath } from './one-chromium.ts';

if (executablePath === undefined) {
  console.warn(
    'The tests in a browser need Chromium (apt-get install chromium-headless-shell, or set CHROMIUM).',
  );
}

export const describeInBrowser = describe.skipIf(executablePath === undefined);

export interface Chromium {
  /** A page without any history: no cookies, no cache. */
  newPage(options?: BrowserContextOptions): Promise<Page>;
  /**
   * Fails unless a page is accessible in light and dark, and fits a telephone and a desk. Looks at
   * a copy, because axe cannot run where scripts are switched off.
   */
  expectFit(page: Page): Promise<void>;
}

/** The browser of all files. After each test it must have noticed nothing. */
export function useChromium(): Chromium {
  let browser: Browser | null = null;
  let noticed: string[] = [];
  /** One for all tests of the file: to load axe takes longer than to run it. */
  let copy: Page | null = null;
  beforeAll(async () => {
    if (executablePath === undefined) return;
    const answer = await fetch(inject('chromiumUrl'));
    const address = await answer.text();
    if (!answer.ok) throw new Error(address);
    browser = await chromium.connect(address);
  });
  afterEach(async () => {
    const used = (browser?.contexts() ?? []).filter((context) => context !== copy?.context());
    await Promise.all(used.map((context) => context.close()));
    const all = noticed;
    noticed = [];
    expect(all).toEqual([]);
  });
  afterAll(() => browser?.close());
  return {
    async newPage(options = {}) {
      if (browser === null) throw new Error('there is no Chromium on this machine');
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
      const page = await context.newPage();
      const own = new URL(options.baseURL ?? 'about:blank').origin;
      page.on('request', (request) => {
        const { protocol, origin } = new URL(request.url());
        if (protocol !== 'data:' && origin !== own) noticed.push(`request to ${request.url()}`);
      });
      page.on('console', (message) => {
        // Pages that refuse something have a status that says so.
        const isRefusal = /^Failed to load resource: .* status of 4\d\d/.test(message.text());
        if (!isRefusal) noticed.push(`${message.type()}: ${message.text()}`);
      });
      page.on('pageerror', (error) => noticed.push(`error: ${error.message}`));
      return page;
    },
    async expectFit(page) {
      copy ??= await this.newPage();
      // Its scripts have run.
      await copy.setContent((await page.content()).replaceAll(/<script\b.*?<\/script>/gs, ''));
      await expectFit(copy);
    },
  };
}

async function expectFit(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await accessibilityProblems(page)).toEqual([]);
  // Only its colours are others in the dark.
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await accessibilityProblems(page, { runOnly: ['color-contrast', 'link-in-text-block'] })).toEqual(
    [],
  );
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await cutOff(page)).toEqual([]);
  }
}

/**
 * Lists what axe finds wrong with the page for people who see, hear or move differently; empty:
 * nothing.
 */
async function accessibilityProblems(page: Page, rules: axe.RunOptions = {}): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  // Of what it finds right, which is most of a page, nobody needs a description.
  const options: axe.RunOptions = { ...rules, resultTypes: ['violations'], selectors: false };
  return page.evaluate<string[]>(`axe.run(${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.map((node) => node.html).join(' ')))`);
}

/**
 * Lists what is wider than its place, so that people must scroll sideways or never see its end;
 * empty: nothing. The text of a file is as wide as its lines, and a table as its columns: those say
 * so by scrolling on their own.
 */
export function cutOff(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const isCut = (element) =>
      element.scrollWidth > element.clientWidth + 1 &&
      getComputedStyle(element).overflowX !== 'visible' &&
      element.clientWidth > 1 &&
      !element.matches('input:not([readonly]), textarea, :has(> table)');
    const wide = document.documentElement.scrollWidth - window.innerWidth;
    return [
      ...(wide > 0 ? ['the page, by ' + wide] : []),
      ...Array.from(document.querySelectorAll('body *')).filter(isCut).map((one) => one.outerHTML.slice(0, 200)),
    ];
  })()`);
}
