/**
 * Pages to send a file that Git has made, a bundle or a patch: choose it, and see what becomes
 * public. They need no script. The service keeps nothing between the two: the second page has a
 * small file itself, and asks for a large one again.
 * Proved by test/e2e/people/file-form.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import type { Changes } from '../../edit/changes.ts';
import { MAX_DESCRIPTION_LENGTH } from '../../push/receive/push-options.ts';
import type { Preview } from '../../push/reply/refusal.ts';
import type { NotedReply } from '../../push/reply/reply.ts';
import type { Finding } from '../../words/finding.ts';
import { changesList } from '../changes-list.ts';
import { card, factList, type Html, listCard, type Page, visibleText } from '../layout.ts';
import { OR_BOTH, sameNotice } from './change-pages.ts';
import {
  attributes,
  closedNotice,
  field,
  type FormFrame,
  formPage,
  type FormPlace,
  hidden,
  MAX_OWN_NAME,
  MAX_TITLE,
  problemNotice,
  stepButtons,
} from './parts.ts';
import {
  keyField,
  type PullRequestForm,
  signOffBox,
  statedFields,
  timeField,
  timeWords,
} from './pull-request-fields.ts';

/** Fields of the form besides the file; an empty one is not given. */
export const NO_FILE_FIELDS = {
  title: '',
  description: '',
  base: '',
  own_name: '',
  pr_hash: '',
  pr_key: '',
  sign_off: '',
  ai: '',
  issue: '',
  delay: '',
};
export type FileFields = Readonly<typeof NO_FILE_FIELDS>;

export interface FileForm extends FormFrame, PullRequestForm {
  readonly fields: FileFields;
  /** Whether this service delays pushes by default. */
  readonly isDelayed: boolean;
}

const TITLE = 'Send a bundle or a patch';
const OPENS = 'For a file that Git has made on your machine. A bot opens a pull request with its commits.';
const UPDATES =
  'For a file that Git has made on your machine, with all commits of your pull request: they replace those that it has.';

/** @param closed lines that say why nothing can be sent now. */
export function fileClosedPage(place: FormPlace, closed: string): Page {
  return formPage(TITLE, place, 'A bot opens a pull request for you.', closedNotice(place, closed));
}

const TITLE_FIELD = {
  hint: 'Needed for a diff, which has no message.',
  maxLength: MAX_TITLE,
  isOptional: true,
};
const WHY = { hint: 'Markdown.', maxLength: MAX_DESCRIPTION_LENGTH, isOptional: true, rows: 4 };
const OWN_NAME = 'Your name, for a diff (optional; only searched for)';
const OWN_NAME_FIELD = {
  hint: 'It is never published. Bundles and mails name their author themselves.',
  maxLength: MAX_OWN_NAME,
  isOptional: true,
};
const BRANCH = { hint: 'Of this repository. If it is empty, its default one.', isOptional: true };

export function filePage(form: FileForm): Page {
  const { fields, problem, token, action } = form;
  const { title, description, base, pr_hash } = fields;
  const rows = html`${field('title', 'Title (optional)', title, TITLE_FIELD)}
  ${field('description', 'Description (optional)', description, WHY)}
  ${field('base', 'Branch (optional)', base, BRANCH)}
  ${field('own_name', OWN_NAME, fields.own_name, OWN_NAME_FIELD)} ${statedFields(form)} ${signOffBox(form)}
  ${timeField(form.isDelayed, fields.delay)} ${pr_hash === '' ? '' : keyField(fields, !form.needsKey)}
  ${fileField(FILE_HINT)}`;
  return formPage(
    TITLE,
    form,
    pr_hash === '' ? OPENS : UPDATES,
    html`${problemNotice(problem)}
      <form method="post" action="${action}" enctype="multipart/form-data" class="card">
        ${hidden({ token, pr_hash })} ${rows} ${stepButtons({ preview: 'See what becomes public' })}
      </form>
      ${card('make', 'How to make it', COMMANDS)}`,
  );
}

