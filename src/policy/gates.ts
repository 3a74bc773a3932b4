/**
 * Finds what a repository's own files check on what is opened there, some of them within seconds:
 * actions that its workflows use, configurations of apps and tools, and rules about AI. Others may
 * exist: apps, scripts and the settings of a branch show nothing in these files.
 */
import { decodeUtf8 } from '../git/bytes.ts';
import type { Oid } from '../git/objects/oid.ts';
import { kindOf, parseTree } from '../git/objects/tree.ts';
import type { KeptObject } from '../git/pack/kept-objects.ts';
import { isPlainName } from '../words/host-text.ts';

type Check =
  | {
      readonly asks: 'title' | 'messages';
      /** Whether each begins with a type (conventionalcommits.org). False: nobody knows. */
      readonly isConventional: boolean;
    }
  | { readonly asks: 'changelog'; readonly file: string }
  | { readonly asks: 'sign-off' | 'signature' | 'ai' }
  | {
      readonly asks: 'vouch';
      readonly of: 'pull_requests' | 'issues';
      /** Whether accounts pass that the list of vouched accounts does not name. */
      readonly takesUnlisted: boolean;
      readonly closes: boolean;
    };

/** A check, and the path of the file that shows it, or of its folder if its name is not plain. */
export type Gate = Check & { readonly path: string };

/** Reads objects in one request. Null: they are too large. */
export type ReadAll = (oids: readonly Oid[]) => Promise<ReadonlyMap<Oid, KeptObject> | null>;

/** The inputs of a step, by their names in lower case. */
type Inputs = ReadonlyMap<string, string>;

/**
 * The actions that are known, by their names in lower case. Each name is also the place at
 * github.com where the README says what is checked, and which inputs there are.
 */
const ACTIONS: ReadonlyMap<string, (inputs: Inputs) => Check | null> = new Map(
  Object.entries({
    'amannn/action-semantic-pull-request': titleUnless('headerpattern'),
    'ytanikin/pr-conventional-commits': titleUnless('ticket_key_regex'),
    'wagoid/commitlint-github-action': () => ({ asks: 'messages', isConventional: true }),
    'dangoslen/changelog-enforcer': changelog('changelogpath', 'CHANGELOG.md'),
    'tarides/changelog-check-action': changelog('changelog', 'CHANGES.md'),
    'tim-actions/dco': () => ({ asks: 'sign-off' }),
    '1password/check-signed-commits-action': () => ({ asks: 'signature' }),
    'mitchellh/vouch/action/check-pr': vouch('pull_requests'),
    'mitchellh/vouch/action/check-issue': vouch('issues'),
  }),
);

/**
 * Files whose names are enough. The DCO app reads `.github/dco.yml` (github.com/dcoapp/app), and
 * commitlint its configuration at the root (commitlint.js.org, "Configuration").
 */
const FILES: readonly (readonly [RegExp, Check])[] = [
  [/^\.github\/dco\.yml$/, { asks: 'sign-off' }],
  [
    /^(?:commitlint\.config\.[cm]?[jt]s|\.commitlintrc(?:\.\w{1,4})?)$/,
    { asks: 'messages', isConventional: false },
  ],
  [/^(?:\.github\/)?AI[_-]POLICY(?:\.\w{1,10})?$/i, { asks: 'ai' }],
];
/** Instructions for agents, which come last: most of them make no rule for people. */
const FOR_AGENTS = /^(?:\.github\/)?AGENTS\.md$/i;
const ABOUT_AI = /\b(?:AI|LLMs?|[Aa]rtificial [Ii]ntelligence|Copilot|ChatGPT)\b/;

const WORKFLOWS = '.github/workflows/';
const MOST_WORKFLOWS = 100;
/** The largest workflow that is read. */
export const MOST_WORKFLOW_BYTES = 64 * 1024;

function titleUnless(pattern: string) {
  return (inputs: Inputs): Check => ({ asks: 'title', isConventional: !inputs.has(pattern) });
}

function changelog(input: string, usual: string) {
  return (inputs: Inputs): Check | null => {
    const file = inputs.get(input) || usual;
    return isPlainName(file) ? { asks: 'changelog', file } : null;
  };
}

function vouch(of: 'pull_requests' | 'issues') {
  return (inputs: Inputs): Check => ({
    asks: 'vouch',
    of,
    takesUnlisted: inputs.get('require-vouch') === 'false',
    closes: inputs.get('auto-close') === 'true' && inputs.get('dry-run') !== 'true',
  });
}

/**
 * Reads the gates of a repository, at most one of each kind, with at most one request: for its
 * workflows and its guidelines. Rejects as `readAll` does.
 * @param paths its files and folders, a slash behind folders, with their objects.
 * @param contributing the path of its guidelines.
 */
