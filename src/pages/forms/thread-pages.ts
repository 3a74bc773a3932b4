/**
 * Pages to open an issue: the form, and the preview; and the result of an issue or a reply.
 * Proved by test/e2e/people/thread-form.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import { type IssueTemplates, NO_TEMPLATES, type FormQuestion } from '../../policy/issue-templates.ts';
import { COPY_SCRIPT } from '../commands.ts';
import { card, hostLine, type Html, type Page, safeUrl, visibleText } from '../layout.ts';
import { SECURITY_FORM } from '../remote-paths.ts';
import { questionFields } from './question-fields.ts';
import {
  asItStands,
  cardForm,
  closedNotice,
  field,
  type FormFrame,
  formPage,
  type FormPlace,
  type GivenAway,
  hidden,
  MAX_TITLE,
  nameField,
  previewPage,
  problemNotice,
  stepButtons,
} from './parts.ts';
import { saveCard } from './save-card.ts';

/** `labels`: names separated by commas. `own_name`: a name to search for, or empty. */
type IssueForm = FormFrame &
  Readonly<Record<'title' | 'body' | 'labels' | 'own_name', string>> & {
    /** The repository's own form, which asks in place of the body; null: there is none. */
    readonly asked: AskedForm | null;
  };

/** A form of the repository's, and what was answered. */
export interface AskedForm {
  readonly name: string;
  readonly questions: readonly FormQuestion[];
  /** The form's name and id, and the answers, by the names of their fields. */
  readonly sent: Readonly<Record<string, string>>;
}

export const BODY_HINT = 'Markdown. Everyone will see it. Leave out whatever shows who you are.';
const LABELS_HINT =
  'Names that the repository has, with commas between them. The code host leaves them out unless the bot may set labels, which is rare.';
const LABELS_NOTE = 'Labels, if the repository has them and lets the bot set them';
const ISSUE_LEAD = 'A bot opens it for you. It shows neither your name nor your address.';

/**
 * @param offered the templates to begin with.
 * @param gate says what the repository may do with the issue; null: nothing.
 */
export function issueFormPage(
  form: IssueForm,
  offered: IssueTemplates = NO_TEMPLATES,
  gate: string | null = null,
): Page {
  const { action, problem, title, body, labels, asked } = form;
  const text =
    asked === null
      ? field('body', 'Body', body, { hint: BODY_HINT, rows: 12 })
      : questionFields(asked.questions, (name) => asked.sent[name] ?? '');
  const fields = html`${field('title', 'Title', title, { maxLength: MAX_TITLE })} ${text}
  ${field('labels', 'Labels (optional)', labels, { hint: LABELS_HINT, isOptional: true })} ${nameField(form)}`;
  const kept =
    asked === null ? {} : { template: asked.sent['template'] ?? '', asked: asked.sent['asked'] ?? '' };
  return formPage(
    asked === null ? 'Open an issue' : `Open an issue: ${visibleText(asked.name)}`,
    form,
    ISSUE_LEAD,
    html`${problemNotice(problem)} ${gate && html`<div class="notice"><p>${visibleText(gate)}</p></div>`}
    ${vulnerabilityHint(form)} ${choices(action, offered, 'Begin with a template')}
    ${cardForm(form, kept, fields, { preview: 'Preview' })}`,
  );
}

/** An issue is public, so a vulnerability has a form of its own. */
function vulnerabilityHint({ home }: FormPlace): Html {
  const link = html`<a href="${home}${SECURITY_FORM}">report it privately</a>`;
  return html`<p class="soft small">Everyone sees an issue. If it is about a vulnerability, ${link}.</p>`;
}

/** @param closed lines that say why no issue can be opened now. */
export function issueClosedPage(place: FormPlace, closed: string): Page {
  return formPage('Open an issue', place, ISSUE_LEAD, closedNotice(place, closed));
}

/** Shows the templates alone, where the repository takes no issue without one. */
export function issueChoicePage(place: FormPlace, offered: IssueTemplates, problem: string | null): Page {
  const none = html`<p>This repository takes issues only by its own forms, and none can be shown here.</p>`;
  const list = choices(place.action, offered, 'Choose what it is about');
  return formPage(
    'Open an issue',
    place,
    ISSUE_LEAD,
    html`${problemNotice(problem)} ${list === '' ? none : list}`,
  );
}

/** Links to templates, and to places that the maintainers name. */
function choices(action: string, { templates, links }: IssueTemplates, title: string): Html | '' {
  const items = [
    ...templates.map(({ file, name, about }) => ({
      link: html`<a href="${action}?${new URLSearchParams({ template: file }).toString()}"
        >${visibleText(name)}</a
      >`,
      about,
    })),
    ...links.map(({ url, name, about }) => ({
      link: html`<a href="${safeUrl(url)}" rel="noreferrer">${visibleText(name)}</a>`,
      about,
    })),
  ].map(
    ({ link, about }) =>
      html`<li>${link}${about && html`<br /><span class="soft">${visibleText(about)}</span>`}</li>`,
  );
  if (items.length === 0) return '';
  return card(
    'templates',
    title,
    html`<ul class="choices">
      ${items}
    </ul>`,
  );
}

/** @param text the whole text, with its footer. */
export function issuePreviewPage(form: IssueForm, text: string, given: GivenAway): Page {
  const { title, body, labels, own_name, asked } = form;
  const named = labels === '' ? '' : html`<p class="soft small">${LABELS_NOTE}: ${visibleText(labels)}</p>`;
  return previewPage('Preview of the issue', form, {
    given,
    shown: card('shown', visibleText(title), html`${asItStands(text)} ${named}`),
    typed: { title, ...(asked === null ? { body } : asked.sent), labels, own_name },
    steps: { post: 'Open the issue', edit: 'Change it' },
  });
}

const DONE = {
  issues: { title: 'Your issue is open', onward: 'Reply to this issue' },
  comments: { title: 'Your reply is posted', onward: 'Write another reply' },
} as const;

/**
 * Shows the token to save.
 * @param origin the service's address, as this person has it.
 * @param next the form of the next reply, to which a button takes the token along.
 */
export function donePage(
  kind: keyof typeof DONE,
  origin: string,
  next: FormFrame,
  { url, number }: { readonly url: string; readonly number: number },
  { hash, userToken: value }: Readonly<Record<'hash' | 'userToken', string>>,
): Page {
  const { title, onward } = DONE[kind];
  const thread = `${next.action}?to=${number}`;
  const save = saveCard({
    lines: { Page: origin + thread, You: `anon-${hash}`, Token: value },
    note: html`On this thread you are <span class="mono">anon-${hash}</span>. Only the token shows that it was
      you. Nobody can recover it. Store it where no account of yours keeps it: in no synced password manager.`,
    fileName: `thread-${number}.txt`,
    more: html`<form method="post" action="${next.action}">
      ${hidden({ token: next.token, number: String(number), user_token: value })}
      ${stepButtons({ edit: onward })}
    </form>`,
  });
  const lead = html`<a href="${thread}">Follow #${number} on this service</a>: what people write there.`;
  return { ...formPage(title, next, lead, html`${save} ${hostLine(url)}`), script: COPY_SCRIPT };
}
