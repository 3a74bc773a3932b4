/** Change a file: edit it, and see what becomes public. */
import { html } from 'hono/html';
import type { Difference } from '../../edit/hunks.ts';
import { DCO_URL, type Html, type Page } from '../layout.ts';
import { visibleText } from '../visible-text.ts';
import { differenceTable } from './difference.ts';
import { changeLink } from './folder-page.ts';
import {
  checkBox,
  hidden,
  keyField,
  MAX_TITLE,
  problemNotice,
  type PullRequestKey,
  stepButtons,
  textArea,
  textField,
  timeField,
} from './parts.ts';
import { type FormFrame, formPage } from './form-page.ts';

export interface ChangeForm extends FormFrame, PullRequestKey {
  readonly path: string;
  /** Empty: a new file. */
  readonly blob: string;
  readonly seen: string;
  readonly text: string;
  readonly title: string;
  readonly description: string;
  /** Whether the person affirms the Developer Certificate of Origin. */
  readonly signOff: boolean;
  /** Whether the repository requires that. */
  readonly needsSignOff: boolean;
  /** Why the file cannot be edited here; null: it can. */
  readonly unfit?: string;
  /** What others have changed meanwhile. */
  readonly theirs?: Difference;
}

const MAX_DESCRIPTION = 4_000;

function isNew({ blob }: ChangeForm): boolean {
  return blob === '';
}

export function changeFormPage(form: ChangeForm): Page {
  const { action, token, problem, path, title, description, prHash, unfit, theirs } = form;
  const folder = path.split('/').slice(0, -1).join('/');
  return formPage(
    `${isNew(form) ? 'Add' : 'Change'} ${visibleText(path)}`,
    form,
    html`<a href="${changeLink(action, folder, prHash)}">Choose another file</a>`,
    unfit !== undefined
      ? html`<div class="notice bad"><p>${unfit}</p></div>`
      : html`${problemNotice(problem)}
          ${theirs === undefined ? '' : differenceTable('What others have changed', theirs)}
          <form method="post" action="${action}" class="card">
            ${hidden({ token, path, blob: form.blob, seen: form.seen, pr_hash: prHash, ...signOffNeed(form) })}
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
            ${signOffBox(form)} ${keyField(form)}
            ${stepButtons({ step: 'preview', label: 'See what becomes public' })}
          </form>`,
    'wide',
  );
}

/** The form holds what the repository requires, because nothing is kept between two steps. */
function signOffNeed({ needsSignOff }: ChangeForm): Readonly<Record<string, string>> {
  return needsSignOff ? { needs_sign_off: 'yes' } : {};
}

function signOffBox({ signOff, needsSignOff }: ChangeForm): Html {
  const label = `I affirm the Developer Certificate of Origin 1.1${needsSignOff ? '' : ' (optional)'}`;
  const whose = needsSignOff ? 'This project requires it.' : 'Some projects require it.';
  return checkBox(
    { name: 'sign_off', label, isOptional: !needsSignOff },
    signOff,
    html`<a href="${DCO_URL}">Read it</a>: it says that you may contribute this. ${whose} The commit then ends
      with a sign-off under the name of the bot.`,
  );
}

export interface ChangePreview {
  readonly difference: Difference;
  /** What the push would publish, in its own words. */
  readonly lines: readonly string[];
  /** Whether a push waits here unless its person says otherwise. */
  readonly isDelayed: boolean;
  /** Whether others have changed something since the form was opened. */
  readonly hasMoved: boolean;
}

export function changePreviewPage(
  form: ChangeForm,
  { difference, lines, isDelayed, hasMoved }: ChangePreview,
): Page {
  const { action, token, path, blob, seen, text, title, description, prHash, prKey } = form;
  const fields = {
    token,
    path,
    blob,
    seen,
    text,
    title,
    description,
    pr_hash: prHash,
    pr_key: prKey,
    ...(form.signOff ? { sign_off: 'yes' } : {}),
    ...signOffNeed(form),
  };
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
        <h2 id="file">${visibleText(path)}</h2>
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
          They will also see when it becomes public; the commit’s id changes with that time.
        </p>
      </section>
      <form method="post" action="${action}">
        ${hidden(fields)} ${timeField(isDelayed)}
        ${stepButtons(
          { step: 'open', label: prHash === '' ? 'Open the pull request' : 'Update the pull request' },
          { step: 'edit', label: 'Change it' },
        )}
      </form>`,
    'wide',
  );
}
