/** Change a file: edit it, see what becomes public, and what has become of it; and withdraw its pull request. */
import { html } from 'hono/html';
import type { Difference } from '../../edit/hunks.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { Policy } from '../../policy/policy.ts';
import { pullRequestPath } from '../../pr-hash.ts';
import { type BannerFacts, farewell, type Withdrawn } from '../../push/reply/banner.ts';
import type { Preview } from '../../push/reply/refusal.ts';
import type { NotedReply } from '../../push/reply/reply.ts';
import NEXT_HTML from '../fragments/next.html';
import { card, DCO_URL, factList, filled, type Html, type Page } from '../layout.ts';
import { visibleText } from '../visible-text.ts';
import { differenceTable } from './difference.ts';
import { changeLink } from './folder-page.ts';
import {
  cardForm,
  choiceField,
  type FormFrame,
  formPage,
  type FormPlace,
  type GivenAway,
  MAX_TITLE,
  nameField,
  previewPage,
  problemNotice,
  safeUrl,
  secretField,
  shownValue,
  textArea,
  textField,
} from './parts.ts';

/** What changes or withdraws a pull request. */
interface PullRequestKey {
  readonly prHash: string;
  readonly prKey: string;
}

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
  readonly needsKey: boolean;
  /** Why the file cannot be edited here; null: it can. */
  readonly unfit?: string;
  /** What others have changed meanwhile. */
  readonly theirs?: Difference;
}

const TITLE = { hint: 'What the change does, in one line. Everyone will see it.', maxLength: MAX_TITLE };
const WHY = { hint: 'Why, for those who decide about it. Markdown.', maxLength: 4_000, isOptional: true };

export function changeFormPage(form: ChangeForm): Page {
  const { action, problem, path, title, description, prHash, unfit, theirs } = form;
  const folder = path.split('/').slice(0, -1).join('/');
  const fields = html`${textArea({ name: 'text', label: 'Text of the file', value: form.text, isOptional: true }, 20, true)}
  ${textField({ name: 'title', label: 'Title', value: title, ...TITLE })}
  ${textArea({ name: 'description', label: 'Description (optional)', value: description, ...WHY }, 4)}
  ${nameField(form)} ${statedFields(form)} ${signOffBox(form)}
  ${prHash === '' ? '' : keyField(form, { label: 'Pull request', value: prHash }, !form.needsKey)}`;
  const edit = html`${problemNotice(problem)} ${ruleNotice(form)}
  ${theirs === undefined ? '' : differenceTable('What others have changed', theirs)}
  ${cardForm(form, { pr_hash: prHash, ...hiddenFields(form) }, fields, { preview: 'See what becomes public' })}`;
  return formPage(
    `${form.blob === null ? 'Add' : 'Change'} ${visibleText(path)}`,
    form,
    html`<a href="${changeLink(action, folder, prHash)}">Choose another file</a>`,
    unfit === undefined ? edit : html`<div class="notice bad"><p>${unfit}</p></div>`,
    'wide',
  );
}

/** Which file it is: nothing is kept between two steps. */
function hiddenFields({ path, blob, seen }: ChangeForm): Readonly<Record<string, string>> {
  return { path, blob: blob ?? '', seen: seen ?? '' };
}

function ruleNotice({ warnings, templateUrl }: ChangeForm): Html | '' {
  const lines = warnings.map((warning) => html`<p>${visibleText(warning)}</p>`);
  if (templateUrl !== null)
    lines.push(html`<p>Follow the <a href="${safeUrl(templateUrl)}">template for pull requests</a>.</p>`);
  return lines.length === 0 ? '' : html`<div class="notice">${lines}</div>`;
}

const AI_USES = { '': 'choose', none: 'No AI', assisted: 'AI helped', generated: 'AI wrote most of it' };

/** What the project wants to be told. An update needs it only for another description. */
function statedFields({ ai, issue, policy, prHash }: ChangeForm): Html {
  const [isOptional, maybe] = prHash === '' ? [false, ''] : [true, ' (optional)'];
  const aiField = { name: 'ai', label: `Was AI used?${maybe}`, value: ai, isOptional };
  const issueField = { name: 'issue', label: `Number of the open issue${maybe}`, value: issue, isOptional };
  return html`${policy.requiresAi ? choiceField({ ...aiField, hint: 'The description then says it.' }, AI_USES) : ''}
  ${policy.requiresIssue ? textField({ ...issueField, hint: 'The description then names it.' }) : ''}`;
}

function signOffBox({ signOff, policy: { requiresSignOff: needsSignOff } }: ChangeForm): Html {
  return html`<div class="row check">
    <input
      type="checkbox"
      id="sign_off"
      name="sign_off"
      value="yes"
      aria-describedby="sign_off-hint"
      ${signOff ? 'checked' : ''}
      ${needsSignOff ? 'required' : ''}
    />
    <label for="sign_off">
      I affirm the Developer Certificate of Origin 1.1${needsSignOff ? '' : ' (optional)'}
    </label>
    <p class="soft small" id="sign_off-hint">
      <a href="${DCO_URL}">Read it</a>: it says that you may contribute this.
      ${needsSignOff ? 'This project requires it.' : 'Some projects require it.'} The commit then ends with a
      sign-off under the name of the bot.
    </p>
  </div>`;
}

