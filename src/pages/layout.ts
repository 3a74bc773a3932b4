/**
 * The frame of every page. A page loads nothing: its Content-Security-Policy allows only its own
 * style and script, by their hashes. Hono's `html` escapes values.
 */
import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { Config } from '../config/config.ts';
import type { Contact } from '../config/values.ts';
import { UNSEEN_CHARACTERS } from '../edit/unseen.ts';
import { codeOf } from '../words/host-text.ts';
import HEADER_HTML from './fragments/header.html';
import PROMISES_HTML from './fragments/promises.html';
import STYLE_CSS from './style.css';

export const DCO_URL = 'https://developercertificate.org/';

export type Html = ReturnType<typeof html>;

export interface Page {
  readonly title: string;
  readonly description: string;
  readonly content: Html;
  /** A script without which the page works, too. It must never contain text of a request. */
  readonly script?: string;
  /** False keeps the page out of search engines. */
  readonly isIndexed?: boolean;
  /** The words about cookies in the footer. Default: `No cookies`. */
  readonly cookies?: string;
  /** The path of the Atom feed with the same content. */
  readonly feedPath?: string;
}

const MASK = 'M16 3C9 3 4 6 4 13c0 9 6 13 12 16 6-3 12-7 12-16 0-7-5-10-12-10Z';
const EYES = 'M8 15q3.5-3 7 0-3.5 3-7 0Zm9 0q3.5-3 7 0-3.5 3-7 0Z';
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#0b8577" d="${MASK}"/><path fill="#fff" d="${EYES}"/></svg>`;

export const PRIVACY_PATH = '/privacy';

export function renderPage(
  { title, description, content, script, isIndexed = true, cookies = 'No cookies', feedPath }: Page,
  { sourceRepo, commitHash, operatorContact }: Pick<Config, 'sourceRepo' | 'commitHash' | 'operatorContact'>,
): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <meta name="description" content="${description}" />
        ${isIndexed ? '' : html`<meta name="robots" content="noindex" />`}
        <meta property="og:title" content="${title}" />
        <meta property="og:description" content="${description}" />
        <link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}" />
        ${feedPath === undefined ? '' : html`<link rel="alternate" type="application/atom+xml" href="${feedPath}" />`}
        ${raw(`<style>${STYLE_CSS}</style>`)}
      </head>
      <body>
        ${filled(HEADER_HTML, { mask: `${MASK} ${EYES}`, source: sourceRepo })} ${content}
        <footer>
          <span>${cookies}, no accounts, nothing loaded from elsewhere.</span>
          ${operatorContact === null ? '' : html`<span>Operator: ${contactLink(operatorContact)}</span>`}
          <span>Revision <a class="mono" href="/health">${commitHash.slice(0, 12)}</a></span>
        </footer>
        ${script === undefined ? '' : raw(`<script>${script}</script>`)}
      </body>
    </html>`;
}

export function unlistedPage(
  title: string,
  description: string,
  content: Html,
  width: 'narrow' | 'wide' = 'narrow',
): Page {
  return {
    title: `${title} · gitveil`,
    description,
    isIndexed: false,
    content: html`<main class="${width}">${content}</main>`,
  };
}

/** Fills escaped values into HTML of our own where it has `{{name}}`. */
export function filled(text: string, values: Readonly<Record<string, string | number | Html>> = {}): Html {
  const pieces = text.split(/\{\{(\w+)\}\}/);
  return html`${pieces.map((piece, index) => (index % 2 === 1 ? (values[piece] ?? `{{${piece}}}`) : raw(piece)))}`;
}

/** @param id the id of its heading. */
export function card(id: string, heading: Html | string, content: Html | Html[]): Html {
  return html`<section class="card" aria-labelledby="${id}">
    <h2 id="${id}">${heading}</h2>
    ${content}
  </section>`;
}

/**
 * Shows a card that is closed until somebody opens it.
 * @param id the id of its heading.
 */
export function folded(id: string, heading: string, content: Html): Html {
  return html`<details class="card">
    <summary><h2 id="${id}">${heading}</h2></summary>
    <div>${content}</div>
  </details>`;
}

/**
 * @param nothing the words of an empty list.
 * @param look `threads` for titles with facts beside them, which stand below on a telephone.
 */
export function listCard(
  id: string,
  heading: string,
  items: Html[],
  nothing: string,
  look: 'list' | 'threads' = 'list',
): Html {
  const list = html`<ul class="${look}">
    ${items}
  </ul>`;
  return card(id, heading, items.length === 0 ? html`<p class="soft">${nothing}</p>` : list);
}

/** @param facts values by their names; null values are left out. */
export function factList(facts: Readonly<Record<string, Html | string | null>>): Html {
  const known = Object.entries(facts).filter(([, value]) => value !== null);
  return html`<dl class="facts">
    ${known.flatMap(([name, value]) => [html`<dt>${name}</dt>`, html`<dd>${value}</dd>`])}
  </dl>`;
}

/** Shows what the service removes, and what it cannot, side by side, perhaps with another card. */
export function promises(beside: Html | '' = ''): Html {
  return html`<div class="columns">${filled(PROMISES_HTML)} ${beside}</div>`;
}

/** Shows a state in words and in a colour of the style. */
export function dotted(tone: string, words: Html | string): Html {
  return html`<span class="${tone}"><span class="dot" aria-hidden="true"></span>${words}</span>`;
}

export function statusLine(tone: string, words: Html | string): Html {
  return html`<p class="status">${dotted(tone, words)}</p>`;
}

/** Counts in words: `1 line`, `2,000 lines`, `2 pushes`. */
export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : noun.endsWith('h') ? 'es' : 's'}`;
}

