/**
 * The page on which a file to change is chosen: a folder, or the result of a search. Links lead to
 * the first file; for a further one, buttons carry the change so far along.
 * Proved by test/e2e/people/change-form.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import type { EntryKind } from '../../git/objects/tree.ts';
import { type Html, type Page, visibleText } from '../layout.ts';
import { formPage, type FormPlace, hidden, problemNotice, queryField } from './parts.ts';

export interface ListedEntry {
  readonly kind: EntryKind;
  readonly name: string;
  /** Its path; null if it cannot be changed here, because its name is not UTF-8. */
  readonly path: string | null;
}

export interface FolderPage extends FormPlace {
  /** The path as it was typed. */
  readonly path: string;
  /** The folder whose entries are shown. */
  readonly folder: string;
  /** Empty for a new pull request. */
  readonly prHash: string;
  readonly problem: string | null;
  readonly entries: readonly ListedEntry[];
  /** The fields of the change so far, with the form's token; null: none has begun. */
  readonly begun: Readonly<Record<string, string>> | null;
}

const BUTTONS = html`<button type="submit" name="find" value="1">Find</button>
  <button type="submit" name="new" value="1" class="second">Add a file</button>`;
const FURTHER_BUTTONS = html`<button type="submit" name="step" value="find">Find</button>
  <button type="submit" name="step" value="add" class="second">Add a file</button>
  <button type="submit" name="step" value="remove-named" class="second">Remove a file</button>`;
const MAX_ENTRIES = 1_000;
/** Maximum length of all listed paths. In a page, they take ten times that. */
const MAX_CHARACTERS = 500_000;
/** Words about each kind, in the order in which the list has the kinds. */
const KIND_WORDS: Readonly<Record<EntryKind, string>> = {
  folder: '',
  file: '',
  symlink: 'link, cannot be changed here',
  submodule: 'submodule, cannot be changed here',
};

/**
 * Links to the form of a change, which begins with a path and a pull request, if they are given.
 */
export function changeLink(action: string, path: string, prHash: string): string {
  const query = Object.entries({ path, pr_hash: prHash }).filter(([, value]) => value !== '');
  return query.length === 0 ? action : `${action}?${new URLSearchParams(query).toString()}`;
}

export function folderPage(page: FolderPage): Page {
  const { action, path, problem, prHash, begun } = page;
  const label = 'Path of the file, or a part of it';
  const query = { name: 'path', label, value: path, placeholder: 'docs/guide.md', maxlength: 4096 };
  if (begun === null)
    return formPage(
      prHash === '' ? 'Change a file' : 'Change a file of your pull request',
      page,
      'Choose a file, or name it. Nothing is sent until you have seen what becomes public.',
      html`${problemNotice(problem)}
        <form method="get" action="${action}" class="card">
          ${hidden({ pr_hash: prHash })} ${queryField(query, BUTTONS)}
        </form>
        ${listOf(page)}`,
    );
  return formPage(
    'Change another file, too',
    page,
    'Choose a file, or name it. It becomes public together with what you have changed so far.',
    html`${problemNotice(problem)}
      <form method="post" action="${action}">
        ${hidden(begun)}
        <div class="card">
          ${queryField({ ...query, name: 'named' }, FURTHER_BUTTONS)}
          <p class="after-commands">
            <button type="submit" name="step" value="edit" class="link">Back to what you have changed</button>
          </p>
        </div>
        ${listOf(page)}
      </form>`,
  );
}

function listOf(page: FolderPage): Html {
  const order = Object.keys(KIND_WORDS);
  const sorted = page.entries.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const items = shownOf(sorted).map((entry) => html`<li>${entryLink(page, entry)}</li>`);
  const more = page.entries.length - items.length;
  return html`<nav class="crumbs" aria-label="Folders above">${trail(page)}</nav>
    <nav class="card" aria-label="Files">
      <ul class="list">
        ${items}
      </ul>
      ${more > 0 ? html`<p class="soft">There are ${more} more. Name the file above.</p>` : ''}
    </nav>`;
}

function shownOf(entries: readonly ListedEntry[]): readonly ListedEntry[] {
  let left = MAX_CHARACTERS;
  return entries.slice(0, MAX_ENTRIES).filter(({ name, path }) => (left -= (path ?? name).length) > 0);
}

/** Leads to a file or a folder. */
function wayTo({ action, prHash, begun }: FolderPage, path: string, label: string): Html {
  if (begun === null) return html`<a href="${changeLink(action, path, prHash)}">${label}</a>`;
  return html`<button type="submit" name="chosen" value="${path}" class="link">${label}</button>`;
}

function entryLink(page: FolderPage, { kind, name, path }: ListedEntry): Html {
  const words = path === null ? 'its name is not UTF-8, change it with Git' : KIND_WORDS[kind];
  const label = visibleText(kind === 'folder' ? `${name}/` : name);
  if (words !== '' || path === null)
    return html`<span>${label}</span> <span class="soft small">${words}</span>`;
  return wayTo(page, path, label);
}

function trail(page: FolderPage): Html[] {
  const parts = page.folder === '' ? [] : page.folder.split('/');
  return ['', ...parts].map((part, index) => {
    const above = parts.slice(0, index).join('/');
    const way = wayTo(page, above, index === 0 ? page.repository : visibleText(part));
    return html`${way}${index === parts.length ? '' : ' / '}`;
  });
}