/** @param holder as `secretField` has it. @param isOptional it is needed only for another title or description. */
function keyField(
  { prKey: value }: PullRequestKey,
  holder: Parameters<typeof secretField>[1],
  isOptional: boolean,
): Html {
  const label = `Key of the pull request${isOptional ? ' (optional)' : ''}`;
  const need = isOptional ? ' It is needed to change title or description.' : '';
  const hint = `You got it when the pull request was opened.${need}`;
  return secretField({ name: 'pr_key', label, value, hint, isOptional }, holder);
}

export interface ChangePreview
  extends GivenAway, Pick<Preview, 'author' | 'title' | 'body'>, Pick<NotedReply, 'same'> {
  readonly difference: Difference;
  /** The branch that it is for. */
  readonly base: string;
  /** Whether a push waits here unless its person says otherwise. */
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
  const { path, blob, text, title, description, ownName, ai, issue, prHash, prKey, signOff } = form;
  const typed = { text, title, description, own_name: ownName, ai, issue, pr_hash: prHash, pr_key: prKey };
  const caption = blob === null ? 'The new file' : 'The difference';
  return previewPage('What becomes public', form, {
    given: preview,
    shown: html`${sameNotice(preview.same, form, path, 'or open this one, too')}
    ${preview.hasMoved ? MOVED : ''} ${publicText(form, preview)}
    ${card('file', visibleText(path), differenceTable(caption, preview.difference))}`,
    choice: timeField(preview.isDelayed),
    typed: { ...hiddenFields(form), ...typed, ...(signOff ? { sign_off: 'yes' } : {}) },
    steps: {
      open: prHash === '' ? 'Open the pull request' : 'Update the pull request',
      edit: 'Back to editing',
    },
    width: 'wide',
  });
}

/** As people read it at the host. */
function publicText({ repository }: ChangeForm, { author, base, title, body }: ChangePreview): Html {
  const facts = factList({
    Author: author,
    Branch: `${visibleText(base)} of ${repository}`,
    Time: html`When it becomes public<small>The commit’s id changes with that time.</small>`,
  });
  const text = body === '' ? '' : html`<pre class="text">${'\n'}${visibleText(body)}</pre>`;
  return card('public', visibleText(title), html`${text} ${facts}`);
}

/** @param same an open pull request with the same change of the file; null: nobody knows of one. */
function sameNotice(same: NotedReply['same'], { action }: FormPlace, path: string, or: string): Html | '' {
  if (same === null) return '';
  return html`<p class="notice">
    The same change is open already as <a href="${safeUrl(same.url)}">${same.url}</a>.
    <a href="${changeLink(action, path, same.prHash)}">Go on with that one</a>, ${or}.
  </p>`;
}

/** When a change becomes public. The value of the field is that of the push option `delay`; empty: as is usual here. */
const TIMES = {
  '0s': 'now',
  '3h': 'within some hours: between three and six',
  '1d': 'within some days: one or two',
};

/** @param isDelayed whether what is usual here is not `now`. */
function timeField(isDelayed: boolean): Html {
  const hint = 'If you choose later, it appears at a random time, which reveals less about you.';
  const field = { name: 'delay', label: 'When it becomes public', value: '', hint, isOptional: true };
  return choiceField(field, { ...(isDelayed ? { '': 'as this service does it' } : {}), ...TIMES });
}

export interface OpenedChange
  extends Pick<BannerFacts, 'updated' | 'prUrl' | 'prHash' | 'key'>, Pick<NotedReply, 'notes' | 'same'> {
  /** Of the file. */
  readonly path: string;
  readonly topicUrl: string;
}

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
    html`<a href="${safeUrl(prUrl)}">${prUrl}</a>`,
    html`${sameNotice(same, place, path, 'and withdraw this one')}
    ${card('keep', `Keep ${key === null ? 'its hash' : 'its hash and its key'}`, keep)}
    ${filled(NEXT_HTML, next)} ${lines === '' ? '' : html`<pre class="text">${lines}</pre>`}`,
  );
}

/** @param sentence why and until when. @param page of the delayed push. */
export function changeDelayedPage(place: FormPlace, sentence: string, page: string): Page {
  return formPage(
    'Your change waits',
    place,
    html`${sentence}`,
    html`<section class="card">
      <p>
        Keep this address secret, and do not lose it: nobody can look it up for you. There you can publish the
        change now, or give it up. Once it is published, the page shows the pull request and its key.
      </p>
      <p><a href="${page}" class="mono">${page}</a></p>
    </section>`,
  );
}

export function withdrawPage(form: FormFrame & PullRequestKey): Page {
  const hash = { name: 'pr_hash', label: 'Hash of the pull request', value: form.prHash, maxLength: 40 };
  const fields = html`${textField(hash)} ${keyField(form, null, false)}`;
  return formPage(
    'Withdraw a pull request',
    form,
    html`The pull request is closed, and its branch is removed if it had one. What was public may have been
    copied.`,
    html`${problemNotice(form.problem)} ${cardForm(form, {}, fields, { withdraw: 'Withdraw it' })}`,
  );
}

const HEADINGS: Readonly<Record<Withdrawn['kind'], string>> = {
  closed: 'Your pull request is withdrawn',
  merged: 'It was already merged',
  gone: 'Your pull request is gone',
  open: 'Your pull request is still open',
};

export function withdrawnPage(place: FormPlace, withdrawn: Withdrawn): Page {
  const url = withdrawn.prUrl;
  return formPage(
    HEADINGS[withdrawn.kind],
    place,
    html`<a href="${safeUrl(url)}">${url}</a>`,
    html`<p>${farewell(withdrawn).join(' ')}</p>`,
  );
}
