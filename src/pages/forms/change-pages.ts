/**
 * Pages behind the one on which files are edited: what becomes public, and the result; and the
 * pages to withdraw a pull request.
 * Proved by test/e2e/people/change-form.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import type { FileEdit } from '../../edit/file-edits.ts';
import type { Difference } from '../../edit/lines.ts';
import { pullRequestPath } from '../../words/pr-hash.ts';
import { type BannerFacts, farewell, type Withdrawn } from '../../push/reply/banner.ts';
import type { Preview } from '../../push/reply/refusal.ts';
import type { NotedReply } from '../../push/reply/reply.ts';
import { COPY_SCRIPT } from '../commands.ts';
import { differenceTable } from '../difference-table.ts';
import NEXT_HTML from '../fragments/next.html';
import { FILE_FORM } from '../remote-paths.ts';
import { card, factList, filled, hostLine, type Html, type Page, safeUrl, visibleText } from '../layout.ts';
import type { ChangeFields, ChangeForm } from './edit-page.ts';
import { changeLink } from './folder-page.ts';
import {
  cardForm,
  closedNotice,
  field,
  type FormFrame,
  formPage,
  type FormPlace,
  type GivenAway,
  previewPage,
  problemNotice,
} from './parts.ts';
import { keyField, timeField } from './pull-request-fields.ts';
import { saveCard } from './save-card.ts';

/** @param closed lines that say why no change can be sent now. */
export function changeClosedPage(place: FormPlace, closed: string): Page {
  return formPage('Change a file', place, 'A bot opens a pull request for you.', closedNotice(place, closed));
}

/** A file as it changes. Without a difference, it is removed, and no text. */
export interface PreviewedFile extends FileEdit {
  readonly difference: Difference | null;
}

interface ChangePreview
  extends
    GivenAway,
    Pick<Preview, 'author'>,
    Pick<NotedReply, 'same'>,
    Readonly<Record<'title' | 'body', string>> {
  readonly files: readonly PreviewedFile[];
  readonly base: string;
  /** Whether this service delays pushes by default. */
  readonly isDelayed: boolean;
  /** Whether others have changed something since the form was opened. */
  readonly hasMoved: boolean;
}

const MOVED = html`<div class="notice">
  <p>
    Others have changed the repository since you began, but not what you change. Your change applies to the
    newest version.
  </p>
</div>`;

export function changePreviewPage(form: ChangeForm, preview: ChangePreview): Page {
  const { path, pr_hash } = form.fields;
  return previewPage('What becomes public', form, {
    given: preview,
    shown: html`${sameNotice(preview.same, form, path, OR_BOTH)} ${preview.hasMoved ? MOVED : ''}
    ${publicText(form, preview)} ${preview.files.map(fileCard)}`,
    choice: timeField(preview.isDelayed),
    typed: form.fields,
    steps: {
      open: pr_hash === '' ? 'Open the pull request' : 'Update the pull request',
      edit: 'Back to editing',
    },
    width: 'wide',
  });
}

function fileCard({ path, blob, isRemoved, difference }: PreviewedFile, index: number): Html {
  const added = blob === '' ? 'The new file' : 'The difference';
  const caption = isRemoved ? 'The file is removed' : added;
  const shown =
    difference === null
      ? html`<p>The file is removed. It is no text that can be shown here.</p>`
      : differenceTable(caption, difference, visibleText, `${caption}: ${visibleText(path)}`);
  return card(`file-${index}`, visibleText(path), shown);
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

/** The other choice of somebody who has not opened the second one yet. */
export const OR_BOTH = 'or open this one, too';

/** Tells of an open pull request with the same change, or with commits of the file that is sent. */
export function sameNotice(same: NotedReply['same'], place: FormPlace, path: string, or: string): Html | '' {
  if (same === null) return '';
  const what = isOfFile(place) ? 'Commits of this file are' : 'The same change is';
  return html`<p class="notice">
    ${what} open already: <a href="${pullRequestPath(same.prHash)}">see its page</a>.
    <a href="${changeLink(place.action, path, same.prHash)}">Go on with that one</a>, ${or}.
  </p>`;
}

/** Whether the form sends a bundle or a patch. */
const isOfFile = ({ home, action }: FormPlace): boolean => action === home + FILE_FORM;

export type OpenedChange = Pick<BannerFacts, 'updated' | 'prUrl' | 'prHash' | 'key'> &
  Pick<NotedReply, 'notes' | 'same'> &
  Readonly<Record<'path' | 'topicUrl' | 'pageUrl', string>> & {
    /** Whether an update needs the key. */
    readonly needsKey: boolean;
  };

const BY_HASH =
  'With the hash, everybody can update the pull request: it is part of the branch’s name. Only with the key can you withdraw it, or change its title and description.';
const BY_KEY =
  'Only with the key can you update the pull request, withdraw it, or change its title and description.';
const KEEP = 'Nobody can look the key up for you. Keep it where no account of yours has it.';

export function changeDonePage(place: FormPlace, opened: OpenedChange): Page {
  const { updated, prUrl, prHash, key, topicUrl, pageUrl, path, same, needsKey } = opened;
  const lines = opened.notes.join('\n').trim();
  const save = saveCard({
    lines: { Page: pageUrl, Hash: prHash, ...(key !== null && { Key: key }) },
    note: `${needsKey ? BY_KEY : BY_HASH} ${KEEP}`,
    fileName: `pull-request-${prHash}.txt`,
  });
  const next = {
    edit: changeLink(place.action, path, prHash),
    how: isOfFile(place) ? 'Send a new file with all its commits' : 'Edit again',
    topic: safeUrl(topicUrl),
    withdrawal: `${place.home}/withdraw?pr_hash=${prHash}`,
  };
  const page = formPage(
    updated ? 'Your pull request is updated' : 'Your pull request is open',
    place,
    html`<a href="${pullRequestPath(prHash)}">Follow it on its page</a>: state, conversation, and a feed.`,
    html`${sameNotice(same, place, path, 'and withdraw this one')} ${save} ${filled(NEXT_HTML, next)}
    ${lines === '' ? '' : html`<pre class="text">${lines}</pre>`} ${hostLine(prUrl)}`,
  );
  return { ...page, script: COPY_SCRIPT };
}

/**
 * @param sentence says why the change waits, and until when.
 * @param page address of the delayed push's page.
 */
export function changeDelayedPage(place: FormPlace, sentence: string, page: string): Page {
  const save = saveCard({
    lines: { Page: page },
    note: 'Keep this address secret, and do not lose it: nobody can look it up for you.',
    fileName: 'delayed-change.txt',
    more: html`<p>
      <a href="${page}">Open its page</a> to publish the change now, or to give it up. Once it is published,
      the page shows the pull request and its key.
    </p>`,
  });
  return { ...formPage('Your change waits', place, sentence, save), script: COPY_SCRIPT };
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
