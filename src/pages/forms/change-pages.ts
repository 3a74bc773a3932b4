/**
 * Pages to change a file: edit it, see what becomes public, and see the result; and the pages to
 * withdraw a pull request.
 * Proved by test/e2e/people/change-form.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import type { Difference } from '../../edit/lines.ts';
import type { Policy } from '../../policy/policy.ts';
import { pullRequestPath } from '../../words/pr-hash.ts';
import { type BannerFacts, farewell, type Withdrawn } from '../../push/reply/banner.ts';
import type { Preview } from '../../push/reply/refusal.ts';
import type { NotedReply } from '../../push/reply/reply.ts';
import NEXT_HTML from '../fragments/next.html';
import {
  card,
  DCO_URL,
  factList,
  filled,
  hostLine,
  type Html,
  type Page,
  safeUrl,
  visibleText,
} from '../layout.ts';
import { changeLink } from './folder-page.ts';
import {
  attributes,
  cardForm,
  closedNotice,
  differenceTable,
  field,
  type FormFrame,
  formPage,
  type FormPlace,
  type GivenAway,
  MAX_TITLE,
  nameField,
  previewPage,
  problemNotice,
  shownValue,
} from './parts.ts';

/**
 * Fields of the form of a change; an empty one is not given. They carry everything from step to
 * step, because the service keeps nothing. `blob` and `seen` are the file and the commit as they
 * were shown. Without `blob`, the file is new; without `pr_hash`, so is the pull request.
 * `own_name` is only searched for.
 */
