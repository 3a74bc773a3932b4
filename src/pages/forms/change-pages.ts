/** Change a file: edit it, and see what becomes public. */
import { html } from 'hono/html';
import type { Difference } from '../../edit/hunks.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { Policy } from '../../policy/policy.ts';
import { DCO_URL, type Html, type Page } from '../layout.ts';
import { visibleText } from '../visible-text.ts';
import { differenceTable } from './difference.ts';
import { changeLink } from './folder-page.ts';
import {
  checkBox,
  choiceField,
  type FormFrame,
  formPage,
  hidden,
  keyField,
  MAX_TITLE,
  nameField,
  problemNotice,
  type PullRequestKey,
  safeUrl,
  stepButtons,
  textArea,
  textField,
  timeField,
} from './parts.ts';

/** What the form of a change holds. Without a `prHash`, it is a new pull request. */
export interface ChangeFields extends PullRequestKey {
  readonly path: string;
  /** The file as the form has shown it; null: a new file. */
  readonly blob: Oid | null;
  /** The commit in which the form has shown it; null: the form does not say. */
  readonly seen: Oid | null;
  readonly text: string;
  readonly title: string;
  readonly description: string;
  /** The person's own name and address, to be searched for; empty: not given. */
  readonly ownName: string;
  /** Whether the person affirms the Developer Certificate of Origin. */
  readonly signOff: boolean;
  /** As the push options of these names have them; empty: not given. */
  readonly ai: string;
  readonly issue: string;
}

export interface ChangeForm extends FormFrame, ChangeFields {
  /** What the repository requires, as it was read last; the push itself is judged anew. */
  readonly policy: Pick<Policy, 'requiresSignOff' | 'requiresAi' | 'requiresIssue'>;
  /** What to know before writing anything. */
  readonly warnings: readonly string[];
  /** The page of a template that does not fit into the form; null: there is none. */
  readonly templateUrl: string | null;
  /** Whether an update takes the key of the pull request. */
  readonly needsKey: boolean;
  /** Why the file cannot be edited here; null: it can. */
  readonly unfit?: string;
  /** What others have changed meanwhile. */
  readonly theirs?: Difference;
}

const TITLE = { hint: 'What the change does, in one line. Everyone will see it.', maxLength: MAX_TITLE };
const WHY = { hint: 'Why, for those who decide about it. Markdown.', maxLength: 4_000, isOptional: true };
/** More are counted. */
const MAX_ADDRESSES = 5;

function isNew({ blob }: ChangeForm): boolean {
  return blob === null;
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
      : html`${problemNotice(problem)} ${ruleNotice(form)}
          ${theirs === undefined ? '' : differenceTable('What others have changed', theirs)}
          <form method="post" action="${action}" class="card">
            ${hidden({ token, pr_hash: prHash, ...hiddenFields(form) })}
            ${textArea({ name: 'text', label: 'Text of the file', value: form.text, isOptional: true }, 20, true)}
            ${textField({ name: 'title', label: 'Title', value: title, ...TITLE })}
            ${textArea({ name: 'description', label: 'Description (optional)', value: description, ...WHY }, 4)}
            ${nameField(form)} ${statedFields(form)} ${signOffBox(form)}
            ${prHash === '' ? '' : keyField(form, { label: 'Pull request', value: prHash }, !form.needsKey)}
            ${stepButtons({ step: 'preview', label: 'See what becomes public' })}
          </form>`,
    'wide',
  );
}

/** Which file it is: nothing is kept between two steps. */
function hiddenFields({ path, blob, seen }: ChangeForm): Readonly<Record<string, string>> {
  return { path, blob: blob ?? '', seen: seen ?? '' };
}

function ruleNotice({ warnings, templateUrl }: ChangeForm): Html | '' {
  const lines = warnings.map((warning) => html`${visibleText(warning)}`);
  if (templateUrl !== null)
    lines.push(html`Follow the <a href="${safeUrl(templateUrl)}">template for pull requests</a>.`);
  return lines.length === 0
    ? ''
    : html`<div class="notice">${lines.map((line) => html`<p>${line}</p>`)}</div>`;
}

const AI_USES = [
  ['', 'choose'],
  ['none', 'No AI'],
  ['assisted', 'AI helped'],
  ['generated', 'AI wrote most of it'],
] as const;

/** What the project wants to be told. An update needs it only for another description. */
function statedFields({ ai, issue, policy, prHash }: ChangeForm): Html {
  const [isOptional, maybe] = prHash === '' ? [false, ''] : [true, ' (optional)'];
  const aiField = { name: 'ai', label: `Was AI used?${maybe}`, value: ai, isOptional };
  const issueField = { name: 'issue', label: `Number of the open issue${maybe}`, value: issue, isOptional };
  return html`${policy.requiresAi ? choiceField({ ...aiField, hint: 'The description then says it.' }, AI_USES) : ''}
  ${policy.requiresIssue ? textField({ ...issueField, hint: 'The description then names it.' }) : ''}`;
}

