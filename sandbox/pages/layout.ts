/** Renders the frame of every page, and the small parts that several pages share. */
import type { Answer } from '../rest/api-call.ts';
import type { HtmlPart } from './html.ts';
import { Html, html } from './html.ts';

const STYLE = new Html(`
  :root { color-scheme: light dark; --line: light-dark(#d0d7de, #3d444d); --soft: light-dark(#f6f8fa, #161b22);
    --dim: light-dark(#59636e, #9198a1); --add: light-dark(#dafbe1, #12351f); --del: light-dark(#ffebe9, #3f1a1d); }
  * { box-sizing: border-box; }
  html { background: light-dark(#fff, #0d1117); color: light-dark(#1f2328, #f0f6fc); }
  body { margin: 0 auto; max-width: 62rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
  nav, .dim { color: var(--dim); }
  h1 { font-size: 1.5rem; margin: .5rem 0; overflow-wrap: anywhere; }
  h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; }
  ul.list { list-style: none; margin: 0; padding: 0; border: 1px solid var(--line); border-radius: .4rem; }
  ul.list > li { padding: .6rem .8rem; overflow-wrap: anywhere; }
  ul.list > li + li { border-top: 1px solid var(--line); }
  pre, code { font: .85rem/1.45 ui-monospace, monospace; }
  pre { background: var(--soft); border-radius: .4rem; margin: .5rem 0; overflow-wrap: anywhere; padding: .7rem; white-space: pre-wrap; }
  .text { white-space: pre-wrap; overflow-wrap: anywhere; }
  .state { border-radius: 1rem; font-size: .8rem; padding: .15rem .7rem; color: #fff; background: #59636e; }
  .open { background: #1a7f37; }
  .merged { background: #8250df; }
  a { color: light-dark(#0550ae, #4493f8); }
  form { margin: .75rem 0; }
  label, legend { font-weight: 600; }
  fieldset { border: 1px solid var(--line); border-radius: .4rem; margin: 0 0 .5rem; }
  fieldset label { display: inline-block; font-weight: 400; margin-right: 1rem; }
  textarea { display: block; font: .9rem/1.45 ui-monospace, monospace; margin: .25rem 0 .5rem; min-height: 7rem;
    padding: .5rem; width: 100%; }
  button { font: inherit; margin: 0 .4rem .4rem 0; padding: .3rem .9rem; }
  .diff span { display: inline-block; min-width: 100%; }
  .add { background: var(--add); }
  .del { background: var(--del); }
  dl { display: grid; gap: .1rem 1rem; grid-template-columns: max-content 1fr; margin: .4rem 0; }
  dt { color: var(--dim); }
  dd { margin: 0; overflow-wrap: anywhere; }
`);

/**
 * Renders a whole page.
 * @param path links from the host's front page to this one.
 */
export function pageAnswer(title: string, path: readonly Html[], content: Html, status = 200): Answer {
  const crumbs = [html`<a href="/">Sandbox</a>`, ...path].map((crumb, index) =>
    index === 0 ? crumb : html` / ${crumb}`,
  );
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${STYLE}
        </style>
      </head>
      <body>
        <nav aria-label="Path">${crumbs}</nav>
        <main>${content}</main>
      </body>
    </html>`;
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    },
    body: `${document.text}\n`,
  };
}

/** Renders a page with one message. */
export function messagePage(status: number, title: string, message: string): Answer {
  return pageAnswer(
    title,
    [],
    html`<h1>${title}</h1>
      <p>${message}</p>`,
    status,
  );
}

/** Renders a heading with a list below it, or with a word if the list is empty. */
export function section(title: string, items: readonly Html[], emptiness: string): Html {
  const list = html`<ul class="list">
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;
  return html`<h2>${title}</h2>
    ${items.length === 0 ? html`<p class="dim">${emptiness}</p>` : list}`;
}

/** Renders a text of people, with its lines as they wrote them. */
export function writtenText(text: string | null): Html {
  return text ? html`<div class="text">${text}</div>` : html`<p class="dim">No description.</p>`;
}

export function moment(iso: string): Html {
  return html`<time datetime="${iso}">${iso.replace('T', ' ').replace('Z', ' UTC')}</time>`;
}

export function link(href: string, text: HtmlPart): Html {
  return html`<a href="${href}">${text}</a>`;
}

/** Renders a patch, with added and removed lines marked. */
export function diff(text: string): Html {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const kind = /^\+(?!\+\+ )/.test(line) ? 'add' : /^-(?!-- )/.test(line) ? 'del' : '';
      return html`<span class="${kind}">${line}</span>${'\n'}`;
    });
  return html`<pre class="diff">${lines}</pre>`;
}