export const NO_FIELDS = {
  path: '',
  blob: '',
  seen: '',
  text: '',
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

export interface ChangeForm extends FormFrame {
  readonly fields: ChangeFields;
  /** Requirements of the repository, as last read. The push itself is judged anew. */
  readonly policy: Pick<Policy, 'requiresSignOff' | 'requiresAi' | 'requiresIssue'>;
  readonly warnings: readonly string[];
  /** The address of a template that is not filled into the form; null if there is none. */
  readonly templateUrl: string | null;
  readonly needsKey: boolean;
  /** Why the file cannot be edited here. */
  readonly unfit?: string;
  /** Changes that others have made to the file meanwhile. */
  readonly theirs?: Difference;
}

/** @param closed lines that say why no change can be sent now. */
export function changeClosedPage(place: FormPlace, closed: string): Page {
  return formPage('Change a file', place, 'A bot opens a pull request for you.', closedNotice(place, closed));
}

const TITLE = { hint: 'What the change does, in one line. Everyone will see it.', maxLength: MAX_TITLE };
const WHY_HINT = 'Why, for those who decide about it. Markdown.';
const WHY = { hint: WHY_HINT, maxLength: 4_000, isOptional: true, rows: 4 };

export function changeFormPage(form: ChangeForm): Page {
  const { action, problem, unfit, theirs } = form;
  const { path, blob, seen, text, title, description, pr_hash } = form.fields;
  const folder = path.split('/').slice(0, -1).join('/');
  const rows = html`${field('text', 'Text of the file', text, { isOptional: true, rows: 20, isCode: true })}
  ${field('title', 'Title', title, TITLE)} ${field('description', 'Description (optional)', description, WHY)}
  ${nameField(form.fields)} ${statedFields(form)} ${signOffBox(form)}
  ${pr_hash === '' ? '' : keyField(form.fields, !form.needsKey)}`;
  const edit = html`${problemNotice(problem)} ${ruleNotice(form)}
  ${theirs === undefined ? '' : differenceTable('What others have changed', theirs)}
  ${cardForm(form, { pr_hash, path, blob, seen }, rows, { preview: 'See what becomes public' })}`;
  return formPage(
    `${blob === '' ? 'Add' : 'Change'} ${visibleText(path)}`,
    form,
    html`<a href="${changeLink(action, folder, pr_hash)}">Choose another file</a>`,
    unfit === undefined ? edit : html`<div class="notice bad"><p>${unfit}</p></div>`,
    'wide',
  );
}

function ruleNotice({ warnings, templateUrl }: ChangeForm): Html | '' {
  const lines = warnings.map((warning) => html`<p>${visibleText(warning)}</p>`);
  if (templateUrl !== null)
    lines.push(html`<p>Follow the <a href="${safeUrl(templateUrl)}">template for pull requests</a>.</p>`);
  return lines.length === 0 ? '' : html`<div class="notice">${lines}</div>`;
}

export const STATED_LABELS = { ai: 'Was AI used?', issue: 'Number of the open issue' };
const AI_USES = { '': 'choose', none: 'No AI', assisted: 'AI helped', generated: 'AI wrote most of it' };

/** A form with statements for the text of a pull request. */
interface StatingForm extends Pick<ChangeForm, 'policy'> {
  readonly fields: Pick<ChangeFields, 'ai' | 'issue' | 'pr_hash' | 'sign_off'>;
}

/**
 * Shows the statements that the project requires. An update needs them only for a new description.
 */
export function statedFields({ fields: { ai, issue, pr_hash }, policy }: StatingForm): Html {
  const [isOptional, maybe] = pr_hash === '' ? [false, ''] : [true, ' (optional)'];
  const aiUse = { isOptional, hint: 'The description then says it.', choices: AI_USES };
  const number = { isOptional, hint: 'The description then names it.' };
  return html`${policy.requiresAi ? field('ai', `${STATED_LABELS.ai}${maybe}`, ai, aiUse) : ''}
  ${policy.requiresIssue ? field('issue', `${STATED_LABELS.issue}${maybe}`, issue, number) : ''}`;
}

const SIGN_OFF = { type: 'checkbox', id: 'sign_off', name: 'sign_off', value: 'yes' };

export function signOffBox({ fields, policy: { requiresSignOff: isRequired } }: StatingForm): Html {
  return html`<div class="row check">
    <input${attributes({ ...SIGN_OFF, 'aria-describedby': 'sign_off-hint', checked: fields.sign_off !== '', required: isRequired })} />
    <label for="sign_off">
      I affirm the Developer Certificate of Origin 1.1${isRequired ? '' : ' (optional)'}
    </label>
    <p class="soft small" id="sign_off-hint">
      <a href="${DCO_URL}">Read it</a>: it says that you may contribute this.
      ${isRequired ? 'This project requires it.' : 'Some projects require it.'} The commit then ends with a
      sign-off under the name of the bot.
    </p>
  </div>`;
}

/** @param isOptional whether the key is needed only to change the title or description. */
export function keyField({ pr_key: value }: Pick<ChangeFields, 'pr_key'>, isOptional: boolean): Html {
  const label = `Key of the pull request${isOptional ? ' (optional)' : ''}`;
  const need = isOptional ? ' It is needed to change title or description.' : '';
  const hint = `You got it when the pull request was opened.${need}`;
  return field('pr_key', label, value, { hint, isOptional, secret: 'shown' });
}

interface ChangePreview
  extends GivenAway, Pick<Preview, 'author' | 'title' | 'body'>, Pick<NotedReply, 'same'> {
  readonly difference: Difference;
  readonly base: string;
  /** Whether this service delays pushes by default. */
  readonly isDelayed: boolean;
  /** Whether others have changed something since the form was opened. */
  readonly hasMoved: boolean;
}

const MOVED = html`<div class="notice">
  <p>
    Others have changed the repository since you began, but not this file. Your change applies to the newest
    version.
  </p>
</div>`;

export function changePreviewPage(form: ChangeForm, preview: ChangePreview): Page {
  const { path, blob, pr_hash } = form.fields;
  const caption = blob === '' ? 'The new file' : 'The difference';
  return previewPage('What becomes public', form, {
    given: preview,
    shown: html`${sameNotice(preview.same, form, path, 'or open this one, too')}
    ${preview.hasMoved ? MOVED : ''} ${publicText(form, preview)}
    ${card('file', visibleText(path), differenceTable(caption, preview.difference))}`,
    choice: timeField(preview.isDelayed),
    typed: form.fields,
    steps: {
      open: pr_hash === '' ? 'Open the pull request' : 'Update the pull request',
      edit: 'Back to editing',
    },
    width: 'wide',
  });
}

function publicText({ repository }: ChangeForm, { author, base, title, body }: ChangePreview): Html {
  const facts = factList({
    Author: author,
    Branch: `${visibleText(base)} of ${repository}`,
    Time: html`When it becomes public<small>The commit’s id changes with that time.</small>`,
  });
  const text = body === '' ? '' : html`<pre class="text">${'\n'}${visibleText(body)}</pre>`;
  return card('public', visibleText(title), html`${text} ${facts}`);
}

/** Tells of an open pull request with the same change of the file. */
function sameNotice(same: NotedReply['same'], { action }: FormPlace, path: string, or: string): Html | '' {
  if (same === null) return '';
  return html`<p class="notice">
    The same change is open already: <a href="${pullRequestPath(same.prHash)}">see its page</a>.
    <a href="${changeLink(action, path, same.prHash)}">Go on with that one</a>, ${or}.
  </p>`;
}

/** Choices of when a change becomes public, by values of the push option `delay`. */
const TIMES = {
  '0s': 'now',
  '3h': 'within some hours: between three and six',
  '1d': 'within some days: one or two',
};

/** @param isDelayed whether this service delays pushes by default. */
export function timeField(isDelayed: boolean): Html {
  const hint = 'If you choose later, it appears at a random time, which reveals less about you.';
  const choices = { ...(isDelayed && { '': 'as this service does it' }), ...TIMES };
  return field('delay', 'When it becomes public', '', { hint, isOptional: true, choices });
}

export type OpenedChange = Pick<BannerFacts, 'updated' | 'prUrl' | 'prHash' | 'key'> &
  Pick<NotedReply, 'notes' | 'same'> &
  Readonly<Record<'path' | 'topicUrl', string>>;

export function changeDonePage(place: FormPlace, opened: OpenedChange): Page {
  const { updated, prUrl, prHash, key, topicUrl, path, same } = opened;
  const lines = opened.notes.join('\n').trim();
  const keep = html`<p>
      With the hash, everybody can update the pull request: it is part of the branch’s name. Only with the key
      can you withdraw it, or change its title and description. Keep the key to yourself.
    </p>
    ${shownValue('hash', 'Hash', prHash)} ${key === null ? '' : shownValue('key', 'Key', key)}`;
  const next = {
    edit: changeLink(place.action, path, prHash),
    page: pullRequestPath(prHash),
    topic: safeUrl(topicUrl),
    withdrawal: `${place.home}/withdraw?pr_hash=${prHash}`,
  };
  return formPage(
    updated ? 'Your pull request is updated' : 'Your pull request is open',
    place,
    html`<a href="${next.page}">Its page on this service</a>`,
    html`${sameNotice(same, place, path, 'and withdraw this one')}
    ${card('keep', `Keep ${key === null ? 'its hash' : 'its hash and its key'}`, keep)}
    ${filled(NEXT_HTML, next)} ${lines === '' ? '' : html`<pre class="text">${lines}</pre>`}
    ${hostLine(prUrl)}`,
  );
}

/**
 * @param sentence says why the change waits, and until when.
 * @param page address of the delayed push's page.
 */
export function changeDelayedPage(place: FormPlace, sentence: string, page: string): Page {
  return formPage(
    'Your change waits',
    place,
    sentence,
    html`<section class="card">
      <p>
        Keep this address secret, and do not lose it: nobody can look it up for you. There you can publish the
        change now, or give it up. Once it is published, the page shows the pull request and its key.
      </p>
      <p><a href="${page}" class="mono">${page}</a></p>
    </section>`,
  );
}

export function withdrawPage(form: FormFrame, typed: Pick<ChangeFields, 'pr_hash' | 'pr_key'>): Page {
  const hash = field('pr_hash', 'Hash of the pull request', typed.pr_hash, { maxLength: 40 });
  const fields = html`${hash} ${keyField(typed, false)}`;
  return formPage(
    'Withdraw a pull request',
    form,
    'The pull request is closed, and its branch is removed if it had one. What was public may have been copied.',
    html`${problemNotice(form.problem)} ${cardForm(form, {}, fields, { withdraw: 'Withdraw it' })}`,
  );
}

export function withdrawnPage(place: FormPlace, prHash: string, withdrawn: Withdrawn): Page {
  const [heading, ...more] = farewell(withdrawn);
  const lead = html`<a href="${pullRequestPath(prHash)}">Its page on this service</a>`;
  const lines = more.map((line) => html`<p>${line}</p>`);
  return formPage(heading.slice(0, -1), place, lead, html`${lines} ${hostLine(withdrawn.prUrl)}`);
}
