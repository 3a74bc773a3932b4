/**
 * The page on which the files of a change are edited, with all that it needs besides their texts.
 * Proved by test/e2e/people/change-form.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import type { FileEdit } from '../../edit/file-edits.ts';
import type { Difference } from '../../edit/lines.ts';
import { isProse } from '../../edit/path.ts';
import { differenceTable } from '../difference-table.ts';
import { type Html, type Page, safeUrl, visibleText } from '../layout.ts';
import { changeLink } from './folder-page.ts';
import {
  cardForm,
  field,
  type FormFrame,
  formPage,
  hidden,
  MAX_TITLE,
  nameField,
  problemNotice,
} from './parts.ts';
import { keyField, type PullRequestForm, signOffBox, statedFields } from './pull-request-fields.ts';

/**
 * Fields of the form of a change; an empty one is not given. They carry everything from step to
 * step, because the service keeps nothing. `blob` and `seen` are the file and the commit as they
 * were shown. Without `blob`, the file is new; without `pr_hash`, so is the pull request. `others`
 * are the further files of the change, as `encodeEdits` writes them. `own_name` is only searched
 * for.
 */
export const NO_FIELDS = {
  path: '',
  blob: '',
  seen: '',
  text: '',
  removed: '',
  others: '',
  title: '',
  description: '',
  own_name: '',
  pr_hash: '',
  pr_key: '',
  sign_off: '',
  ai: '',
  issue: '',
};
export type ChangeFields = Readonly<typeof NO_FIELDS>;

export interface ChangeForm extends FormFrame, PullRequestForm {
  readonly fields: ChangeFields;
  /** The further files, as `fields.others` has them. */
  readonly others: readonly FileEdit[];
  readonly warnings: readonly string[];
  /** The address of a template that is not filled into the form; null if there is none. */
  readonly templateUrl: string | null;
  /** Lines about what the search for the name has found; none if it was not asked for. */
  readonly searched: readonly string[];
  /** Why the file cannot be edited here. */
  readonly unfit?: string;
  /** Changes that others have made to the file meanwhile. */
  readonly theirs?: Difference;
}

const TITLE = { hint: 'What the change does, in one line. Everyone will see it.', maxLength: MAX_TITLE };
const WHY_HINT = 'Why, for those who decide about it. Markdown.';
const WHY = { hint: WHY_HINT, maxLength: 4_000, isOptional: true, rows: 4 };

export function changeFormPage(form: ChangeForm): Page {
  const { action, problem, unfit, theirs } = form;
  const { path, blob, seen, removed, others, title, description, pr_hash } = form.fields;
  const folder = path.split('/').slice(0, -1).join('/');
  const rows = html`${textOfFile(form)} ${field('title', 'Title', title, TITLE)}
  ${field('description', 'Description (optional)', description, WHY)} ${nameField(form.fields)}
  ${statedFields(form)} ${signOffBox(form)} ${pr_hash === '' ? '' : keyField(form.fields, !form.needsKey)}`;
  const carried = { pr_hash, path, blob, seen, removed, others };
  const edit = html`${problemNotice(problem)} ${ruleNotice(form)} ${searchNotice(form)}
  ${theirs === undefined ? '' : differenceTable('What others have changed', theirs)}
  ${cardForm(form, carried, rows, stepsOf(form), otherFiles(form))}`;
  return formPage(
    `${verbOf({ blob, isRemoved: removed !== '' })} ${visibleText(path)}`,
    form,
    // A link would lose the further files.
    others === ''
      ? html`<a href="${changeLink(action, folder, pr_hash)}">Choose another file instead</a>`
      : 'All files of this change become public together.',
    unfit === undefined ? edit : html`<div class="notice bad"><p>${unfit}</p></div>`,
    'wide',
  );
}

function verbOf({ blob, isRemoved }: Pick<FileEdit, 'blob' | 'isRemoved'>): string {
  if (isRemoved) return 'Remove';
  return blob === '' ? 'Add' : 'Change';
}

function wordOf({ blob, isRemoved }: Pick<FileEdit, 'blob' | 'isRemoved'>): string {
  if (isRemoved) return 'removed';
  return blob === '' ? 'new' : 'changed';
}

/** Shows the text of the file to edit; of one that is removed, the text is only carried along. */
function textOfFile({ fields: { path, text, removed } }: ChangeForm): Html | Html[] {
  if (removed !== '') return hidden({ text });
  const look = { isOptional: true, rows: 20, text: isProse(path) ? 'prose' : 'code' } as const;
  return field('text', 'Text of the file', text, look);
}

/** The buttons. The Enter key presses the first one. */
function stepsOf({ fields: { blob, removed }, others }: ChangeForm): Readonly<Record<string, string>> {
  return {
    preview: 'See what becomes public',
    search: 'Search it for my name',
    another: 'Change another file, too',
    ...(removed === '' && blob !== '' && { remove: 'Remove this file' }),
    ...(removed !== '' && { keep: 'Keep this file' }),
    ...(others.length > 0 && { 'out-this': 'Take this file out' }),
  };
}

/** Shows the further files of the change, each with buttons to edit it and to take it out. */
function otherFiles({ others }: ChangeForm): Html | '' {
  if (others.length === 0) return '';
  const items = others.map((file, index) => {
    const { path } = file;
    const button = (step: string, label: string) =>
      html`<button type="submit" name="step" value="${step}-${index}" class="quiet" formnovalidate>
        ${label}<span class="unseen"> ${visibleText(path)}</span>
      </button>`;
    return html`<li>
      <span>${visibleText(path)} <span class="soft">(${wordOf(file)})</span></span>
      <span>${button('file', 'Edit')} ${button('out', 'Take out')}</span>
    </li>`;
  });
  return html`<h2 class="after-buttons">Also in this change</h2>
    <ul class="threads">
      ${items}
    </ul>`;
}

function searchNotice({ searched }: ChangeForm): Html | '' {
  if (searched.length === 0) return '';
  return html`<div class="notice" role="status" id="searched">
    ${searched.map((line) => html`<p>${visibleText(line)}</p>`)}
  </div>`;
}

function ruleNotice({ warnings, templateUrl }: ChangeForm): Html | '' {
  const lines = warnings.map((warning) => html`<p>${visibleText(warning)}</p>`);
  if (templateUrl !== null)
    lines.push(html`<p>Follow the <a href="${safeUrl(templateUrl)}">template for pull requests</a>.</p>`);
  return lines.length === 0 ? '' : html`<div class="notice">${lines}</div>`;
}
