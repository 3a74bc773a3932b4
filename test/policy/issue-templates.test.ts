/** Templates for issues: what GitHub documents, what projects write, and what nobody should. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answeredBody,
  fieldsOf,
  missingAnswer,
  NO_TEMPLATES,
  type FormQuestion,
  readIssueTemplates,
} from '../../src/policy/issue-templates.ts';

const BUG = `name: Bug report
description: Something is wrong
title: "[Bug]: "
labels: [bug, triage]
assignees: [octocat]
body:
  - type: markdown
    attributes:
      value: Thanks!
  - type: input
    id: version
    attributes: { label: Version, placeholder: 1.2.3 }
    validations: { required: true }
  - type: textarea
    attributes: { label: Log, render: shell }
  - type: dropdown
    attributes: { label: System, options: [Linux, macOS], default: 0 }
  - type: dropdown
    attributes: { label: Browsers, multiple: true, options: [Firefox, Chrome] }
  - type: checkboxes
    attributes:
      label: Terms
      options:
        - label: I have read them
          required: true
        - label: I would help
`;
const formOf = (text: string) => readIssueTemplates([['bug.yml', text]]).templates[0] ?? null;
const questionsOf = (text: string): readonly FormQuestion[] => formOf(text)?.questions ?? [];
/** A form of so many questions like this one. */
const manyOf = (count: number, question: string) => `name: Many\nbody:\n${`  - ${question}\n`.repeat(count)}`;
const INPUT = '{type: input, attributes: {label: A}}';

const answer = (answers: Readonly<Record<string, string>>) => (name: string) => answers[name] ?? '';
const template = (text: string) => readIssueTemplates([['bug_report.md', text]]).templates[0];
const read = (text: string) => readIssueTemplates([['config.yml', text]]);

describe('a form', () => {
  const questions = questionsOf(BUG);

  it('is read as GitHub documents it', () => {
    expect(formOf(BUG)).toMatchObject({
      name: 'Bug report',
      about: 'Something is wrong',
      title: '[Bug]: ',
      labels: 'bug, triage',
    });
    expect(questions.map(fieldsOf)).toEqual([[], [''], [''], [''], ['-0', '-1'], ['-0', '-1']]);
    expect(questions.map(({ value }) => value)).toEqual(['Thanks!', '', '', 'Linux', '', '']);
  });

  it('becomes the text that GitHub makes of it', () => {
    const given = {
      'answer-1': ' 2.0 ',
      'answer-2': 'a ``` b',
      'answer-3': 'macOS',
      'answer-4-0': 'yes',
      'answer-4-1': 'yes',
      'answer-5-0': 'yes',
    };
    expect(answeredBody(questions, answer(given))).toBe(
      [
        '### Version\n\n2.0',
        '### Log\n\n````shell\na ``` b\n````',
        '### System\n\nmacOS',
        '### Browsers\n\nFirefox, Chrome',
        '### Terms\n\n- [x] I have read them\n- [ ] I would help',
      ].join('\n\n'),
    );
    expect(answeredBody(questions, answer({ 'answer-3': 'Plan 9' }))).toContain(
      '### System\n\n_No response_',
    );
  });

  it('says which answer is missing, the first one first', () => {
    expect(missingAnswer(questions, answer({}))).toBe('Answer “Version”: it is required.');
    expect(missingAnswer(questions, answer({ 'answer-1': ' ' }))).toContain('Version');
    expect(missingAnswer(questions, answer({ 'answer-1': '2' }))).toBe(
      'Tick “I have read them”: it is required.',
    );
    expect(missingAnswer(questions, answer({ 'answer-1': '2', 'answer-5-0': 'yes' }))).toBeNull();
  });

  it.each([
    ['no name', BUG.replace('name: Bug report', '')],
    ['a name that is no text', BUG.replace('name: Bug report', 'name: 7')],
    ['no questions', 'name: A\nbody: []'],
    ['only texts', 'name: A\nbody: [{type: markdown, attributes: {value: a}}]'],
    ['a type that nobody knows', manyOf(1, '{type: upload, attributes: {label: A}}')],
    ['a question without a label', manyOf(1, '{type: input, attributes: {}}')],
    ['a choice of nothing', manyOf(1, '{type: dropdown, attributes: {label: A, options: []}}')],
    ['aliases', `a: &a [x]\nb: *a\n${BUG}`],
    ['a circle', `a: &a {b: *a}\n${BUG}`],
    ['200 questions', manyOf(200, INPUT)],
    [
      'too many boxes',
      manyOf(9, `{type: checkboxes, attributes: {label: A, options: [${'{label: a},'.repeat(30)}]}}`),
    ],
    ['a megabyte of YAML', 'name: A\nbody:\n'.padEnd(1_000_000, '- [')],
    ['no YAML', 'name: [\n'],
  ])('with %s is left out', (_, text) => {
    expect(formOf(text)).toBeNull();
  });

  it('may have 100 questions, and 200 in two forms', () => {
    expect(questionsOf(manyOf(100, INPUT))).toHaveLength(100);
    const files = Array.from({ length: 20 }, (_, at) => [`${at}.yml`, manyOf(100, INPUT)] as const);
    const { length } = readIssueTemplates(files).templates;
    // All files together have a bound, too.
    expect(length).toBeGreaterThan(2);
    expect(length).toBeLessThan(20);
  });

  it('is read whatever it holds', () => {
    const text = fc.string().map((end) => `name: A\nbody:\n  - type: input\n    attributes: ${end}`);
    fc.assert(fc.property(text, (each) => void readIssueTemplates([['a.yml', each]])));
  });
});

describe('Markdown', () => {
  it('is named by its header, or else by its file', () => {
    const header =
      '---\r\nname: Bug\r\nabout: Wrong\r\ntitle: "[Bug] "\r\nlabels: bug, ui\r\n---\r\n\r\n## Steps\r\n';
    expect(template(header)).toEqual({
      file: 'bug_report.md',
      name: 'Bug',
      about: 'Wrong',
      title: '[Bug] ',
      labels: 'bug, ui',
      body: '## Steps\n',
      questions: null,
    });
    expect(template('# Only text\n')).toMatchObject({ name: 'bug report', body: '# Only text\n' });
  });

  it.each([
    ['---\ntitle: {a: 1}\nlabels: 7\n---\nOdd', 'Odd'],
    ['---\na: &a x\ntitle: *a\n---\nAliases', 'Aliases'],
    ['---\n- a\n---\nA list', 'A list'],
  ])('%j can be used all the same', (text, body) => {
    expect(template(text)).toMatchObject({ name: 'bug report', title: '', labels: '', body });
  });
});

describe('config.yml', () => {
  it('refuses issues without a template, and names other places', () => {
    const links = 'contact_links:\n  - name: Forum\n    url: https://forum.test/\n    about: Ask there\n';
    expect(read(`blank_issues_enabled: false\n${links}`)).toEqual({
      templates: [],
      isBlankRefused: true,
      links: [{ name: 'Forum', url: 'https://forum.test/', about: 'Ask there' }],
    });
  });

  it.each([
    '',
    '[]',
    'blank_issues_enabled: maybe',
    'contact_links: [{name: A, url: "javascript:alert(1)"}]',
    '{',
  ])('that is %j changes nothing', (text) => expect(read(text)).toEqual(NO_TEMPLATES));
});

it('offers at most twenty, and no other files', () => {
  const files = Array.from({ length: 30 }, (_, at) => [`${at}.md`, 'x'] as const);
  expect(readIssueTemplates([['notes.txt', 'x'], ['LICENSE', 'x'], ...files]).templates).toHaveLength(20);
});
