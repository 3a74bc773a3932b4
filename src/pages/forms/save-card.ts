/**
 * Shows what only this answer tells, to be saved: in one block that is selected at once, and as a
 * file. The link holds the file, so no request and no log ever has it.
 * Proved by test/browser/saved.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import { COPIED } from '../commands.ts';
import { card, type Html } from '../layout.ts';

interface Saved {
  /** Values by their names. */
  readonly lines: Readonly<Record<string, string>>;
  readonly note: Html | string;
  readonly fileName: string;
  /** The end of the card. */
  readonly more?: Html;
}

/** The page also needs COPY_SCRIPT, which shows the button. */
export function saveCard({ lines, note, fileName, more }: Saved): Html {
  const width = Math.max(...Object.keys(lines).map((name) => name.length)) + 2;
  const text = Object.entries(lines)
    .map(([name, value]) => `${`${name}:`.padEnd(width)}${value}\n`)
    .join('');
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
  const content = html`<p>${note}</p>
    <pre class="saved" tabindex="0" aria-label="What to save" role="region">${'\n'}${text}</pre>
    <button type="button" class="quiet" data-copy hidden>
      Copy<span class="unseen"> what to save</span>
    </button>
    ${COPIED}
    <p><a href="${file}" download="${fileName}">Download it as a text file</a></p>
    ${more ?? ''}`;
  return card('save', 'Save this now', content);
}
