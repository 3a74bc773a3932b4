/** The frame and the parts of pages with forms. They work without a script; every label belongs to its field, and every mistake is announced. */
import { html, raw } from 'hono/html';
import { type Html, type Page, unlistedPage } from '../layout.ts';

export interface FormFrame {
  /** `owner/repo` */
  readonly repository: string;
  /** The page of the repository on this service. */
  readonly home: string;
  /** Where the form is sent. */
  readonly action: string;
  readonly token: string;
  readonly problem: string | null;
}

export function formPage(
  title: string,
  { repository, home }: Pick<FormFrame, 'repository' | 'home'>,
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

/** Of an issue or a pull request, as the hosts take it. */
export const MAX_TITLE = 256;

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Below the label. */
  readonly hint?: string;
  readonly maxLength?: number;
  readonly isOptional?: boolean;
}

/** What is wrong with what was sent. */
export function problemNotice(problem: string | null): Html | '' {
  if (problem === null) return '';
  return html`<div class="notice bad" role="alert" id="problem"><p>${problem}</p></div>`;
}

function labelOf({ name, label, hint }: Field): Html {
  return html`<label for="${name}">${label}</label> ${
      hint === undefined ? '' : html`<p class="soft small hint" id="${name}-hint">${hint}</p>`
    }`;
}

/** Of an element; those without a value are left out. @param values by names, which are of this code. */
export function attributes(values: Readonly<Record<string, string | number | boolean | undefined>>): Html[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? raw(` ${name}`) : html` ${raw(name)}="${value}"`));
}

/** What a field of any kind has. */
function common({ name, hint, maxLength, isOptional = false }: Field) {
  const described = hint === undefined ? undefined : `${name}-hint`;
  return { 'aria-describedby': described, required: !isOptional, maxlength: maxLength };
}

function inputRow(field: Field, type: 'text' | 'password', use: string): Html {
  const { name, value } = field;
  const own = { type, id: name, name, value, autocomplete: use, ...common(field) };
  return html`<div class="row">${labelOf(field)} <input${attributes(own)} /></div>`;
}

