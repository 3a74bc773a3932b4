/**
 * Every link from a document to this repository leads somewhere: to a file, and to a heading if it
 * names one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { slug } from '../../local/generate/documents.ts';
import { ROOT } from './programs.ts';

const DOCUMENTS = ['.', 'docs', 'docs/decisions', '.github', '.github/ISSUE_TEMPLATE'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);
const markdown = new MarkdownIt({ html: true });

interface Document {
  /** Addresses of links and pictures. */
  readonly links: readonly string[];
  readonly headings: ReadonlySet<string>;
}

function read(file: string): Document {
  const tokens = markdown.parse(readFileSync(join(ROOT, file), 'utf8'), {});
  const headings = tokens.flatMap((token, index) =>
    token.type === 'heading_open' ? [slug(tokens[index + 1]?.content ?? '')] : [],
  );
  const links = tokens
    .flatMap(({ children }) => children ?? [])
    .map((inline) => inline.attrGet('href') ?? inline.attrGet('src'))
    .filter((address) => address !== null);
  return { links: links.map(String), headings: new Set(headings) };
}

/** Says what is wrong with a link; `null` if it leads to something, or out of the repository. */
function faultOf(link: string, from: string): string | null {
  if (/^(https?|mailto):/.test(link)) return null;
  const [path = '', fragment] = link.split('#');
  const target = path === '' ? from : join(dirname(from), path);
  if (!existsSync(join(ROOT, target))) return `${link}: there is no ${target}`;
  const hasHeading = fragment === undefined || read(target).headings.has(decodeURIComponent(fragment));
  return hasHeading ? null : `${link}: ${target} has no such heading`;
}

describe.each(DOCUMENTS)('%s', (file) => {
  it('has no dead link', () => {
    expect(
      read(file)
        .links.map((link) => faultOf(link, file))
        .filter((fault) => fault !== null),
    ).toEqual([]);
  });
});
