import { expect, it } from 'vitest';
import { questionFields } from '../../../src/pages/forms/question-fields.ts';
import type { FormQuestion } from '../../../src/policy/issue-templates.ts';

const VERSIONS: FormQuestion = {
  type: 'dropdown',
  id: '',
  label: 'Version',
  description: '',
  placeholder: '',
  value: '',
  render: null,
  options: ['22', '20', '__proto__', '18'].map((label) => ({ label, isRequired: false })),
  isMultiple: false,
  isRequired: true,
};

it('shows the options of a question in the order of its maintainers, also numbers', () => {
  const html = questionFields([VERSIONS], () => '')
    .map(String)
    .join('');
  const options = [...html.matchAll(/<option value="([^"]*)"/g)].map(([, value]) => value);
  expect(options).toEqual(['', '22', '20', '__proto__', '18']);
});
