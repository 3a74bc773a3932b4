/**
 * Reads a repository's templates for issues: Markdown, forms, and the choice between them
 * (docs.github.com: "Syntax for issue forms", "Syntax for GitHub's form schema", "Configuring issue
 * templates for your repository"). A file that does not follow the syntax is left out, as GitHub
 * leaves it out. Pure: texts in, plain data out, which may be stored as JSON.
 */
import * as z from 'zod';
import { oneLine } from '../words/host-text.ts';
import { readYaml } from './policy.ts';

/** How many files are offered, and how many questions a form may have. */
const MOST_TEMPLATES = 20;
const MOST_QUESTIONS = 100;
/** How many fields a form may send; each option of some questions is one. */
export const MOST_ANSWERS = 250;
/** How many words and signs of YAML all files may have together. */
const MOST_TOKENS = 12_000;
const MOST_HEADER_CHARACTERS = 4_000;
const CONFIG = /^config\.ya?ml$/;

/** A part of a form: a text, or a question. */
export interface FormQuestion {
  readonly type: 'markdown' | 'input' | 'textarea' | 'dropdown' | 'checkboxes';
  /** The name by which a link fills in the answer; empty for none. */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly placeholder: string;
  /** The text of Markdown, or the answer to begin with. */
  readonly value: string;
  /** The language of the block of code that an answer becomes; null: it stays text. */
  readonly render: string | null;
  readonly options: readonly { readonly label: string; readonly isRequired: boolean }[];
  readonly isMultiple: boolean;
  readonly isRequired: boolean;
}

export interface IssueTemplate {
  /** The name of the file. */
  readonly file: string;
  readonly name: string;
  readonly about: string;
  readonly title: string;
  /** Names separated by commas. */
  readonly labels: string;
  readonly body: string;
  /** The questions of a form; null: it is Markdown. */
  readonly questions: readonly FormQuestion[] | null;
}

export interface IssueTemplates {
  readonly templates: readonly IssueTemplate[];
  /** Whether an issue must begin with one of them. */
  readonly isBlankRefused: boolean;
  /** Other places to go. */
  readonly links: readonly Readonly<Record<'name' | 'url' | 'about', string>>[];
}

export const NO_TEMPLATES: IssueTemplates = { templates: [], isBlankRefused: false, links: [] };

const words = z.string().trim().default('');
const labelsSchema = z
  .union([z.string(), z.array(z.string())])
  .catch([])
  .transform((labels) => [labels].flat().join(', '));
const flag = z.boolean().default(false);
const title = z.string().catch('');

const optionSchema = z.union([
  z.string().transform((label) => ({ label, isRequired: false })),
  z.number().transform((label) => ({ label: String(label), isRequired: false })),
  z
    .object({ label: z.string(), required: flag })
    .transform(({ label, required }) => ({ label, isRequired: required })),
]);

