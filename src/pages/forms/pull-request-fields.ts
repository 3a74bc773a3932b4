/**
 * Fields of each form that opens or updates a pull request, besides what it changes.
 * Proved by test/e2e/people/change-form.test.ts and test/e2e/people/file-form.test.ts.
 */
import { html } from 'hono/html';
import type { Policy } from '../../policy/policy.ts';
import { DCO_URL, type Html } from '../layout.ts';
import { attributes, field } from './parts.ts';

export const STATED_LABELS = { ai: 'Was AI used?', issue: 'Number of the open issue' };
const AI_USES = Object.entries({
  '': 'choose',
  none: 'No AI',
  assisted: 'AI helped',
  generated: 'AI wrote most of it',
});

/** A form of a pull request; without `pr_hash`, of a new one. An empty field is not given. */
export interface PullRequestForm {
  readonly fields: Readonly<Record<'ai' | 'issue' | 'pr_hash' | 'pr_key' | 'sign_off', string>>;
  /** Requirements of the repository, as last read. The push itself is judged anew. */
  readonly policy: Pick<Policy, 'requiresSignOff' | 'requiresAi' | 'requiresIssue'>;
  /** Whether each update needs the key. */
  readonly needsKey: boolean;
}

/**
 * Shows the statements that the project requires. An update needs them only for a new description.
 */
export function statedFields({ fields: { ai, issue, pr_hash }, policy }: PullRequestForm): Html {
  const [isOptional, maybe] = pr_hash === '' ? [false, ''] : [true, ' (optional)'];
  const aiUse = { isOptional, hint: 'The description then says it.', choices: AI_USES };
  const number = { isOptional, hint: 'The description then names it.' };
  return html`${policy.requiresAi ? field('ai', `${STATED_LABELS.ai}${maybe}`, ai, aiUse) : ''}
  ${policy.requiresIssue ? field('issue', `${STATED_LABELS.issue}${maybe}`, issue, number) : ''}`;
}

const SIGN_OFF = { type: 'checkbox', id: 'sign_off', name: 'sign_off', value: 'yes' };

export function signOffBox({ fields, policy: { requiresSignOff: isRequired } }: PullRequestForm): Html {
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
export function keyField({ pr_key: value }: { readonly pr_key: string }, isOptional: boolean): Html {
  const label = `Key of the pull request${isOptional ? ' (optional)' : ''}`;
  const need = isOptional ? ' It is needed to change title or description.' : '';
  const hint = `You got it when the pull request was opened.${need}`;
  return field('pr_key', label, value, { hint, isOptional, secret: 'shown' });
}

/** Choices of when a change becomes public, by values of the push option `delay`. */
const TIMES: Readonly<Record<string, string>> = {
  '0s': 'now',
  '3h': 'within some hours: between three and six',
  '1d': 'within some days: one or two',
};

/**
 * @param isDelayed whether this service delays pushes by default.
 * @param value what was chosen before.
 */
export function timeField(isDelayed: boolean, value = ''): Html {
  const hint = 'If you choose later, it appears at a random time, which reveals less about you.';
  const choices = Object.entries({ ...(isDelayed && { '': 'as this service does it' }), ...TIMES });
  return field('delay', 'When it becomes public', value, { hint, isOptional: true, choices });
}

/** Says when a file becomes public; '' for the service's default. */
export function timeWords(delay: string): string {
  const words = TIMES[delay];
  return words === undefined ? '' : `It becomes public ${words}.`;
}
