/**
 * Steps that the tests of forms share: a person's browser without script, and what they do with it.
 */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { savedIn } from '../../e2e/support/form-client.ts';
import type { TestBed } from '../../e2e/support/test-bed.ts';

/** The browser of a new person, who tells of themselves in every header; script is off. */
export function browserOf(bed: TestBed): BrowserContextOptions {
  const person = bed.person();
  // A browser refuses to send a page's address that is not its own.
  const { Referer: _, ...headers } = person.headers;
  return {
    baseURL: bed.service.url,
    extraHTTPHeaders: headers,
    userAgent: person.userAgent,
    javaScriptEnabled: false,
  };
}

export function heading(page: Page, name: string | RegExp): Promise<void> {
  return page.getByRole('heading', { level: 1, name }).waitFor();
}

/** Reads what the page says to save under the name. */
export async function saved(page: Page, name: string): Promise<string> {
  return savedIn(await page.content(), name);
}

export function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name }).click();
}