export async function readGates(
  paths: ReadonlyMap<string, Oid>,
  contributing: string | null,
  readAll: ReadAll,
): Promise<readonly Gate[]> {
  const names = [...paths.keys()];
  const [folder, guide] = [WORKFLOWS, contributing ?? ''].map((path) => paths.get(path));
  const wanted = [folder, guide].filter((oid) => oid !== undefined);
  const objects = (wanted.length === 0 ? null : await readAll(wanted)) ?? new Map<Oid, KeptObject>();
  const headings = textOf(objects, guide)
    .split('\n')
    .filter((line) => line.startsWith('#'));
  const hasRules = headings.some((line) => ABOUT_AI.test(line));
  const gates = [
    ...workflowsIn(objects, folder).flatMap(([path, text]) => gatesOfWorkflow(path, text)),
    ...names.flatMap(gateOfName),
    ...(contributing !== null && hasRules ? [{ asks: 'ai', path: contributing } as const] : []),
    ...names.filter((name) => FOR_AGENTS.test(name)).map((path) => ({ asks: 'ai', path }) as const),
  ];
  const kinds = new Map<string, Gate>();
  for (const gate of gates) {
    const kind = gate.asks === 'vouch' ? `vouch ${gate.of}` : gate.asks;
    if (!kinds.has(kind)) kinds.set(kind, gate);
  }
  return [...kinds.values()];
}

function gateOfName(path: string): Gate[] {
  const found = FILES.find(([pattern]) => pattern.test(path));
  return found === undefined ? [] : [{ ...found[1], path }];
}

function textOf(objects: ReadonlyMap<Oid, KeptObject>, oid: Oid | undefined): string {
  const object = objects.get(oid ?? '');
  return object?.type === 'blob' ? (decodeUtf8(object.content) ?? '') : '';
}

function workflowsIn(
  objects: ReadonlyMap<Oid, KeptObject>,
  folder: Oid | undefined,
): [path: string, text: string][] {
  const tree = objects.get(folder ?? '');
  if (tree?.type !== 'tree') return [];
  return parseTree(tree.content)
    .filter((entry) => kindOf(entry) === 'file')
    .map(({ name, oid }): [string, Oid] => [decodeUtf8(name) ?? '', oid])
    .filter(([name]) => /\.ya?ml$/.test(name))
    .slice(0, MOST_WORKFLOWS)
    .map(([name, oid]) => [WORKFLOWS + (isPlainName(name) ? name : ''), textOf(objects, oid)]);
}

/**
 * Finds known actions in a workflow. It reads lines, not YAML: a step begins with a dash, and its
 * inputs are lines below it.
 */
export function gatesOfWorkflow(path: string, text: string): Gate[] {
  // An action that runs on a schedule or by hand is no gate.
  const [ofPulls, ofIssues] = [/\bpull_request/.test(text), /\bissues\b/.test(text)];
  return stepsIn(text).flatMap(({ action, inputs }): Gate[] => {
    const gate = ACTIONS.get(action)?.(inputs) ?? null;
    if (gate === null || !(gate.asks === 'vouch' && gate.of === 'issues' ? ofIssues : ofPulls)) return [];
    return [{ ...gate, path }];
  });
}

function stepsIn(text: string): { action: string; inputs: Inputs }[] {
  const steps: { action: string; inputs: Map<string, string> }[] = [];
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed.startsWith('- ')) steps.push({ action: '', inputs: new Map() });
    const step = steps.at(-1);
    const colon = trimmed.indexOf(':');
    if (step === undefined || colon < 0) continue;
    const name = trimmed.slice(0, colon).replace(/^- +/, '').toLowerCase();
    const value = unquoted(trimmed.slice(colon + 1).trim());
    if (name === 'uses') step.action = (value.split('@')[0] ?? '').toLowerCase();
    else step.inputs.set(name, value);
  }
  return steps;
}

/** Reads the value of a line, without quotes and a comment. */
function unquoted(value: string): string {
  const quote = /^["']/.exec(value)?.[0];
  return quote === undefined ? (value.split(' #')[0] ?? '').trim() : (value.slice(1).split(quote)[0] ?? '');
}

/** Tells whether a title begins as Conventional Commits has it: `fix(ui)!: Correct a typo`. */
export function isConventional(title: string): boolean {
  return /^[\w-]+(?:\([^()]*\))?!?: /.test(title);
}

const TYPE = 'begin with a type, such as "fix: Correct a typo"';

/**
 * Says what a gate asks for.
 * @param whose the repository's name.
 */
export function gateWords(gate: Exclude<Gate, { asks: 'vouch' }>, whose: string): string {
  const file = `The ${gate.path} of ${whose}`;
  switch (gate.asks) {
    case 'title':
      return gate.isConventional
        ? `${file} checks titles of pull requests: they ${TYPE}.`
        : `${file} checks titles of pull requests by a pattern of its own.`;
    case 'messages':
      return gate.isConventional
        ? `${file} checks commit messages: they ${TYPE}.`
        : `${file} has rules for commit messages, which usually ${TYPE}.`;
    case 'changelog':
      return `${file} asks each pull request to change ${gate.file}.`;
    case 'sign-off':
      return `${file} asks for a sign-off on each commit (Developer Certificate of Origin).`;
    case 'signature':
      return `${file} asks for signed commits. Signatures of yours are removed here.`;
    case 'ai':
      return `${file} has rules about AI.`;
  }
}
