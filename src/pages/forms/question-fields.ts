/**
 * Fields of a repository's own form for issues, which show what its maintainers ask.
 * Proved by test/pages/forms/question-fields.test.ts and test/e2e/people/issue-form.test.ts.
 */
import { html, raw } from 'hono/html';
import {
  type Answers,
  answerName,
  fieldsOf,
  isTicked,
  type FormQuestion,
} from '../../policy/issue-templates.ts';
import { renderedMarkdown } from '../../text/markdown.ts';
import { type Html, visibleText } from '../layout.ts';
import { attributes, field } from './parts.ts';

/** Bounds what the texts of a form may become together, because a stranger may have written it. */
const MOST_TOKENS = 10_000;

/** @param answers those that were typed, or that the form begins with. */
export function questionFields(questions: readonly FormQuestion[], answers: Answers): Html[] {
  const budget = { tokensLeft: MOST_TOKENS };
  return questions.map((question, at) => {
    if (question.type === 'markdown')
      return html`<div class="rendered row">
        ${raw(renderedMarkdown(visibleText(question.value), budget))}
      </div>`;
    return isTicked(question) ? boxes(question, at, answers) : textField(question, at, answers);
  });
}

function labelOf({ label, isRequired }: FormQuestion): string {
  return visibleText(label) + (isRequired ? '' : ' (optional)');
}

function textField(question: FormQuestion, at: number, answers: Answers): Html {
  const { type, description, placeholder, options, isRequired } = question;
  const name = answerName(at, '');
  const hint = description === '' ? {} : { hint: visibleText(description) };
  const choices = [
    ['', 'choose'] as const,
    ...options.map(({ label }) => [label, visibleText(label)] as const),
  ];
  return field(name, labelOf(question), answers(name), {
    ...hint,
    isOptional: !isRequired,
    ...(type === 'textarea' && { rows: 6 }),
    ...(type === 'dropdown' ? { choices } : { placeholder }),
  });
}

/** Shows a box for each option. Browsers cannot require one of several. */
function boxes(question: FormQuestion, at: number, answers: Answers): Html {
  const { type, description, options } = question;
  const isEach = type === 'checkboxes';
  const lines = fieldsOf(question).map((suffix, each) => {
    const name = answerName(at, suffix);
    const required = isEach && options[each]?.isRequired === true;
    const box = { type: 'checkbox', id: name, name, value: 'yes', checked: answers(name) !== '', required };
    return html`<div class="row check">
      <input${attributes(box)} />
      <label for="${name}"
        >${visibleText(options[each]?.label ?? '')}${isEach && !required ? ' (optional)' : ''}</label
      >
    </div>`;
  });
  return html`<fieldset class="row">
    <legend>${isEach ? visibleText(question.label) : labelOf(question)}</legend>
    ${description === '' ? '' : html`<p class="soft small hint">${visibleText(description)}</p>`} ${lines}
  </fieldset>`;
}