const FILE_HINT = 'A bundle of up to 100 MB, or a patch of up to 10 MB.';
const COMMANDS = html`<p>In your clone, with your commits on <code>my-change</code>:</p>
  <pre><code>git bundle create my.bundle origin/main..my-change
git format-patch --stdout origin/main..my-change &gt; my.patch</code></pre>
  <p>
    A bundle is the push itself. A patch is applied here, so the code host learns at once which files it
    changes, and it cannot be published later.
  </p>`;

function fileField(hint: string): Html {
  const own = { type: 'file', id: 'file', name: 'file', required: true, 'aria-describedby': 'file-hint' };
  return html`<div class="row">
    <label for="file">The file</label>
    <p class="soft small hint" id="file-hint">${hint}</p>
    <input${attributes(own)} />
  </div>`;
}

export interface FilePreview
  extends Pick<Preview, 'author' | 'title' | 'body' | 'commits' | 'findings'>, Pick<NotedReply, 'same'> {
  /** Commits that are not listed. */
  readonly unlisted: number;
  readonly base: string;
  /** The files with what changes in them; a sentence says why they are not shown. */
  readonly changes: Changes | string;
  /** Names the file, so that no other is published. */
  readonly seen: string;
  /** The file in Base64; null: it is too large, and has to be chosen again. */
  readonly held: string | null;
  /** Codes of the warnings, with which it is published. */
  readonly yes: string;
}

export function filePreviewPage(form: FileForm, preview: FilePreview): Page {
  const { fields, token, action, repository } = form;
  const { author, title, body, base, seen, held, yes, findings } = preview;
  const { warn = [], say = [] } = Object.groupBy(findings, ({ severity }) => severity);
  const facts = factList({
    Author: author,
    Branch: `${visibleText(base)} of ${repository}`,
    Time: html`When it becomes public<small
        >${timeWords(fields.delay)} The ids of the commits change with that time.</small
      >`,
  });
  const text = body ? html`<pre class="text">${'\n'}${visibleText(body)}</pre>` : '';
  const kept = body === null ? html`<p>The description stays as it is.</p>` : '';
  // The service reads fields until it meets the file.
  const file = held === null ? fileField(AGAIN_HINT) : hidden({ held });
  return formPage(
    'What becomes public',
    form,
    'This is everything that becomes public. Nothing has been sent yet.',
    html`${sameNotice(preview.same, form, '', OR_BOTH)} ${warn.map(findingNotice)}
      ${card('public', title === null ? 'The title stays as it is' : visibleText(title), html`${text} ${kept} ${facts}`)}
      ${commitsCard(preview)} ${card('changes', 'What it changes', changesOf(preview))}
      ${say.map(findingNotice)}
      <form method="post" action="${action}" enctype="multipart/form-data">
        ${hidden({ token, ...fields, seen, yes, step: 'publish' })} ${file}
        <div class="buttons">
          <button type="submit">
            ${fields.pr_hash === '' ? 'Open the pull request' : 'Update the pull request'}
          </button>
        </div>
        <p class="soft small"><a href="${action}">Choose another file</a></p>
      </form>`,
    'wide',
  );
}

const AGAIN_HINT =
  'Choose the same file again. The service has not kept it, and it is too large to be in this page.';

const changesOf = ({ changes }: FilePreview): Html =>
  typeof changes === 'string' ? html`<p>${changes}</p>` : changesList(changes);

function commitsCard({ commits, unlisted }: FilePreview): Html {
  const items = commits.map(
    ({ oid, title }) =>
      html`<li>
        <span><code>${oid.slice(0, 10)}</code> ${visibleText(title)}</span>
      </li>`,
  );
  const more = html`<li><span>and ${unlisted.toLocaleString('en')} more</span></li>`;
  return listCard('commits', 'Its commits', unlisted > 0 ? [...items, more] : items, '');
}

/** Shows what judging has found, with its code. */
function findingNotice({ severity, code, lines }: Finding): Html {
  return html`<div class="notice${severity === 'warn' ? ' bad' : ''}">
    ${lines.map((line) => html`<p>${visibleText(line)}</p>`)}
    <p class="soft small"><code>${code}</code></p>
  </div>`;
}