/**
 * Writes a time in ISO 8601, in UTC.
 * @param at seconds since 1970.
 */
export function isoTime(at: number): string {
  return `${new Date(at * 1000).toISOString().slice(0, 19)}Z`;
}

/** @param time as `isoTime` writes it. */
export function timeElement(time: string, size: '' | ' small' = ''): Html {
  return html`<time class="soft${size}" datetime="${time}">${time.replace(/[TZ]/g, ' ')}UTC</time>`;
}

export function contactLink({ url, text }: Contact): Html {
  return html`<a href="${url}">${text}</a>`;
}

const STYLE_SOURCE = hashSource(STYLE_CSS);

/** Makes the headers of a page. The policy allows only the script and style of this page. */
export function pageHeaders({ script }: Pick<Page, 'script'>): Record<string, string> {
  const own = `default-src 'none'; style-src ${STYLE_SOURCE}`;
  const scripts = script === undefined ? '' : `script-src ${hashSource(script)}; `;
  const rest = "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
  return { 'Content-Security-Policy': `${own}; ${scripts}${rest}`, Vary: 'Accept' };
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Gives `#` in place of addresses that are not http, because others could run in the page. */
export function safeUrl(url: string): string {
  return /^https?:\/\//.test(url) ? url : '#';
}

/** Warns of opening the address of a pull request at the code host. */
export const OPENED_EARLY = 'Whoever opens it early looks like its author there.';

/** Shows the address at the code host, as the last line of a page. */
export function hostLine(url: string): Html {
  const link = html`<a href="${safeUrl(url)}" rel="noreferrer">${url}</a>`;
  return html`<p class="soft small">At the code host: ${link}. ${OPENED_EARLY}</p>`;
}

/**
 * Matches characters that change the direction of what follows (Unicode Standard Annex 9), and
 * those that a terminal obeys.
 */
const OBEYED_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|(?![\t\n\r])\p{Cc}/gu;

/**
 * Writes out direction marks in a repository's text, which let a name or line look like another
 * (CVE-2021-42574), and control characters, because somebody may read a page with curl.
 */
export function visibleText(text: string): string {
  return text.replaceAll(OBEYED_MARKS, codeOf);
}

/**
 * Writes out everything invisible in a text, for those who decide whether it becomes public.
 * @param text as `decodeEscaped` gives it.
 */
export function exactText(text: string): string {
  return text.replaceAll(UNSEEN_CHARACTERS, codeOf);
}
