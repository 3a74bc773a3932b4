/** Push options (`git push -o name=value`), with the names that hosts of AGit-style pushes use. */
import { delay } from '../../config/values.ts';
import { PR_HASH_PATTERN } from '../../words/pr-hash.ts';
import { isValidRefName } from '../../git/wire/ref-name.ts';
import { WARNING_CODES } from '../../words/finding.ts';
import { oneLine } from '../../words/host-text.ts';
import { nearName } from '../../words/near-name.ts';

/**
 * Statements of a push for the text of its pull request, because the repository may ask for them.
 */
export interface Stated {
  /** Whether AI was used: `none`, `assisted` or `generated`; null: it does not say. */
  readonly ai: string | null;
  readonly issue: number | null;
}

export interface PushOptions extends Stated {
  /** The pull request to update. */
  readonly prHash: string | null;
  /** Proves the right to update it, if the service requires a key. */
  readonly prKey: string | null;
  /** Replaces the text of the commit. */
  readonly title: string | null;
  readonly description: string | null;
  /** The branch of upstream that the pull request is for. */
  readonly base: string | null;
  readonly squash: boolean;
  /** A new pull request is not ready to be merged yet. */
  readonly draft: boolean;
  /** Only show what would become public; publish nothing. */
  readonly preview: boolean;
  /** Replace what somebody else has put on the branch of the pull request. */
  readonly overwrite: boolean;
  readonly withdraw: boolean;
  /** Go on although the author's name or address would become public. */
  readonly publishNames: boolean;
  /**
   * How long to wait before it is published, in milliseconds; 0: not at all; null: as long as is
   * usual here.
   */
  readonly delayMs: number | null;
  /** If the code host does not take it now, publish it as soon as it does. */
  readonly wait: boolean;
  /** The person affirms the Developer Certificate of Origin: the new commits are signed off. */
  readonly signOff: boolean;
  /** Lines that tools have written are left out of the messages. */
  readonly stripTrails: boolean;
  /** Codes of warnings with which it is published at once. */
  readonly yes: readonly string[];
  /** Warnings about options that are ignored. */
  readonly warnings: readonly string[];
}

export type PushOptionsResult = { readonly kind: 'valid'; readonly options: PushOptions } | InvalidOptions;

/** The first fault, and all of them. */
interface InvalidOptions extends OptionFault {
  readonly kind: 'invalid';
  /** One or more, each once. */
  readonly faults: readonly OptionFault[];
  /** Those that are valid. */
  readonly options: PushOptions;
}

export interface OptionFault {
  readonly message: string;
  /** The option whose value breaks its rule, or that a misspelt one means. */
  readonly option: Name;
  /** The option for the command that passes; null if nobody but the person can write it. */
  readonly toFill: string | null;
}

export const MAX_DESCRIPTION_LENGTH = 4_000;

type Rule = readonly [isValid: (value: string) => boolean, mustBe: string];

const matches = (pattern: RegExp) => (value: string) => pattern.test(value);

/** Longer than all codes together. */
const MAX_YES_LENGTH = 1_000;

function areWarningCodes(value: string): boolean {
  const codes: ReadonlySet<string> = new Set(WARNING_CODES);
  return value.length <= MAX_YES_LENGTH && value.split(',').every((code) => codes.has(code));
}

/**
 * Options with a value. Texts are what the host accepts: no control characters. The own form also
 * sends tabs.
 */
