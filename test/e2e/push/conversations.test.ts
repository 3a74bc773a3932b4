/**
 * Conversations of a person with Git in the commonest situations, to be read in
 * conversations/*.txt: one file for each, with the exit code in brackets behind each command. Where
 * a run differs from the next one, a name in angle brackets stands. After a change of words on
 * purpose: `npx vitest run test/e2e/push/conversations.test.ts --update`, and read the difference.
 *
 * All are told of one person, one after the other, so that her network ends at its limit.
 */
import { beforeAll, expect, it } from 'vitest';
import { contribute } from '../support/contribution.ts';
import type { Clone, CommitOptions, GitRun, Person } from '../support/person.ts';
import { bannerOf, keyIn } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';

const PANIC_PASSWORD = 'the password of the operator';
/** The wait after warnings is shown as it is where nobody has set it. */
const bed = useOwnTestBed({ env: { PANIC_PASSWORD, WARNING_WAIT: '1s' } });

/** Lines of a slow machine alone, and Git’s own about its work. */
const LEFT_OUT =
  /^(?:remote: Still waiting for |(?:Enumerating|Counting|Compressing|Writing) objects|Delta compression|Total \d)/;

/** Parts that differ from run to run, besides addresses and the person, and their names. */
const NAMES: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/(?<=\/v1\/delayed\/)[0-9a-f]{32}/g, '<page>'],
  [/\b[0-9a-f]{32}\b/g, '<pr-key>'],
  [/\b[0-9a-f]{40}\b/g, '<commit>'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? UTC/g, '<time>'],
  [/\b\d+(?= bytes)/g, '<n>'],
  [/(?<=Publishing in )1 seconds/g, '10 seconds'],
  [/(?<=Try again in )[^.]+/g, '<time>'],
  [/\b[0-9a-f]{7,12}\b/g, '<id>'],
];

/** A repository of others, and Ada's clone of it, with all that is typed and answered there. */
class Terminal {
  readonly upstream: Upstream;
  readonly clone: Clone;
  readonly #lines: string[] = [];

  constructor(upstream: Upstream, clone: Clone) {
    this.upstream = upstream;
    this.clone = clone;
  }

  /** Says what has happened before the next command. */
  say(line: string): void {
    this.#lines.push(...(this.#lines.length === 0 ? [] : ['']), `# ${line}`);
  }

  /** Pushes as a person types it. Without a terminal, Git asks for fewer words: `--progress`. */
  async push(...args: string[]): Promise<GitRun> {
    const run = await this.clone.push('--progress', ...args);
    const shown = `${run.stdout}${run.stderr}`.split(/[\r\n]+/).map((line) => line.trimEnd());
    const lines = shown.filter((line) => line !== '' && !LEFT_OUT.test(line));
    this.#lines.push(`$ git push ${args.map(quoted).join(' ')}`, ...lines, `[${run.code}]`);
    return run;
  }

