/** The folders of a repository, or the files that were looked for, to choose one. */
import { html } from 'hono/html';
import type { EntryKind } from '../../git/objects/tree.ts';
import type { Html, Page } from '../layout.ts';
import { visibleText } from '../visible-text.ts';
import { formPage, type FormPlace, hidden, problemNotice, queryField } from './parts.ts';

export interface ListedEntry {
  readonly kind: EntryKind;
  readonly name: string;
  /** Null: it cannot be changed here, as its name is not UTF-8. */
  readonly path: string | null;
}

export interface FolderPage extends FormPlace {
  readonly problem: string | null;
  /** What was typed. */
  readonly path: string;
  /** The path of the folder whose entries are shown. */
  readonly folder: string;
  readonly entries: readonly ListedEntry[];
  /** The pull request to update; empty: a new one. */
  readonly prHash: string;
}

const BUTTONS = html`<button type="submit" name="find" value="1">Find</button>
  <button type="submit" name="new" value="1" class="second">Add a file</button>`;
const MAX_ENTRIES = 1_000;
/** In this order, each by its name. */
const ORDER: readonly EntryKind[] = ['folder', 'file', 'symlink', 'submodule'];
const KIND_WORDS: Readonly<Record<EntryKind, string>> = {
  folder: '',
  file: '',
  symlink: 'link, cannot be changed here',
  submodule: 'submodule, cannot be changed here',
};

/** Where a file or a folder is shown. */
export function changeLink(action: string, path: string, prHash: string): string {
  const query = Object.entries({ path, pr_hash: prHash }).filter(([, value]) => value !== '');
  return query.length === 0 ? action : `${action}?${new URLSearchParams(query).toString()}`;
}

export function folderPage(page: FolderPage): Page {
  const { action, path, entries, problem, prHash } = page;
  const shown = entries
    .toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
    .slice(0, MAX_ENTRIES);
  const field = { name: 'path', label: 'Path of the file, or a part of it', value: path, maxLength: 4096 };
  const items = shown.map((entry) => html`<li>${entryLink(page, entry)}</li>`);
  return formPage(
    prHash === '' ? 'Change a file' : 'Change a file of your pull request',
    page,
    html`Choose a file, or name it. Nothing is sent until you have seen what becomes public.`,
    html`${problemNotice(problem)}
      <form method="get" action="${action}" class="card">
        ${hidden({ pr_hash: prHash })} ${queryField(field, 'docs/guide.md', BUTTONS)}
      </form>
      <nav class="crumbs" aria-label="Folders above">${trail(page)}</nav>
      <nav class="card" aria-label="Files">
        <ul class="list">
          ${items}
        </ul>
        ${
          entries.length > shown.length
            ? html`<p class="soft">There are ${entries.length - shown.length} more. Name the file above.</p>`
            : ''
        }
      </nav>`,
  );
}

function entryLink({ action, prHash }: FolderPage, { kind, name, path }: ListedEntry): Html {
  const words = path === null ? 'its name is not UTF-8, change it with Git' : KIND_WORDS[kind];
  const isOpen = path !== null && (kind === 'folder' || kind === 'file');
  const label = visibleText(kind === 'folder' ? `${name}/` : name);
  return html`${
    isOpen ? html`<a href="${changeLink(action, path, prHash)}">${label}</a>` : html`<span>${label}</span>`
  }
  ${words === '' ? '' : html`<span class="soft small">${words}</span>`}`;
}

/** The folders above, as links. */
function trail({ action, folder, prHash, repository }: FolderPage): Html[] {
  const parts = folder === '' ? [] : folder.split('/');
  return ['', ...parts].map((part, index) => {
    const above = parts.slice(0, index).join('/');
    return html`<a href="${changeLink(action, above, prHash)}"
        >${index === 0 ? repository : visibleText(part)}</a
      >${index === parts.length ? '' : ' / '}`;
  });
}
