/**
 * Parts of pages with forms, which work without script: every label belongs to its field, and every
 * mistake is announced to screen readers.
 * Proved by test/pages/escaping.test.ts.
 */
import { html, raw } from 'hono/html';
import { renderedMarkdown } from '../../text/markdown.ts';
import { card, type Html, type Page, unlistedPage, visibleText } from '../layout.ts';

/** The longest title of an issue or a pull request that hosts take. */
export const MAX_TITLE = 256;
export const MAX_OWN_NAME = 200;
/** How many addresses are shown; the others are only counted. */
const MAX_ADDRESSES = 5;

export interface FormPlace {
  /** `owner/repo` */
  readonly repository: string;
  /** The page of the repository on this service. */
  readonly home: string;
  readonly action: string;
}

export interface FormFrame extends FormPlace {
  readonly token: string;
  readonly problem: string | null;
}

export function formPage(
  title: string,
  { repository, home }: FormPlace,
  lead: Html | string,
  content: Html,
  width: 'narrow' | 'wide' = 'narrow',
): Page {
  return unlistedPage(
    `${title} · ${repository}`,
    `${title} without an account.`,
    html`<p class="crumbs"><a href="${home}">${repository}</a></p>
      <h1>${title}</h1>
      <p class="lead">${lead}</p>
      ${content}`,
    width,
  );
}

/** Remarks of the search for names, and e-mail addresses that become public. */
export type GivenAway = Readonly<Record<'remarks' | 'addresses', readonly string[]>>;

interface Preview {
  /** Says who will see it. */
  readonly lead?: Html | string;
  readonly given: GivenAway;
  readonly shown: Html;
  readonly choice?: Html;
  /** The fields that the form carries on, by their names. */
  readonly typed: Readonly<Record<string, string>>;
  readonly steps: Readonly<Record<string, string>>;
  readonly width?: 'narrow' | 'wide';
}

const BECOMES_PUBLIC = 'This is everything that becomes public.';

/** Shows what becomes public, and the buttons that send it or lead back. */
export function previewPage(title: string, form: FormFrame, preview: Preview): Page {
  const { lead = BECOMES_PUBLIC, given, shown, choice = '', typed, steps, width } = preview;
  return formPage(
    title,
    form,
    html`${lead} Nothing has been sent yet.`,
    html`${addressNotice(given)} ${shown} ${remarksCard(given)}
      <form method="post" action="${form.action}">
        ${hidden({ token: form.token, ...typed })} ${choice} ${stepButtons(steps)}
      </form>`,
    width,
  );
}

function addressNotice({ addresses }: GivenAway): Html | '' {
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

function remarksCard({ remarks }: GivenAway): Html | '' {
  if (remarks.length === 0) return '';
  const text = html`<pre class="text">${'\n'}${remarks.join('\n')}</pre>`;
  return card('remarks', 'What the service has looked for', text);
}

export function problemNotice(problem: string | null): Html | '' {
  if (problem === null) return '';
  return html`<div class="notice bad" role="alert" id="problem"><p>${problem}</p></div>`;
}

/**
 * Stands in place of fields that nobody can send now.
 * @param closed lines that say why.
 */
export function closedNotice({ home, repository }: FormPlace, closed: string): Html {
  const lines = closed.split('\n').map((line) => html`<p>${visibleText(line)}</p>`);
  return html`<div class="notice bad" role="alert" id="problem">${lines}</div>
    <p><a href="${home}">What ${repository} accepts, and how</a></p>`;
}

/**
 * @param values hidden fields by their names.
 * @param steps the same as for `stepButtons`.
 * @param behind what stands behind these buttons.
 */
export function cardForm(
  { action, token }: Pick<FormFrame, 'action' | 'token'>,
  values: Readonly<Record<string, string>>,
  fields: Html | Html[],
  steps: Readonly<Record<string, string>>,
  behind: Html | '' = '',
): Html {
  return html`<form method="post" action="${action}" class="card">
    ${hidden({ token, ...values })} ${fields} ${stepButtons(steps)} ${behind}
  </form>`;
}

interface FieldOptions {
  readonly hint?: string;
  readonly maxLength?: number;
  readonly placeholder?: string;
  readonly isOptional?: boolean;
  readonly rows?: number;
  /** Set for the text of a file. `prose` has long lines, which are wrapped. */
  readonly text?: 'code' | 'prose';
  /** Values with their words, in the order in which they are shown. */
  readonly choices?: readonly (readonly [value: string, words: string])[];
  /**
   * `shown`: a contributor's secret, in a text field, because browsers offer to store what a
   * password field has, often with an account. `stored`: the operator's, in a password field.
   */
  readonly secret?: 'shown' | 'stored';
}

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Writes attributes, without those that are false or undefined.
 * @param values by names, which must be literals of this code.
 */
export function attributes(values: Attributes): Html[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? raw(` ${name}`) : html` ${raw(name)}="${value}"`));
}