const questionSchema = z
  .object({
    type: z.enum(['markdown', 'input', 'textarea', 'dropdown', 'checkboxes']),
    id: words,
    attributes: z.object({
      label: words,
      description: words,
      placeholder: words,
      value: z.string().default(''),
      render: z.string().optional(),
      multiple: flag,
      options: z.array(optionSchema).default([]),
      default: z.int().optional(),
    }),
    validations: z.object({ required: flag }).default({ required: false }),
  })
  .transform(({ type, id, attributes, validations }): FormQuestion => {
    const { label, description, placeholder, value, render, multiple, options } = attributes;
    const first = options[attributes.default ?? -1]?.label;
    return {
      type,
      id,
      label: oneLine(label),
      description,
      placeholder,
      value: type === 'dropdown' ? oneLine(first ?? '') : value,
      render: type === 'textarea' && render !== undefined ? render.replaceAll(/[^\w+#.-]/g, '') : null,
      options: options.map(({ label: text, isRequired }) => ({ label: oneLine(text), isRequired })),
      isMultiple: multiple,
      isRequired: validations.required,
    };
  })
  .refine(isWhole);

/** Tells if a question has what its type needs. */
function isWhole({ type, label, value, options }: FormQuestion): boolean {
  if (type === 'markdown') return value !== '';
  const needsOptions = type === 'dropdown' || type === 'checkboxes';
  return label !== '' && needsOptions === options.length > 0;
}

const formSchema = z.object({
  name: z.string().trim().min(1),
  description: words,
  title,
  labels: labelsSchema,
  body: z
    .array(questionSchema)
    .max(MOST_QUESTIONS)
    .refine((questions) => questions.some(({ type }) => type !== 'markdown'))
    .refine((questions) => questions.reduce((sum, each) => sum + fieldsOf(each).length, 0) <= MOST_ANSWERS),
});

const headerSchema = z.object({ name: words.catch(''), about: words.catch(''), title, labels: labelsSchema });

const configSchema = z.object({
  blank_issues_enabled: z.boolean().catch(true),
  contact_links: z
    .array(
      z.object({ name: z.string().min(1), url: z.url({ protocol: /^https?$/ }), about: words.catch('') }),
    )
    .max(MOST_TEMPLATES)
    .catch([]),
});

/** @param files texts by the names of their files. */
export function readIssueTemplates(files: Iterable<readonly [name: string, text: string]>): IssueTemplates {
  const yaml = new BoundedYaml();
  const templates: IssueTemplate[] = [];
  let config = configSchema.parse({});
  for (const [file, text] of files) {
    const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
    if (CONFIG.test(file)) config = configSchema.catch(config).parse(yaml.read(plain) ?? {});
    else if (templates.length < MOST_TEMPLATES) {
      const template = /\.md$/i.test(file)
        ? markdownTemplate(file, plain, yaml)
        : formTemplate(file, plain, yaml);
      if (template !== null) templates.push(template);
    }
  }
  return { templates, isBlankRefused: !config.blank_issues_enabled, links: config.contact_links };
}

/** Reads YAML while all files together have few words and signs. */
class BoundedYaml {
  #tokensLeft = MOST_TOKENS;

  /** @returns undefined if it is not valid, or too much. */
  read(text: string): unknown {
    try {
      return readYaml(text, () => this.#tokensLeft-- > 0);
    } catch {
      return undefined;
    }
  }
}

function formTemplate(file: string, text: string, yaml: BoundedYaml): IssueTemplate | null {
  if (!/\.ya?ml$/i.test(file)) return null;
  const parsed = formSchema.safeParse(yaml.read(text));
  if (!parsed.success) return null;
  const { name, description: about, body: questions, ...others } = parsed.data;
  return { file, ...others, name: oneLine(name), about: oneLine(about), body: '', questions };
}

/** Reads Markdown, which may begin with YAML between two lines of dashes. */
function markdownTemplate(file: string, text: string, yaml: BoundedYaml): IssueTemplate {
  const end = text.startsWith('---\n') ? text.slice(0, MOST_HEADER_CHARACTERS).indexOf('\n---\n', 3) : -1;
  const header = end < 0 ? {} : (yaml.read(text.slice('---\n'.length, end + 1)) ?? {});
  // With an invalid header, the text below it can be used all the same.
  const { name, about, ...others } = headerSchema.catch(headerSchema.parse({})).parse(header);
  const body = end < 0 ? text : text.slice(end + '\n---\n'.length).trimStart();
  const shown = oneLine(name) || oneLine(file.replace(/\.md$/i, '').replaceAll(/[_-]+/g, ' '));
  return { file, ...others, name: shown, about: oneLine(about), body, questions: null };
}

/** Tells if each option of a question is a field of its own, which is ticked. */
export function isTicked({ type, isMultiple }: FormQuestion): boolean {
  return type === 'checkboxes' || (type === 'dropdown' && isMultiple);
}

/** The suffixes of a question's fields: none, one, or one for each option. */
export function fieldsOf(question: FormQuestion): readonly string[] {
  if (question.type === 'markdown') return [];
  return isTicked(question) ? question.options.map((_, at) => `-${at}`) : [''];
}

/** The name of a field in the form. */
export const answerName = (question: number, suffix: string): string => `answer-${question}${suffix}`;

/** Reads an answer by the name of its field; empty if there is none. */
export type Answers = (name: string) => string;

/** Says which question must be answered still; null: none. */
export function missingAnswer(questions: readonly FormQuestion[], answers: Answers): string | null {
  for (const [at, question] of questions.entries()) {
    const { label, options, isRequired } = question;
    const given = fieldsOf(question).filter((suffix) => answers(answerName(at, suffix)).trim() !== '');
    if (isRequired && question.type !== 'markdown' && given.length === 0)
      return `Answer “${label}”: it is required.`;
    const unticked = options.find((option, each) => option.isRequired && !given.includes(`-${each}`));
    if (question.type === 'checkboxes' && unticked !== undefined)
      return `Tick “${unticked.label}”: it is required.`;
  }
  return null;
}

/** Writes the answers as GitHub writes those of its forms: a heading for each question. */
export function answeredBody(questions: readonly FormQuestion[], answers: Answers): string {
  const sections = questions.flatMap((question, at) => {
    const answer = answerTo(question, (suffix) => answers(answerName(at, suffix)));
    return question.type === 'markdown' ? [] : [`### ${question.label}\n\n${answer || '_No response_'}`];
  });
  return sections.join('\n\n');
}

function answerTo(
  { type, options, isMultiple, render }: FormQuestion,
  answer: (suffix: string) => string,
): string {
  if (type === 'checkboxes')
    return options.map(({ label }, at) => `- [${answer(`-${at}`) === '' ? ' ' : 'x'}] ${label}`).join('\n');
  if (type === 'dropdown' && isMultiple)
    return options
      .filter((_, at) => answer(`-${at}`) !== '')
      .map(({ label }) => label)
      .join(', ');
  // Nothing but an option can be chosen.
  if (type === 'dropdown') return options.find(({ label }) => label === answer(''))?.label ?? '';
  const text = answer('').trim();
  if (text === '' || render === null) return text;
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([marks]) => marks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${render}\n${text}\n${fence}`;
}
