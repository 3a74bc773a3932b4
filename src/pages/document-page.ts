/** The pages that docs/privacy.md and docs/maintainers.md are served as. */
import { html, raw } from 'hono/html';
import type { Links, Page } from './layout.ts';

/**
 * @param text of documents.ts.
 * @param origin of the service, which examples name.
 */
export function documentPage(
  title: string,
  description: string,
  text: string,
  { sourceRepo }: Pick<Links, 'sourceRepo'>,
  origin: string,
): Page {
  const linked = text
    .replaceAll('href="@/', () => `href="${sourceRepo}/`)
    .replaceAll('&lt;service&gt;', () => origin);
  return {
    title: `${title} · gitveil`,
    description,
    content: html`<main class="narrow"><article class="document">${raw(linked)}</article></main>`,
  };
}
