/** The pages that docs/privacy.md and docs/maintainers.md are served as. */
import { html, raw } from 'hono/html';
import { contactLink, type Frame, type Page } from './layout.ts';

/**
 * @param text of documents.ts.
 * @param origin of the service, which examples name.
 */
export function documentPage(
  title: string,
  description: string,
  text: string,
  { sourceRepo, operatorContact }: Frame,
  origin: string,
): Page {
  const linked = text
    .replaceAll('href="@/', () => `href="${sourceRepo}/`)
    .replaceAll('&lt;service&gt;', () => origin);
  const operator =
    operatorContact === null
      ? 'The operator of this service names no address to write to.'
      : html`To reach the operator of this service: ${contactLink(operatorContact)}.`;
  return {
    title: `${title} · gitveil`,
    description,
    content: html`<main class="narrow">
      <p class="soft">${operator}</p>
      <article class="document">${raw(linked)}</article>
    </main>`,
  };
}
