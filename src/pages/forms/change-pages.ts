/** Change a file: choose it, edit it, see what becomes public, and what has become of it. */
import { html } from 'hono/html';
import type { Difference } from '../../edit/hunks.ts';
import type { EntryKind } from '../../git/tree.ts';
import type { Html, Page } from '../layout.ts';
import { differenceTable } from './difference.ts';
import {
  hidden,
  problemNotice,
  safeUrl,
  secretField,
  shownValue,
  stepButtons,
  textArea,
  textField,
} from './parts.ts';
import { type FormFrame, formPage } from './form-page.ts';

export interface ListedEntry {
  readonly kind: EntryKind;
  readonly name: string;
  /** Null: it cannot be changed here, as its name is not UTF-8. */
  readonly path: string | null;
}

export interface FolderPage extends Omit<FormFrame, 'token'> {
  /** What was typed. */
  readonly path: string;
  /** The path of the folder whose entries are shown. */
  readonly folder: string;
  readonly entries: readonly ListedEntry[];
  /** The pull request to update; empty: a new one. */
  readonly prHash: string;
}

export interface ChangeForm extends FormFrame {
  readonly path: string;
  /** Empty: a new file. */
  readonly blob: string;
  readonly seen: string;
  readonly text: string;
  readonly title: string;
  readonly description: string;
  readonly prHash: string;
  readonly prKey: string;
  /** Whether an update also needs the key. */
  readonly needsKey: boolean;
  /** Why the file cannot be edited here; null: it can. */
  readonly unfit?: string;
  /** What others have changed meanwhile. */
  readonly theirs?: Difference;
}

const MAX_TITLE = 256;
const MAX_DESCRIPTION = 4_000;
const MAX_ENTRIES = 1_000;
const KIND_WORDS: Readonly<Record<EntryKind, string>> = {
  folder: 'folder',
  file: '',
  symlink: 'link, cannot be changed here',
  submodule: 'submodule, cannot be changed here',
};

function query(values: Readonly<Record<string, string>>): string {
  return new URLSearchParams(Object.entries(values).filter(([, value]) => value !== '')).toString();
}

/** Where a file or a folder is shown. */
export function changeLink(action: string, path: string, prHash: string): string {
  const text = query({ path, pr_hash: prHash });
  return text === '' ? action : `${action}?${text}`;
}

