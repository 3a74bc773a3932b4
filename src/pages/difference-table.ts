/**
 * Shows what changes in a file, line by line, with marks around the addresses that it adds.
 */
import { html } from 'hono/html';
import { aroundAddresses } from '../edit/addresses.ts';
import type { Difference, ShownLine } from '../edit/lines.ts';
import { countOf, type Html, visibleText } from './layout.ts';

/**
 * Names of unusual line ends, which a changed line shows, because only its end may have changed.
 */
const LINE_ENDS: Readonly<Record<string, string>> = { '': 'no line end', '\r\n': 'CR LF', '\r': 'CR' };
const COLUMNS = ['Old line', 'New line', 'Change', 'Text'].map((name) => html`<th scope="col">${name}</th>`);
const SIGNS = { same: ' ', added: '+', removed: '−' } as const;

/**
 * @param shown writes out what must not hide in a line.
 * @param label names the table among several of the page.
 */
export function differenceTable(
  caption: string,
  { hunks, added, removed, remarks }: Difference,
  shown: (text: string) => string = visibleText,
  label = caption,
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
      <table class="difference">
        <caption>
          ${caption}
          <span class="soft">${countOf(added, 'line')} added, ${countOf(removed, 'line')} removed</span>
        </caption>
        <thead class="unseen">
          <tr>
            ${COLUMNS}
          </tr>
        </thead>
        ${hunks.map(
          (lines) =>
            html`<tbody>
              ${lines.map((line) => row(line, shown))}
            </tbody>`,
        )}
      </table>
    </div>
    ${remarks.map((remark) => html`<p class="soft small">${remark}</p>`)}`;
}

function row({ kind, before, after, text, end: lineEnd }: ShownLine, shown: (text: string) => string): Html {
  const word = kind === 'same' ? '' : html`<span class="unseen">${kind}</span>`;
  const isUsual = lineEnd === '\n' || (kind === 'same' && lineEnd !== '');
  const end = isUsual ? '' : html` <span class="soft small">(${LINE_ENDS[lineEnd]})</span>`;
  return html`<tr class="${kind}">
    <td>${before ?? ''}</td>
    <td>${after ?? ''}</td>
    <td><span aria-hidden="true">${SIGNS[kind]}</span>${word}</td>
    <td><code>${kind === 'added' ? withMarks(text, shown) : shown(text)}</code>${end}</td>
  </tr>`;
}

function withMarks(text: string, shown: (text: string) => string): (Html | string)[] {
  return aroundAddresses(text).map((piece, index) => {
    return index % 2 === 1 ? html`<mark>${shown(piece)}</mark>` : shown(piece);
  });
}