const VALUES = {
  'pr-hash': [
    matches(PR_HASH_PATTERN),
    '8 to 40 hexadecimal characters, as the push that opened it has shown it',
  ],
  'pr-key': [matches(/^[0-9a-f]{32}$/), '32 hexadecimal characters, as the push that opened it has shown it'],
  title: [matches(/^(?=.*\S)\P{Cc}{1,256}$/su), 'one line of 1 to 256 characters'],
  description: [
    matches(new RegExp(`^(?:\\P{Cc}|[\\n\\t]){0,${MAX_DESCRIPTION_LENGTH}}$`, 'u')),
    `at most ${MAX_DESCRIPTION_LENGTH} characters, one line in each option`,
  ],
  base: [(value) => isValidRefName(`refs/heads/${value}`), 'the name of a branch'],
  ai: [matches(/^(?:none|assisted|generated)$/), 'none, assisted or generated'],
  issue: [matches(/^#?[1-9]\d{0,14}$/), 'the number of an issue'],
  delay: [(value) => delay.parse(value) !== undefined, delay.rule],
  yes: [areWarningCodes, 'codes of warnings, as a push shows them in brackets, separated by commas'],
} satisfies Record<string, Rule>;
/** Options that need none. */
const FLAGS = [
  'squash',
  'draft',
  'preview',
  'publish-names',
  'sign-off',
  'strip-trails',
  'withdraw',
  'overwrite',
  'wait',
] as const;
/**
 * Options that may be given several times, with what joins their values. Git sends one line with
 * each option, so a description of several lines is several options.
 */
const JOINED_BY: Readonly<Partial<Record<Name, string>>> = { description: '\n', yes: ',' };
/** All of them. docs/options.md has a row for each. */
export const KNOWN_OPTIONS: readonly string[] = [...Object.keys(VALUES).map((name) => `${name}=`), ...FLAGS];
const NAMES: readonly Name[] = [...(Object.keys(VALUES) as (keyof typeof VALUES)[]), ...FLAGS];
const MOST_OF_A_NAME = 40;

type Flag = (typeof FLAGS)[number];
type Name = keyof typeof VALUES | Flag;

const isFlag = (name: string): name is Flag => FLAGS.some((flag) => flag === name);
const isKnown = (name: string): name is Name => isFlag(name) || Object.hasOwn(VALUES, name);

/** Name and value; null if a required value is missing. */
function split(option: string): [name: string, value: string | null] {
  const equals = option.indexOf('=');
  if (equals < 0) return [option, isFlag(option) ? 'true' : null];
  const name = option.slice(0, equals);
  const value = option.slice(equals + 1);
  return [name, name === 'pr-hash' || name === 'pr-key' ? value.toLowerCase() : value];
}

/** The option that somebody may have meant: a misspelt one, or that of the same name elsewhere. */
function meantBy(name: string): Name | undefined {
  if (/^dry[-_]?run$/i.test(name)) return 'preview';
  if (/^(?:delete|close|cancel)$/i.test(name)) return 'withdraw';
  return nearName(name, NAMES);
}

export function parsePushOptions(pushOptions: readonly string[]): PushOptionsResult {
  const given: Given = new Map();
  const unknown = new Set<string>();
  const faults = new Map<string, OptionFault>();
  const add = (option: Name, message: string | null, toFill = filled(option)): void => {
    if (message !== null) faults.set(message, { option, message, toFill });
  };
  for (const option of pushOptions) {
    const [name, text] = split(option);
    const meant = isKnown(name) ? name : meantBy(name);
    if (isKnown(name)) add(name, take(given, name, text));
    else if (meant === undefined) unknown.add(name);
    else add(meant, misspelt(name, meant), text === null && isFlag(meant) ? meant : filled(meant));
  }
  const isHashFaulty = [...faults.values()].some(({ option }) => option === 'pr-hash');
  for (const name of ['withdraw', 'overwrite'] as const) {
    if (given.has(name) && !given.has('pr-hash') && !isHashFaulty)
      add('pr-hash', `${name} needs pr-hash=<hash>, as the push that opened it has shown it`);
  }
  const options = optionsOf(given, unknown);
  const [first, ...more] = faults.values();
  if (first === undefined) return { kind: 'valid', options };
  return { kind: 'invalid', ...first, faults: [first, ...more], options };
}

/**
 * Fills an option in for a command that a person may copy as it is. `<value>` must be refused then,
 * and a flag with a value, such as `publish-names=false`, may mean the opposite.
 * @returns null if nobody but the person can write it.
 */
function filled(option: Name): string | null {
  if (option === 'preview') return option;
  return isFlag(option) || option === 'title' || option === 'description' ? null : `${option}=<value>`;
}

/** The faults in the options of a push. */
export function faultsIn(parsed: PushOptionsResult): readonly OptionFault[] {
  return parsed.kind === 'invalid' ? parsed.faults : [];
}

/** Whether one of these options is not known, because it is misspelt, or its value is none. */
export function isDoubtful(faults: readonly OptionFault[], ...names: readonly Name[]): boolean {
  return faults.some(({ option }) => names.includes(option));
}

type Given = Map<Name, string>;

/**
 * Adds an option to those that are given. Answers what is wrong with it; null: nothing.
 * @param text its value; null: it has none.
 */
function take(given: Given, name: Name, text: string | null): string | null {
  const before = given.get(name);
  const joint = JOINED_BY[name];
  const isJoined = joint !== undefined && before !== undefined && text !== null;
  const value = isJoined ? before + joint + text : text;
  const [isValid, rule] = isFlag(name)
    ? ([matches(/^true$/), `${name} takes no value`] as const)
    : ([VALUES[name][0], `${name} must be ${VALUES[name][1]}`] as const);
  if (value === null || !isValid(value)) return rule;
  if (joint === undefined && (before ?? value) !== value)
    return `${name} is given twice with different values: give it once`;
  given.set(name, value);
  return null;
}

/**
 * Words for a misspelt option. It must not be ignored: a misspelt `preview`, or `dry-run`, would
 * publish, and a misspelt `pr-hash` would open a second pull request.
 */
function misspelt(name: string, meant: Name): string {
  return `"${oneLine(name)}" is no push option: did you mean ${meant}? Correct it or leave it out`;
}

function optionsOf(given: Given, unknown: ReadonlySet<string>): PushOptions {
  return {
    prHash: given.get('pr-hash') ?? null,
    prKey: given.get('pr-key') ?? null,
    title: given.get('title') ?? null,
    description: given.get('description') ?? null,
    base: given.get('base') ?? null,
    ai: given.get('ai') ?? null,
    issue: Number(given.get('issue')?.replace('#', '') ?? 0) || null,
    squash: given.has('squash'),
    draft: given.has('draft'),
    preview: given.has('preview'),
    publishNames: given.has('publish-names'),
    overwrite: given.has('overwrite'),
    withdraw: given.has('withdraw'),
    delayMs: delay.parse(given.get('delay') ?? '') ?? null,
    wait: given.has('wait'),
    signOff: given.has('sign-off'),
    stripTrails: given.has('strip-trails'),
    yes: given.get('yes')?.split(',') ?? [],
    warnings: warningOf([...unknown]),
  };
}

/** One line, because a push may contain any number of unknown options. */
function warningOf([first, ...others]: readonly string[]): string[] {
  if (first === undefined) return [];
  const name = `"${oneLine(first).slice(0, MOST_OF_A_NAME)}"`;
  const ignored = others.length === 0 ? `option ${name} is` : `options ${name} and ${others.length} more are`;
  return [`The push ${ignored} unknown and ignored. Known options: ${KNOWN_OPTIONS.join(', ')}.`];
}
