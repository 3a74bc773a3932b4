/**
 * Shows the files that a push changes, with their differences, to those who decide about it.
 * Proved by test/routes/moderation/delayed.test.ts and test/e2e/people/file-form.test.ts.
 */
import { html } from 'hono/html';
import type { ChangedFile, Changes } from '../edit/changes.ts';
import { differenceTable } from './difference-table.ts';
import { countOf, exactText, type Html } from './layout.ts';

const CHANGES = {
  added: 'New',
  removed: 'Removed',
  changed: 'Changed',
  earlier: 'Only in an earlier commit',
  elsewhere: 'In no folder that could be compared',
} as const;

export function changesList({ files, gaps }: Changes): Html {
  return html`${gaps.map((gap) => html`<p class="notice">${exactText(gap)}</p>`)}
  ${files.length === 0 && gaps.length === 0 ? html`<p>It changes no file.</p>` : ''} ${files.map(fileOf)}`;
}

function fileOf({ path, kind, mode, bytes, difference, remarks }: ChangedFile): Html {
  const name = exactText(path);
  const facts = [mode && `Mode ${mode}`, bytes !== null && countOf(bytes, 'byte')].filter(Boolean);
  return html`<h3>${CHANGES[kind]}: <code>${name}</code></h3>
    ${facts.length === 0 ? '' : html`<p class="soft small">${facts.join(', ')}</p>`}
    ${remarks.map((remark) => html`<p class="soft">${exactText(remark)}</p>`)}
    ${difference === null ? '' : differenceTable(name, difference, exactText)}`;
}