export function folderPage(page: FolderPage): Page {
  const { action, path, entries, problem, prHash } = page;
  const shown = entries.slice(0, MAX_ENTRIES);
  const items = shown.map((entry) => html`<li>${entryLink(page, entry)}</li>`);
  return formPage(
    prHash === '' ? 'Change a file' : 'Change a file of your pull request',
    page,
    html`Choose a file, or name it. Nothing is sent until you have seen what becomes public.`,
    html`${problemNotice(problem)}
      <form method="get" action="${action}" class="card">
        ${hidden({ pr_hash: prHash })}
        <label for="path">Path of the file</label>
        <div class="field">
          <input
            type="text"
            id="path"
            name="path"
            value="${path}"
            placeholder="docs/guide.md"
            maxlength="4096"
            autocomplete="off"
            autocapitalize="none"
            spellcheck="false"
          />
          <button type="submit">Open</button>
          <button type="submit" name="new" value="1" class="second">Add a file of this name</button>
        </div>
      </form>
      <nav class="card" aria-label="Files">
        <p class="crumbs">${trail(page)}</p>
        <ul class="list files">
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
  const label = kind === 'folder' ? `${name}/` : name;
  return html`${
    isOpen ? html`<a href="${changeLink(action, path, prHash)}">${label}</a>` : html`<span>${label}</span>`
  }
  ${words === '' || kind === 'folder' ? '' : html`<span class="soft small">${words}</span>`}`;
}

/** The folders above, as links. */
function trail({ action, folder, prHash, repository }: FolderPage): Html[] {
  const parts = folder === '' ? [] : folder.split('/');
  return ['', ...parts].map((part, index) => {
    const above = parts.slice(0, index).join('/');
    return html`<a href="${changeLink(action, above, prHash)}">${index === 0 ? repository : part}</a>${
        index === parts.length ? '' : ' / '
      }`;
  });
}

function isNew({ blob }: ChangeForm): boolean {
  return blob === '';
}

export function changeFormPage(form: ChangeForm): Page {
  const { action, token, problem, path, title, description, prHash, unfit, theirs } = form;
  const folder = path.split('/').slice(0, -1).join('/');
  return formPage(
    isNew(form) ? `Add ${path}` : `Change ${path}`,
    form,
    html`<a href="${changeLink(action, folder, prHash)}">Choose another file</a>`,
    unfit !== undefined
      ? html`<div class="notice bad"><p>${unfit}</p></div>`
      : html`${problemNotice(problem)}
          ${theirs === undefined ? '' : differenceTable('What others have changed', theirs)}
          <form method="post" action="${action}" class="card">
            ${hidden({ token, path, blob: form.blob, seen: form.seen, pr_hash: prHash })}
            ${textArea({ name: 'text', label: 'Text of the file', value: form.text, isOptional: true }, 20, true)}
            ${textField({
              name: 'title',
              label: 'Title',
              value: title,
              hint: 'What the change does, in one line. Everyone will see it.',
              maxLength: MAX_TITLE,
            })}
            ${textArea(
              {
                name: 'description',
                label: 'Description (optional)',
                value: description,
                hint: 'Why, for those who decide about it. Markdown.',
                maxLength: MAX_DESCRIPTION,
                isOptional: true,
              },
              4,
            )}
            ${keyField(form)} ${stepButtons({ step: 'preview', label: 'See what becomes public' })}
          </form>`,
    'wide',
  );
}

/** For those services that ask for it. */
export function keyField({
  needsKey,
  prHash,
  prKey,
}: Pick<ChangeForm, 'needsKey' | 'prHash' | 'prKey'>): Html | '' {
  if (!needsKey || prHash === '') return '';
  return secretField(
    {
      name: 'pr_key',
      label: 'Key of the pull request',
      value: prKey,
      hint: 'You got it when it was opened.',
    },
    { label: 'Pull request', value: prHash },
    'current-password',
  );
}

export interface ChangePreview {
  readonly difference: Difference;
  /** What the push would publish, in its own words. */
  readonly lines: readonly string[];
  /** Whether others have changed something since the form was opened. */
  readonly hasMoved: boolean;
}

export function changePreviewPage(form: ChangeForm, { difference, lines, hasMoved }: ChangePreview): Page {
  const { action, token, path, blob, seen, text, title, description, prHash, prKey } = form;
  const fields = { token, path, blob, seen, text, title, description, pr_hash: prHash, pr_key: prKey };
  return formPage(
    'What becomes public',
    form,
    html`This is all of it. Nothing has been sent yet.`,
    html`${
        hasMoved
          ? html`<div class="notice">
              <p>
                Others have changed the repository since you began, but not this file. Your change applies to
                the newest version.
              </p>
            </div>`
          : ''
      }
      <section class="card" aria-labelledby="file">
        <h2 id="file">${path}</h2>
        ${differenceTable(isNew(form) ? 'The new file' : 'The difference', difference)}
      </section>
      ${
        description === ''
          ? ''
          : html`<section class="card" aria-labelledby="text">
              <h2 id="text">${title}</h2>
              <pre class="text" tabindex="0">${'\n'}${description}</pre>
            </section>`
      }
      <section class="card" aria-labelledby="all">
        <h2 id="all">What everyone will see besides</h2>
        <pre class="text" tabindex="0">${lines.join('\n').trim()}</pre>
        <p class="soft small after-commands">
          They will also see when you send it; the commit’s id changes with that time.
        </p>
      </section>
      <form method="post" action="${action}">
        ${hidden(fields)}
        ${stepButtons(
          { step: 'open', label: prHash === '' ? 'Open the pull request' : 'Update the pull request' },
          { step: 'edit', label: 'Change it' },
        )}
      </form>`,
    'wide',
  );
}

export interface OpenedChange {
  readonly isUpdate: boolean;
  readonly prUrl: string;
  readonly prHash: string;
  /** Null if updates need no key. */
  readonly prKey: string | null;
  readonly subscribeUrl: string;
  /** Of the service. */
  readonly page: string;
  readonly edit: string;
  readonly withdrawal: string;
  /** Warnings and the like. */
  readonly lines: readonly string[];
}

export function changeDonePage(frame: Pick<FormFrame, 'repository' | 'home'>, opened: OpenedChange): Page {
  const { isUpdate, prUrl, prHash, prKey, subscribeUrl, page, edit, withdrawal } = opened;
  const lines = opened.lines.join('\n').trim();
  return formPage(
    isUpdate ? 'Your pull request is updated' : 'Your pull request is open',
    frame,
    html`<a href="${safeUrl(prUrl)}">${prUrl}</a>`,
    html`<section class="card" aria-labelledby="keep">
        <h2 id="keep">Keep ${prKey === null ? 'its hash' : 'its hash and its key'}</h2>
        <p>
          With ${prKey === null ? 'it' : 'them'}, you can change or withdraw the pull request. Nobody can
          recover ${prKey === null ? 'it' : 'them'}.
        </p>
        ${shownValue('hash', 'Hash', prHash)} ${prKey === null ? '' : shownValue('key', 'Key', prKey)}
      </section>
      <section class="card" aria-labelledby="next">
        <h2 id="next">How to go on</h2>
        <ul>
          <li><a href="${edit}">Edit again</a>: the same file, in the same pull request.</li>
          <li><a href="${page}">Follow it</a>: state and events, and a feed.</li>
          <li>
            <a href="${safeUrl(subscribeUrl)}">Notifications</a>. Anyone can post there, so trust only the
            page above.
          </li>
          <li><a href="${withdrawal}">Withdraw it</a>.</li>
        </ul>
      </section>
      ${lines === '' ? '' : html`<pre class="text" tabindex="0">${lines}</pre>`}`,
  );
}

export function withdrawPage(form: FormFrame & Pick<ChangeForm, 'prHash' | 'prKey' | 'needsKey'>): Page {
  const { action, token, prHash } = form;
  return formPage(
    'Withdraw a pull request',
    form,
    html`The pull request is closed, and its branch is removed from the fork. What was public may have been
    copied.`,
    html`${problemNotice(form.problem)}
      <form method="post" action="${action}" class="card">
        ${hidden({ token })}
        ${textField({ name: 'pr_hash', label: 'Hash of the pull request', value: prHash, maxLength: 40 })}
        ${keyField(form)} ${stepButtons({ step: 'withdraw', label: 'Withdraw it' })}
      </form>`,
  );
}

export function withdrawnPage(
  frame: Pick<FormFrame, 'repository' | 'home'>,
  { prUrl, isMerged }: { readonly prUrl: string; readonly isMerged: boolean },
): Page {
  return formPage(
    isMerged ? 'It was already merged' : 'Your pull request is withdrawn',
    frame,
    html`<a href="${safeUrl(prUrl)}">${prUrl}</a>`,
    html`<p>
      ${isMerged ? 'Its branch is removed from the fork.' : 'It is closed, and its branch is removed from the fork.'}
    </p>`,
  );
}