/** Shows a field with its label; by default, for a line of text. */
export function field(name: string, label: string, value: string, options: FieldOptions): Html {
  const { hint, maxLength, placeholder, isOptional = false, rows, text, choices, secret } = options;
  const described = hint === undefined ? undefined : `${name}-hint`;
  const common = { 'aria-describedby': described, required: !isOptional, maxlength: maxLength };
  const all = (own: Attributes): Html[] => attributes({ id: name, name, ...own, ...common });
  const shownInIt = { placeholder: placeholder || undefined };
  const plain = { class: 'mono', spellcheck: 'false', autocapitalize: 'none' };
  const code = text === undefined ? {} : { ...plain, wrap: text === 'code' ? 'off' : undefined };
  const kind =
    secret === 'stored'
      ? { type: 'password', autocomplete: 'current-password' }
      : { type: 'text', autocomplete: 'off', ...(secret === 'shown' ? plain : {}) };
  let tag = html`<input${all({ value, ...kind, ...shownInIt })} />`;
  if (rows !== undefined)
    // Browsers drop the first line feed after the tag.
    tag = html`<textarea${all({ rows, autocomplete: 'off', ...code, ...shownInIt })}>${'\n'}${value}</textarea>`;
  if (choices !== undefined) {
    const values = choices.map(
      ([choice, words]) =>
        html`<option${attributes({ value: choice, selected: choice === value })}>${words}</option>`,
    );
    tag = html`<select${all({})}>${values}</select>`;
  }
  return html`<div class="row">
    <label for="${name}">${label}</label>
    ${hint === undefined ? '' : html`<p class="soft small hint" id="${name}-hint">${hint}</p>`} ${tag}
  </div>`;
}

/** Shows a value to copy, or the name under which a password manager stores a secret. */
export function shownValue(id: string, label: string, value: string, use: 'off' | 'username' = 'off'): Html {
  return html`<div class="row">
    <label for="${id}">${label}</label>
    <input type="text" id="${id}" value="${value}" autocomplete="${use}" readonly />
  </div>`;
}

type Query = Readonly<
  Record<'name' | 'label' | 'value' | 'placeholder', string> & Record<'maxlength', number>
>;

/**
 * Shows a field in which somebody types or pastes where to go, with buttons beside it.
 * @param problem words below it; null: none.
 */
export function queryField({ label, ...query }: Query, buttons: Html, problem: string | null = null): Html {
  const { name } = query;
  const own = { type: 'text', id: name, ...query };
  const plain = { autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' };
  const invalid = problem === null ? {} : { 'aria-invalid': 'true', 'aria-describedby': `${name}-error` };
  return html`<label for="${name}">${label}</label>
    <div class="field"><input${attributes({ ...own, ...plain, ...invalid })} />${buttons}</div>
    ${problem === null ? '' : html`<p class="error" id="${name}-error">${problem}</p>`}`;
}

export function nameField({ own_name: value }: { readonly own_name: string }): Html {
  const label = 'Your name (optional; never published, only searched for)';
  const hint = 'With it, the service tells you if the text contains your name or e-mail address.';
  return field('own_name', label, value, { hint, maxLength: MAX_OWN_NAME, isOptional: true });
}

export function hidden(values: Readonly<Record<string, string>>): Html[] {
  return Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
}

/** @param steps the buttons' values with their labels. The Enter key presses the first one. */
export function stepButtons(steps: Readonly<Record<string, string>>): Html {
  const buttons = Object.entries(steps).map(([step, label], index) => {
    const other = index === 0 ? {} : { class: 'second', formnovalidate: true };
    return html`<button${attributes({ type: 'submit', name: 'step', value: step, ...other })}>${label}</button>`;
  });
  return html`<div class="buttons">${buttons}</div>`;
}

/**
 * Shows a text as the host would, and as it is sent. The line feed stands there because browsers
 * drop the first one after `pre`.
 */
export function asItStands(text: string): Html {
  return html`<div class="rendered" tabindex="0" role="region" aria-label="As people see it">
      ${raw(renderedMarkdown(visibleText(text)))}
    </div>
    <details>
      <summary>The same as Markdown</summary>
      <pre>${'\n'}${text}</pre>
    </details>`;
}
