/** The texts of a repository's own form, which a stranger may have written. */
import { expect, it } from 'vitest';
import { questionFields } from '../../../src/pages/forms/question-fields.ts';
import { readIssueTemplates } from '../../../src/policy/issue-templates.ts';

const textOf = (words: string) => `- type: markdown\n  attributes:\n    value: |\n      ${words}\n`;

it('shows the texts of a form as they are typed once they would become too much', () => {
  const table = ['|'.repeat(65), `|${'-|'.repeat(64)}`, ...Array(60).fill('a')].join('\n      ');
  const form = `name: n\ndescription: d\nbody:\n${textOf('*first*')}${textOf(table).repeat(40)}- {type: input, attributes: {label: l}}\n`;
  const { templates } = readIssueTemplates([['a.yml', form]]);
  const page = questionFields(templates[0]?.questions ?? [], () => '')
    .map(String)
    .join('');
  expect(page).toContain('<em>first</em>');
  expect(page).toContain('<pre>|||');
  expect(page.length).toBeLessThan(200_000);
});
