/** A difference, line by line. Signs and words tell what was added and removed, not only colours. */
import { html } from 'hono/html';
import { aroundAddresses } from '../../edit/addresses.ts';
import type { Difference, ShownLine } from '../../edit/lines.ts';
import { countOf, type Html } from '../layout.ts';
import { visibleText } from '../visible-text.ts';

/** A changed line says how it ends, if not as usual: only that may be its change. */
const LINE_ENDS: Readonly<Record<string, string>> = { '': 'no line end', '\r\n': 'CR LF', '\r': 'CR' };
const SIGNS = { same: ' ', added: '+', removed: '−' } as const;

/** @param shown writes out what must not hide in its lines. */
export function differenceTable(
  caption: string,
  { hunks, added, removed, remarks }: Difference,
  shown: (text: string) => string = visibleText,
): Html {
  const bodies = hunks.map(
    (lines) =>
      html`<tbody>
        ${lines.map((line) => row(line, shown))}
      </tbody>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
      <table class="difference">
        <caption>
          ${caption}
          <span class="soft">${countOf(added, 'line')} added, ${countOf(removed, 'line')} removed</span>
        </caption>
        <thead class="unseen">
          <tr>
            <th scope="col">Old line</th>
            <th scope="col">New line</th>
            <th scope="col">Change</th>
            <th scope="col">Text</th>
          </tr>
        </thead>
        ${bodies}
      </table>
    </div>
    ${remarks.map((remark) => html`<p class="soft small">${remark}</p>`)}`;
}

function row({ kind, before, after, text, end: lineEnd }: ShownLine, shown: (text: string) => string): Html {
  const word = kind === 'same' ? '' : html`<span class="unseen">${kind}</span>`;
  const end =
    lineEnd === '\n' || (kind === 'same' && lineEnd !== '')
      ? ''
      : html` <span class="soft small">(${LINE_ENDS[lineEnd]})</span>`;
  return html`<tr class="${kind}">
    <td>${before ?? ''}</td>
    <td>${after ?? ''}</td>
    <td><span aria-hidden="true">${SIGNS[kind]}</span>${word}</td>
    <td><code>${kind === 'added' ? withMarks(text, shown) : shown(text)}</code>${end}</td>
  </tr>`;
}

/** Addresses stand out in what is added. */
function withMarks(text: string, shown: (text: string) => string): (Html | string)[] {
  return aroundAddresses(text).map((piece, index) => {
    return index % 2 === 1 ? html`<mark>${shown(piece)}</mark>` : shown(piece);
  });
}