/** For what someone types or pastes to get on, with its buttons beside it. @param problem below it; null: none. */
export function queryField(
  field: Field,
  placeholder: string,
  buttons: Html | Html[],
  problem: string | null = null,
): Html {
  const { name, label, value, maxLength } = field;
  const own = { type: 'text', id: name, name, value, placeholder, maxlength: maxLength };
  const plain = { autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' };
  const invalid = problem === null ? {} : { 'aria-invalid': 'true', 'aria-describedby': `${name}-error` };
  return html`<label for="${name}">${label}</label>
    <div class="field"><input${attributes({ ...own, ...plain, ...invalid })} />${buttons}</div>
    ${problem === null ? '' : html`<p class="error" id="${name}-error">${problem}</p>`}`;
}

/** For a value to copy, or that a password manager files a secret under. */
export function shownValue(id: string, label: string, value: string, use: 'off' | 'username' = 'off'): Html {
  return html`<div class="row">
    <label for="${id}">${label}</label>
    <input type="text" id="${id}" value="${value}" autocomplete="${use}" readonly />
  </div>`;
}

export function textField(field: Field): Html {
  return inputRow(field, 'text', 'off');
}

export const MAX_OWN_NAME = 200;

/** For whom to search. */
export function nameField({ ownName: value }: { readonly ownName: string }): Html {
  const label = 'Your name (optional; never published, only searched for)';
  const hint = 'With it, the service tells you if the text contains your name or e-mail address.';
  return textField({ name: 'own_name', label, value, hint, maxLength: MAX_OWN_NAME, isOptional: true });
}

/** @param rows that are seen at once. */
export function textArea(field: Field, rows: number, isCode = false): Html {
  const { name, value } = field;
  const code = isCode ? { class: 'mono', spellcheck: 'false', autocapitalize: 'none', wrap: 'off' } : {};
  const own = { id: name, name, rows, autocomplete: 'off', ...code, ...common(field) };
  // A browser drops the first line feed behind the tag.
  return html`<div class="row">${labelOf(field)} <textarea${attributes(own)}>${'\n'}${value}</textarea></div>`;
}

/** @param holder what the password manager files the secret under; null: the field before it says that. */
export function secretField(
  field: Field,
  holder: { readonly label: string; readonly value: string } | null,
  use: 'new-password' | 'current-password',
): Html {
  const { name } = field;
  return html`${holder === null ? '' : shownValue(`${name}-holder`, holder.label, holder.value, 'username')}
  ${inputRow(field, 'password', use)}`;
}

/** @param more below the label. */
export function checkBox(
  { name, label, isOptional = false }: Pick<Field, 'name' | 'label' | 'isOptional'>,
  isChecked: boolean,
  more: Html,
): Html {
  const own = { type: 'checkbox', id: name, name, value: 'yes', 'aria-describedby': `${name}-hint` };
  return html`<div class="row check">
    <input${attributes({ ...own, checked: isChecked, required: !isOptional })} />
    <label for="${name}">${label}</label>
    <p class="soft small" id="${name}-hint">${more}</p>
  </div>`;
}

/** What changes or withdraws a pull request. */
export interface PullRequestKey {
  readonly prHash: string;
  readonly prKey: string;
}

/** @param holder as `secretField` has it. @param isOptional it is needed only for another title or description. */
export function keyField(
  { prKey: value }: PullRequestKey,
  holder: Parameters<typeof secretField>[1],
  isOptional: boolean,
): Html {
  const label = `Key of the pull request${isOptional ? ' (optional)' : ''}`;
  const need = isOptional ? ' It is needed to change title or description.' : '';
  const hint = `You got it when the pull request was opened.${need}`;
  return secretField({ name: 'pr_key', label, value, hint, isOptional }, holder, 'current-password');
}

/** When a change becomes public. The value of the field is that of the push option `delay`; empty: as is usual here. */
const TIMES: readonly (readonly [value: string, label: string])[] = [
  ['', 'as this service does it'],
  ['0s', 'now'],
  ['3h', 'within some hours: between three and six'],
  ['1d', 'within some days: one or two'],
];

/** @param isDelayed whether what is usual here is not `now`. */
export function timeField(isDelayed: boolean): Html {
  const times = TIMES.filter(([value]) => isDelayed || value !== '');
  const hint = 'If you choose later, it appears at a random time, which reveals less about you.';
  return choiceField({ name: 'delay', label: 'When it becomes public', value: '', hint }, times);
}

/** @param choices of its value, with what people read. */
export function choiceField(
  field: Field,
  choices: readonly (readonly [value: string, label: string])[],
): Html {
  const { name, value: chosen } = field;
  const options = choices.map(
    ([value, label]) => html`<option${attributes({ value, selected: value === chosen })}>${label}</option>`,
  );
  return html`<div class="row">
    ${labelOf(field)} <select${attributes({ id: name, name, ...common({ isOptional: true, ...field }) })}>${options}</select>
  </div>`;
}

export function hidden(values: Readonly<Record<string, string>>): Html[] {
  return Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
}

export interface Step {
  readonly step: string;
  readonly label: string;
}

/** The first one is what Enter does. */
export function stepButtons(...steps: readonly Step[]): Html {
  const buttons = steps.map(({ step, label }, index) => {
    const other = index === 0 ? {} : { class: 'second', formnovalidate: true };
    return html`<button${attributes({ type: 'submit', name: 'step', value: step, ...other })}>${label}</button>`;
  });
  return html`<div class="buttons">${buttons}</div>`;
}

/** Only links of this kind lead somewhere harmless. */
export function safeUrl(url: string): string {
  return /^https?:\/\//.test(url) ? url : '#';
}
