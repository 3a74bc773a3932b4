/**
 * `npm run documents`: makes of the documents that the service itself serves what src/pages/documents.ts holds. A test
 * says when that is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import MarkdownIt from 'markdown-it';
import { readArguments } from './arguments.ts';

const ROOT = join(import.meta.dirname, '..');
const FILE = 'src/pages/documents.ts';
/** Their paths in the repository, and on the service. */
const SERVED = { 'docs/privacy.md': '/privacy', 'docs/maintainers.md': '/maintainers' } as const;

/** The module with all documents, as HTML. */
export function documentsModule(): string {
  const constants = Object.entries(SERVED).map(([file, path]) => {
    const name = path.slice(1).toUpperCase();
    const text = htmlOf(file).replaceAll(/[\\`]|\$\{/g, String.raw`\$&`);
    return `\n/** GET ${path} */\nexport const ${name} = \`${text}\`;\n`;
  });
  return `/** Made by \`npm run documents\` of ${Object.keys(SERVED).join(' and ')}: change those. */\n${constants.join('')}`;
}

function htmlOf(file: string): string {
  const markdown = new MarkdownIt({ linkify: false });
  const { rules } = markdown.renderer;
  markdown.core.ruler.push('pages', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'heading_open') token.attrSet('id', slug(tokens[index + 1]?.content ?? ''));
      for (const inline of token.children ?? []) {
        const href = inline.attrGet('href');
        if (href !== null) inline.attrSet('href', addressOf(file, String(href)));
      }
    }
  });
  // A page loads nothing.
  rules.image = (tokens, index) => {
    const image = tokens[index]!;
    const address = addressOf(file, String(image.attrGet('src')));
    return `<a href="${address}">Picture: ${markdown.utils.escapeHtml(image.content)}</a>`;
  };
  rules.table_open = () => '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n';
  rules.table_close = () => '</table></div>\n';
  rules.fence = (tokens, index) =>
    `<pre tabindex="0"><code>${markdown.utils.escapeHtml(tokens[index]!.content)}</code></pre>\n`;
  // Comments are for those who read the source.
  return markdown.render(readFileSync(join(ROOT, file), 'utf8').replaceAll(/^<!--.*?-->\n/gms, ''));
}

/** As GitHub makes it. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Where a link of a document leads from its page. `@` is the repository's address, which the service knows. */
function addressOf(file: string, href: string): string {
  if (/^(#|https?:)/.test(href)) return href;
  const [path = '', fragment] = href.split('#');
  const target = relative(ROOT, join(ROOT, dirname(file), path));
  const served = SERVED[target as keyof typeof SERVED] ?? `@/blob/HEAD/${target}`;
  return fragment === undefined ? served : `${served}#${fragment}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  readArguments(
    `Usage: npm run documents\n\nWrites ${FILE}, with ${Object.keys(SERVED).join(' and ')} as pages.`,
    {},
  );
  writeFileSync(join(ROOT, FILE), documentsModule());
}