function signOffBox({ signOff, policy: { requiresSignOff } }: ChangeForm): Html {
  const label = `I affirm the Developer Certificate of Origin 1.1${requiresSignOff ? '' : ' (optional)'}`;
  const whose = requiresSignOff ? 'This project requires it.' : 'Some projects require it.';
  return checkBox(
    { name: 'sign_off', label, isOptional: !requiresSignOff },
    signOff,
    html`<a href="${DCO_URL}">Read it</a>: it says that you may contribute this. ${whose} The commit then ends
      with a sign-off under the name of the bot.`,
  );
}

/** What somebody who publishes it should know. */
export interface GivenAway {
  /** What was searched and found, and warnings. */
  readonly remarks: readonly string[];
  /** E-mail addresses that become public with it. */
  readonly addresses: readonly string[];
}

export interface SameChange {
  /** An open pull request with the same change, and the form that goes on with it; null: nobody knows of one. */
  readonly same: { readonly url: string; readonly edit: string } | null;
}

export interface ChangePreview extends GivenAway, SameChange {
  readonly difference: Difference;
  /** Of commit and pull request. */
  readonly author: string;
  /** The branch that it is for. */
  readonly base: string;
  readonly title: string;
  readonly body: string;
  /** Whether a push waits here unless its person says otherwise. */
  readonly isDelayed: boolean;
  /** Whether others have changed something since the form was opened. */
  readonly hasMoved: boolean;
}

export function changePreviewPage(form: ChangeForm, preview: ChangePreview): Page {
  const { action, token, path, text, title, description, ownName, ai, issue, prHash, prKey } = form;
  const typed = { text, title, description, own_name: ownName, ai, issue, pr_hash: prHash, pr_key: prKey };
  const fields = { token, ...hiddenFields(form), ...typed, ...(form.signOff ? { sign_off: 'yes' } : {}) };
  return formPage(
    'What becomes public',
    form,
    html`This is everything that becomes public. Nothing has been sent yet.`,
    html`${sameNotice(preview, 'or open this one, too')} ${movedNotice(preview)} ${addressNotice(preview)}
      ${publicText(form, preview)}
      <section class="card" aria-labelledby="file">
        <h2 id="file">${visibleText(path)}</h2>
        ${differenceTable(isNew(form) ? 'The new file' : 'The difference', preview.difference)}
      </section>
      ${remarksCard(preview)}
      <form method="post" action="${action}">
        ${hidden(fields)} ${timeField(preview.isDelayed)}
        ${stepButtons(
          { step: 'open', label: prHash === '' ? 'Open the pull request' : 'Update the pull request' },
          { step: 'edit', label: 'Back to editing' },
        )}
      </form>`,
    'wide',
  );
}

export function sameNotice({ same }: SameChange, or: string): Html | '' {
  if (same === null) return '';
  return html`<p class="notice">
    The same change is open already as <a href="${safeUrl(same.url)}">${same.url}</a>.
    <a href="${same.edit}">Go on with that one</a>, ${or}.
  </p>`;
}

function movedNotice({ hasMoved }: ChangePreview): Html | '' {
  if (!hasMoved) return '';
  return html`<div class="notice">
    <p>
      Others have changed the repository since you began, but not this file. Your change applies to the newest
      version.
    </p>
  </div>`;
}

export function addressNotice({ addresses }: GivenAway): Html | '' {
  if (addresses.length === 0) return '';
  const more = addresses.length - MAX_ADDRESSES;
  const rest = more > 0 ? [`${more} more`] : [];
  return html`<div class="notice bad" role="alert">
    <p>
      ${addresses.length === 1 ? 'An e-mail address becomes' : 'E-mail addresses become'} public:
      ${[...addresses.slice(0, MAX_ADDRESSES), ...rest].join(', ')}. If that is not what you want, go back to
      editing.
    </p>
  </div>`;
}

/** As people read it at the host. */
function publicText({ repository }: ChangeForm, { author, base, title, body }: ChangePreview): Html {
  return html`<section class="card" aria-labelledby="public">
    <h2 id="public">${visibleText(title)}</h2>
    ${body === '' ? '' : html`<pre class="text">${'\n'}${visibleText(body)}</pre>`}
    <dl class="facts">
      <dt>Author</dt>
      <dd>${author}</dd>
      <dt>Branch</dt>
      <dd>${visibleText(base)} of ${repository}</dd>
      <dt>Time</dt>
      <dd>When it becomes public<small>The commit’s id changes with that time.</small></dd>
    </dl>
  </section>`;
}

export function remarksCard({ remarks }: GivenAway): Html | '' {
  if (remarks.length === 0) return '';
  return html`<section class="card" aria-labelledby="remarks">
    <h2 id="remarks">What the service has looked for</h2>
    <pre class="text">${'\n'}${remarks.join('\n')}</pre>
  </section>`;
}
