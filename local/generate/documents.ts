/**
 * `npm run documents`: generates the pages of src/pages/documents, from documents and from the
 * API's description, and the tables of docs/storage.md. A test says when one is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import MarkdownIt from 'markdown-it';
import { apiPage } from './api-page/api-page.ts';
import type { ApiDocument } from './api-page/document.ts';
import { readArguments } from '../arguments.ts';
import { startService } from '../runtime/service.ts';
import { withStageTables } from './stage-tables.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Paths in the repository, and on the service. */
const SERVED = { 'docs/privacy.md': '/privacy', 'docs/maintainers.md': '/maintainers' } as const;
const STORAGE = 'docs/storage.md';

/**
 * Generates the pages' contents, by their files. Parts that the service fills in are written as
 * `{{name}}`.
 * @param service the address of a service, which describes its API
 */
export async function madePages(service: string): Promise<Readonly<Record<string, string>>> {
  const description = await (await fetch(`${service}/openapi.json`)).json();
  const pages = Object.entries(SERVED).flatMap(([file, path]) => [
    [`src/pages/documents${path}.html`, htmlOf(file)],
    [`src/pages/documents${path}.txt`, markdownOf(file)],
  ]);
  return {
    ...Object.fromEntries(pages),
    'src/pages/documents/api.html': await apiPage(description as ApiDocument),
    [STORAGE]: withStageTables(readFileSync(join(ROOT, STORAGE), 'utf8')),
  };
}

/**
 * Writes a document for terminals. The text is the same, but links lead where those of the page do,
 * and there are no pictures.
 */
function markdownOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
    .replaceAll(/^\|.*\|$/gm, (row) => row.replaceAll(/ {2,}/g, ' ').replaceAll(/-{4,}/g, '---'))
    .replaceAll(/^!\[.*\]\(images\/.*\)\n\n?/gm, '')
    .replaceAll(/(?<=\]\()[^)\s]+(?=\))/g, (href) => {
      if (href.startsWith('<service>')) return href;
      const address = addressOf(file, href);
      return address.startsWith('/') ? `{{service}}${address}` : address;
    })
    .replaceAll('<service>', '{{service}}')
    .replaceAll('<address of the App>', '{{app}}')
    .replaceAll('<signing key>', '{{signing_key}}');
}

function htmlOf(file: string): string {
  const markdown = new MarkdownIt({ linkify: false });
  const { rules } = markdown.renderer;
  const sections: string[] = [];
  markdown.core.ruler.push('pages', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      const heading = tokens[index + 1]?.content ?? '';
      if (token.type === 'heading_open') token.attrSet('id', slug(heading));
      if (token.type === 'heading_open' && token.tag === 'h2') sections.push(heading);
      for (const inline of token.children ?? []) {
        const href = inline.attrGet('href');
        if (href !== null) inline.attrSet('href', addressOf(file, String(href)));
      }
    }
  });
  // A page loads nothing, so it has no pictures.
  rules.image = () => '';
  rules.table_open = () => '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n';
  rules.table_close = () => '</table></div>\n';
  rules.fence = (tokens, index) =>
    `<pre><code>${markdown.utils.escapeHtml(tokens[index]!.content)}</code></pre>\n`;
  const html = markdown.render(readFileSync(join(ROOT, file), 'utf8')).replaceAll('<p></p>\n', '');
  const links = sections.map(
    (heading) => `<li><a href="#${slug(heading)}">${markdown.renderInline(heading)}</a></li>`,
  );
  const index = `<nav class="card" aria-label="Contents">\n<ul>\n${links.join('\n')}\n</ul>\n</nav>\n`;
  // The index comes below the title and the introduction.
  return html
    .replace('<h2', () => `${index}<h2`)
    .replaceAll('&lt;service&gt;', '{{service}}')
    .replaceAll('&lt;address of the App&gt;', '{{app}}')
    .replaceAll('&lt;signing key&gt;', '{{signing_key}}');
}

/** Makes the anchor of a heading as GitHub does. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Finds where a link of a document leads from its page. */
function addressOf(file: string, href: string): string {
  if (/^(#|https?:)/.test(href)) return href;
  const [path = '', fragment] = href.split('#');
  const target = relative(ROOT, join(ROOT, dirname(file), path));
  const served = SERVED[target as keyof typeof SERVED] ?? `{{source}}/blob/HEAD/${target}`;
  return fragment === undefined ? served : `${served}#${fragment}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  readArguments(
    'Usage: npm run documents\n\nWrites the pages of src/pages/documents, and the tables of docs/storage.md.',
    {},
  );
  const service = await startService({ env: {}, stateDir: null });
  try {
    for (const [file, page] of Object.entries(await madePages(service.url)))
      writeFileSync(join(ROOT, file), page);
  } finally {
    await service.dispose();
  }
}