  /** Fails if the conversation differs from the file that has its name. */
  async expectAs(name: string): Promise<void> {
    const text = named(this.#lines.splice(0).join('\n'), this);
    await expect(`${text}\n`).toMatchFileSnapshot(`conversations/${name}.txt`);
  }
}

/** Quotes an argument as a person would. */
function quoted(arg: string): string {
  return /[\s<>$;]/.test(arg) ? `'${arg}'` : arg;
}

function named(text: string, { upstream, clone: { person } }: Terminal): string {
  const own: readonly (readonly [text: string, name: string])[] = [
    [bed.service.url, '<service>'],
    [bed.sandbox.notifyUrl, '<notify>'],
    [bed.sandbox.url, '<host>'],
    [upstream.fullName, 'octo/hello'],
    [person.authorName, 'Ada Lovelace'],
    [person.authorEmail, 'ada@example.org'],
    [person.committerName, 'A. Lovelace'],
    [person.committerEmail, 'ada@work.example'],
  ];
  const hashes = new Set(
    [...text.matchAll(/\b(?:anon-|pr-hash=)([0-9a-f]{8,40})\b/g)].map(([, hash = '']) => hash),
  );
  const withNames = own.reduce((all, [each, name]) => all.replaceAll(each, name), text);
  const withHashes = [...hashes].reduce((all, hash) => all.replaceAll(hash, '<pr-hash>'), withNames);
  return NAMES.reduce((all, [pattern, name]) => all.replaceAll(pattern, name), withHashes);
}

let ada: Person;
/** Where most of it happens. */
let hello: Terminal;
/** The pull request of the first push. */
let first: { readonly prHash: string; readonly prKey: string };

async function terminal(files?: Readonly<Record<string, string>>): Promise<Terminal> {
  const upstream = await bed.createUpstream();
  if (files !== undefined) await upstream.grow({ files });
  return new Terminal(upstream, await ada.copy(upstream));
}

/** A commit on a new branch, which stands on upstream's. */
async function commitOn(
  { clone }: Terminal,
  branch: string,
  options: CommitOptions = { message: 'Greet the reader\n' },
): Promise<void> {
  await clone.git('switch', '--quiet', '--create', branch, 'origin/main');
  await clone.commit({ files: { [`${branch}.txt`]: 'Hello.\n' }, ...options });
}

beforeAll(async () => {
  const { person, upstream, clone } = await contribute(bed);
  ada = person;
  hello = new Terminal(upstream, clone);
});

it('a first push', async () => {
  await commitOn(hello, 'greeting');
  hello.say('Ada has made one commit on a branch of her own.');
  const pushed = await hello.push('origin', 'greeting');
  first = { prHash: bannerOf(pushed).prHash, prKey: keyIn(pushed) ?? '' };
  await hello.expectAs('01-first-push');
});

it('an update', async () => {
  await hello.clone.commit({ message: 'Greet the author, too\n' });
  hello.say('She commits again, and runs the command that was printed.');
  await hello.push('-o', `pr-hash=${first.prHash}`, hello.upstream.url, 'HEAD:refs/heads/greeting');
  await hello.expectAs('02-update');
});

it('nothing new', async () => {
  hello.say('The same command, without a new commit.');
  await hello.push('-o', `pr-hash=${first.prHash}`, hello.upstream.url, 'HEAD:refs/heads/greeting');
  hello.say('And a branch that has nothing of her own.');
  await hello.push('origin', 'origin/main:refs/heads/nothing');
  await hello.expectAs('03-nothing-new');
});

it('what a repository asks for', async () => {
  const strict = await terminal({ '.gitveil.yml': 'sign_off: required\n' });
  await commitOn(strict, 'greeting');
  strict.say('The maintainers want a sign-off.');
  await strict.push('origin', 'greeting');
  await strict.expectAs('04-sign-off');
});

it('everything at once', async () => {
  const rules = 'sign_off: required\nai_disclosure: required\nissue: required\nworkflows: false\n';
  const strict = await terminal({ '.gitveil.yml': rules });
  await commitOn(strict, 'greeting', {
    message: `Greet the reader\n\nBy ${ada.authorName}.\n`,
    files: { '.github/workflows/ci.yml': 'on: push\n' },
  });
  strict.say('The maintainers want three things, and no workflows. Ada has misspelt an option.');
  await strict.push('-o', 'drft', '-o', 'base=mian', 'origin', 'greeting');
  await strict.expectAs('05-everything-at-once');
});

it('a name in a message', async () => {
  await commitOn(hello, 'named', { message: `Greet the reader\n\nThis was written by ${ada.authorName}.\n` });
  hello.say('The message of the commit has her name.');
  await hello.push('origin', 'named');
  await hello.expectAs('06-name-in-a-message');
});

it('a preview', async () => {
  hello.say('The same commit, only shown.');
  await hello.push('-o', 'preview', 'origin', 'named');
  await commitOn(hello, 'shown');
  hello.say('A commit with which nothing is wrong.');
  await hello.push('-o', 'preview', 'origin', 'shown');
  await commitOn(hello, 'reported', { files: { 'log.txt': 'See /home/grace/hello/build.log\n' } });
  hello.say('A changed file names a folder on her machine.');
  await hello.push('-o', 'preview', 'origin', 'reported');
  await hello.expectAs('07-preview');
});

it('the sentence of a merge', async () => {
  const { clone } = hello;
  await commitOn(hello, 'fix', { message: 'Mend the greeting\n' });
  await clone.git('switch', '--quiet', '--create', 'mine', 'origin/main');
  await clone.commit({ message: 'Greet everybody\n' });
  await clone.git('merge', '--quiet', '--no-edit', 'fix');
  hello.say('She has merged one of her branches into another.');
  await hello.push('origin', 'mine');
  await hello.expectAs('08-merge');
});

it('a file that is too large', async () => {
  await commitOn(hello, 'big', {
    message: 'Add the data\n',
    files: { 'big.dat': Buffer.alloc(12 << 20, 1) },
  });
  hello.say('A file has 12 MB.');
  await hello.push('origin', 'big');
  await hello.expectAs('09-big-file');
});

it('a base that is not there', async () => {
  await hello.upstream.grow({ branch: 'release-1.x', from: 'main' });
  hello.say('Upstream has two branches, and none of them is called "mian".');
  await hello.push('-o', 'base=mian', 'origin', 'shown');
  await hello.expectAs('10-unknown-base');
});

it('an option that is not there', async () => {
  hello.say('The option is called "preview".');
  await hello.push('-o', 'perview', 'origin', 'shown');
  await hello.expectAs('11-unknown-option');
});

it('a home folder', async () => {
  const path = '/home/grace/hello/build.log';
  await commitOn(hello, 'home', {
    message: 'Say where it breaks\n',
    files: { 'notes.txt': `See ${path}\n` },
  });
  hello.say('A changed file names a folder on her machine.');
  await hello.push('origin', 'home');
  await hello.expectAs('12-home-folder');
});

it('a second pull request', async () => {
  hello.say('The commit of another open pull request of hers, from another branch.');
  await hello.push('origin', 'home:elsewhere');
  await hello.expectAs('13-second-pull-request');
});

it('a delay', async () => {
  await commitOn(hello, 'later', { message: 'Greet the reader in the evening\n' });
  hello.say('To be published at a random moment between one hour and two from now.');
  await hello.push('-o', 'delay=1h', 'origin', 'later');
  await hello.expectAs('14-delay');
});

it('a withdrawal', async () => {
  const { prHash, prKey } = first;
  hello.say('With the hash and the key of the first push.');
  await hello.push(
    '-o',
    'withdraw',
    '-o',
    `pr-hash=${prHash}`,
    '-o',
    `pr-key=${prKey}`,
    'origin',
    'greeting',
  );
  await hello.expectAs('15-withdraw');
});

it('the limit', async () => {
  await commitOn(hello, 'fifth', { message: 'Greet the fifth reader\n' });
  expect((await hello.clone.push('origin', 'fifth')).code).toBe(0);
  await commitOn(hello, 'sixth', { message: 'Greet the sixth reader\n' });
  hello.say('Her network has opened five pull requests within the hour.');
  await hello.push('origin', 'sixth');
  await hello.expectAs('16-limit');
});

it('panic', async () => {
  const body = JSON.stringify({ password: PANIC_PASSWORD, active: true });
  expect((await fetch(`${bed.service.url}/admin/panic`, { method: 'POST', body })).status).toBe(200);
  hello.say('The operator has suspended pushes.');
  await hello.push('origin', 'sixth');
  await hello.expectAs('17-panic');
});
