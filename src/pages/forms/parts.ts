/** The frame and the parts of pages with forms. They work without a script; every label belongs to its field, and every mistake is announced. */
import { html, raw } from 'hono/html';
import { card, type Html, type Page, unlistedPage } from '../layout.ts';

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
  { repository, home }: Pick<FormPlace, 'repository' | 'home'>,
  lead: Html,
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

/** What somebody who publishes it should know. */
export interface GivenAway {
  /** What was searched and found, and warnings. */
  readonly remarks: readonly string[];
  /** E-mail addresses that become public with it. */
  readonly addresses: readonly string[];
}

interface Preview {
  /** Who it will be from, at the end of a sentence. */
  readonly as?: Html;
  readonly given: GivenAway;
  readonly shown: Html;
  readonly choice?: Html;
  /** The fields that the form goes on with, by their names. */
  readonly typed: Readonly<Record<string, string>>;
  readonly steps: Readonly<Record<string, string>>;
  readonly width?: 'narrow' | 'wide';
}

/** What becomes public, and the buttons that send it, or lead back. */
export function previewPage(title: string, form: FormFrame, preview: Preview): Page {
  const { as = '', given, shown, choice = '', typed, steps, width } = preview;
  return formPage(
    title,
    form,
    html`This is everything that becomes public${as}. Nothing has been sent yet.`,
    html`${addressNotice(given)} ${shown} ${remarksCard(given)}
      <form method="post" action="${form.action}">
        ${hidden({ token: form.token, ...typed })} ${choice} ${stepButtons(steps)}
      </form>`,
    width,
  );
}

/** More are counted. */
const MAX_ADDRESSES = 5;

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

/** What is wrong with what was sent. */
export function problemNotice(problem: string | null): Html | '' {
  if (problem === null) return '';
  return html`<div class="notice bad" role="alert" id="problem"><p>${problem}</p></div>`;
}

/** @param values hidden ones by their names. @param steps as `stepButtons` has them. */
export function cardForm(
  { action, token }: Pick<FormFrame, 'action' | 'token'>,
  values: Readonly<Record<string, string>>,
  fields: Html | Html[],
  steps: Readonly<Record<string, string>>,
): Html {
  return html`<form method="post" action="${action}" class="card">
    ${hidden({ token, ...values })} ${fields} ${stepButtons(steps)}
  </form>`;
}

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Below the label. */
  readonly hint?: string;
  readonly maxLength?: number;
  readonly isOptional?: boolean;
}

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Those without a value are left out. @param values by names, which are of this code. */
function attributes(values: Attributes): Html[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? raw(` ${name}`) : html` ${raw(name)}="${value}"`));
}

/** @param own what only its kind has. @param options of a `select`. */
function fieldRow(
  field: Field,
  tag: 'input' | 'textarea' | 'select',
  own: Attributes,
  options: Html[] = [],
): Html {
  const { name, label, value, hint, maxLength, isOptional = false } = field;
  const described = hint === undefined ? undefined : `${name}-hint`;
  const common = { 'aria-describedby': described, required: !isOptional, maxlength: maxLength };
  const all = attributes({ id: name, name, ...own, ...common });
  // A browser drops the first line feed behind the tag.
  const textarea = html`<textarea${all}>${'\n'}${value}</textarea>`;
  const tags = { input: html`<input${all} />`, textarea, select: html`<select${all}>${options}</select>` };
  return html`<div class="row">
    <label for="${name}">${label}</label>
    ${hint === undefined ? '' : html`<p class="soft small hint" id="${name}-hint">${hint}</p>`} ${tags[tag]}
  </div>`;
}

export function textField(field: Field): Html {
  return fieldRow(field, 'input', { type: 'text', value: field.value, autocomplete: 'off' });
}

/** @param choices of its value, with what people read. */
export function choiceField(field: Field, choices: Readonly<Record<string, string>>): Html {
  const options = Object.entries(choices).map(
    ([value, label]) =>
      html`<option${attributes({ value, selected: value === field.value })}>${label}</option>`,
  );
  return fieldRow(field, 'select', {}, options);
}

/** @param rows that are seen at once. */
export function textArea(field: Field, rows: number, isCode = false): Html {
  const code = isCode ? { class: 'mono', spellcheck: 'false', autocapitalize: 'none', wrap: 'off' } : {};
  return fieldRow(field, 'textarea', { rows, autocomplete: 'off', ...code });
}

/** @param holder what the password manager files the secret under; null: the field before it says that. */
export function secretField(
  field: Field,
  holder: { readonly label: string; readonly value: string } | null,
  autocomplete: 'new-password' | 'current-password' = 'current-password',
): Html {
  const { name, value } = field;
  return html`${holder === null ? '' : shownValue(`${name}-holder`, holder.label, holder.value, 'username')}
  ${fieldRow(field, 'input', { type: 'password', value, autocomplete })}`;
}

/** For a value to copy, or that a password manager files a secret under. */
export function shownValue(id: string, label: string, value: string, use: 'off' | 'username' = 'off'): Html {
  return html`<div class="row">
    <label for="${id}">${label}</label>
    <input type="text" id="${id}" value="${value}" autocomplete="${use}" readonly />
  </div>`;
}

/** For what someone types or pastes to get on, with its buttons beside it. @param problem below it; null: none. */
export function queryField(
  { name, label, value, maxLength }: Field,
  placeholder: string,
  buttons: Html | Html[],
  problem: string | null = null,
): Html {
  const own = { type: 'text', id: name, name, value, placeholder, maxlength: maxLength };
  const plain = { autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' };
  const invalid = problem === null ? {} : { 'aria-invalid': 'true', 'aria-describedby': `${name}-error` };
  return html`<label for="${name}">${label}</label>
    <div class="field"><input${attributes({ ...own, ...plain, ...invalid })} />${buttons}</div>
    ${problem === null ? '' : html`<p class="error" id="${name}-error">${problem}</p>`}`;
}

/** Of an issue or a pull request, as the hosts take it. */
export const MAX_TITLE = 256;
export const MAX_OWN_NAME = 200;

/** For whom to search. */
export function nameField({ own_name: value }: { readonly own_name: string }): Html {
  const label = 'Your name (optional; never published, only searched for)';
  const hint = 'With it, the service tells you if the text contains your name or e-mail address.';
  return textField({ name: 'own_name', label, value, hint, maxLength: MAX_OWN_NAME, isOptional: true });
}

export function hidden(values: Readonly<Record<string, string>>): Html[] {
  return Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
}

/** @param steps the values of the buttons, with their labels. The first one is what Enter does. */
export function stepButtons(steps: Readonly<Record<string, string>>): Html {
  const buttons = Object.entries(steps).map(([step, label], index) => {
    const other = index === 0 ? {} : { class: 'second', formnovalidate: true };
    return html`<button${attributes({ type: 'submit', name: 'step', value: step, ...other })}>${label}</button>`;
  });
  return html`<div class="buttons">${buttons}</div>`;
}

/** Only links of this kind lead somewhere harmless. */
export function safeUrl(url: string): string {
  return /^https?:\/\//.test(url) ? url : '#';
}
