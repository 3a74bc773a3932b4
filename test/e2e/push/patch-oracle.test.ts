/**
 * Random changes of random repositories, as `git format-patch` writes them: they become the trees
 * that `git am` makes, or they are refused. Git applies some that are refused here, because it
 * takes the nearest of several places.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { UNCOUNTED } from '../../../src/git/memory.ts';
import type { ObjectType } from '../../../src/git/objects/oid.ts';
import { outgoingPack } from '../../../src/git/pack/outgoing-pack.ts';
import { readMails } from '../../../src/patch/mails.ts';
import { PatchError } from '../../../src/patch/patch-error.ts';
import { seriesOn } from '../../../src/patch/series.ts';
import type { ReadObjects } from '../../../src/upstream/tree-reader.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { neutralEnvironment } from '../support/run.ts';

let folder = '';
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'gitveil-patches-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const AUTHOR = {
  GIT_AUTHOR_NAME: 'Zoë',
  GIT_AUTHOR_EMAIL: 'zoe@home.example',
  GIT_COMMITTER_NAME: 'K',
  GIT_COMMITTER_EMAIL: 'k@work.example',
};

function tryGit(args: readonly string[], input?: Uint8Array) {
  const env = neutralEnvironment({ HOME: folder, ...AUTHOR });
  return spawnSync('git', args, { cwd: folder, env, ...(input && { input }), maxBuffer: 64 * 1024 * 1024 });
}

function git(args: readonly string[], input?: Uint8Array): Buffer {
  const { status, stdout, stderr } = tryGit(args, input);
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`);
  return stdout;
}

const text = (...args: string[]): string => git(args).toString().trim();

/** Reads objects of the repository as the code host would. */
const read: ReadObjects = async ({ wants }) => {
  const objects = new Map<string, { type: ObjectType; content: Uint8Array }>();
  for (const oid of wants)
    objects.set(oid, {
      type: inTree('cat-file', '-t', oid) as ObjectType,
      content: git(['-C', 'tree', 'cat-file', inTree('cat-file', '-t', oid), oid]),
    });
  return objects as unknown as Awaited<ReturnType<ReadObjects>>;
};

const NAMES = [
  'a.txt',
  'b.txt',
  'dir/c.txt',
  'dir/deep/d.txt',
  'with space.txt',
  'größe "q".txt',
  'dir/e.bin',
  'f',
];

type Change = {
  readonly kind: string;
  readonly name: string;
  readonly other: string;
  readonly at: number;
  readonly words: readonly string[];
};

const word = fc.stringMatching(/^[a-c\t ]{0,3}\r?$/);
const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom(
    'insert',
    'insert',
    'replace',
    'replace',
    'remove',
    'append',
    'chop',
    'binary',
    'patch-binary',
    'delete',
    'rename',
    'copy',
    'mode',
    'link',
    'folder',
  ),
  name: fc.constantFrom(...NAMES),
  other: fc.constantFrom(...NAMES),
  at: fc.nat(40),
  words: fc.array(word, { minLength: 1, maxLength: 4 }),
});

const story = fc.record({
  files: fc.array(
    fc.record({
      name: fc.constantFrom(...NAMES),
      lines: fc.array(word, { maxLength: 40 }),
      ends: fc.boolean(),
    }),
    { minLength: 2, maxLength: 6 },
  ),
  mine: fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
  theirs: fc.array(change, { maxLength: 3 }),
  options: fc.subarray(['-M', '-C', '--find-copies-harder', '-U1', '--no-renames']),
});

type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

const pathOf = (name: string): string => join(folder, 'tree', name);

function put(name: string, content: string | Uint8Array): void {
  const path = pathOf(name);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  writeFileSync(path, content, typeof content === 'string' ? 'latin1' : undefined);
}

function make({ kind, name, other, at, words }: Change): void {
  const path = pathOf(name);
  const isThere = existsSync(path);
  const old = isThere ? readFileSync(path, 'latin1') : '';
  const lines = old.split('\n');
  switch (kind) {
    case 'insert':
      return put(name, lines.toSpliced(at, 0, ...words).join('\n'));
    case 'replace':
      return put(name, lines.toSpliced(at, words.length, ...words.map((each) => `${each}z`)).join('\n'));
    case 'remove':
      return put(name, lines.toSpliced(at, words.length).join('\n'));
    case 'append':
      return put(name, `${old}${words.join('\n')}\n`);
    case 'chop':
      return put(name, old.replace(/\n$/, ''));
    case 'binary':
      return put(name, Buffer.from(`\0${words.join('\0').repeat(at)}`));
    case 'patch-binary':
      return put(name, Buffer.from(`\0${'some long content that stays\n'.repeat(20)}${at}${old}`, 'latin1'));
    case 'delete':
      return rmSync(path, { force: true });
    case 'mode':
      return isThere ? chmodSync(path, at % 2 === 0 ? 0o755 : 0o644) : undefined;
    case 'link':
      if (isThere) rmSync(path);
      mkdirSync(dirname(path), { recursive: true });
      return symlinkSync(words[0]?.trim() || 'x', path);
    case 'folder':
      if (isThere) rmSync(path);
      return put(`${name}/inner`, words.join('\n'));
    default:
      if (!isThere || existsSync(pathOf(other))) return undefined;
      mkdirSync(dirname(pathOf(other)), { recursive: true });
      if (kind === 'copy') return put(other, old);
      return renameSync(path, pathOf(other));
  }
}

function commit(changes: readonly Change[]): string {
  for (const each of changes) {
    try {
      make(each);
    } catch {
      // A file stands where a folder would have to, or the other way round.
    }
  }
  git(['-C', 'tree', 'add', '-A']);
  // Where nothing has changed, Git makes no commit.
  tryGit([
    '-C',
    'tree',
    'commit',
    '--quiet',
    ...(changes.length === 0 ? ['--allow-empty'] : []),
    '-m',
    'Change\n\nWords.',
  ]);
  return text('-C', 'tree', 'rev-parse', 'HEAD');
}

const inTree = (...args: string[]): string => text('-C', 'tree', ...args);

/** Runs a story. Answers the trees of Git and ours; null where each refuses. */
async function run({ files, mine, theirs, options }: Story) {
  rmSync(join(folder, 'tree'), { recursive: true, force: true });
  git(['init', '--quiet', '--initial-branch=main', 'tree']);
  for (const { name, lines, ends } of files) {
    try {
      put(name, lines.join('\n') + (ends ? '\n' : ''));
    } catch {
      // As above.
    }
  }
  const base = commit([]);
  for (const changes of mine) commit(changes);
  const patch = git(['-C', 'tree', 'format-patch', '--stdout', '--binary', ...options, `${base}..HEAD`]);
  inTree('reset', '--quiet', '--hard', base);
  const tip = commit(theirs);
  const theirTrees = gitAm(patch, tip);
  const ourTrees = await ours(patch, tip);
  return { theirTrees, ourTrees, patch: patch.toString() };
}

function gitAm(patch: Uint8Array, tip: string): string[] | null {
  inTree('clean', '-fdxq');
  const { status } = tryGit(['-C', 'tree', 'am', '--quiet', '--keep-cr'], patch);
  const trees = status === 0 ? inTree('log', '--format=%T', `${tip}..HEAD`).split('\n') : null;
  if (status !== 0) tryGit(['-C', 'tree', 'am', '--abort']);
  inTree('reset', '--quiet', '--hard', tip);
  return trees;
}

async function ours(patch: Uint8Array, tip: string): Promise<string[] | string> {
  const tree = inTree('rev-parse', `${tip}^{tree}`);
  const written: Uint8Array[] = [];
  const write = async (pieces: readonly Uint8Array[]): Promise<void> => {
    written.push(...pieces.map((piece) => piece.slice()));
  };
  try {
    const ports = { read, memory: UNCOUNTED, write };
    const series = await seriesOn({ tip, tree, committedAt: 1 }, patch, readMails(patch), ports);
    const entries = new Blob(written).stream();
    const pieces: Uint8Array[] = [];
    for await (const piece of outgoingPack(0, [], series.entryCount, entries)) pieces.push(piece);
    git(['-C', 'tree', 'unpack-objects', '-q', '--strict'], Buffer.concat(pieces));
    return inTree('log', '--format=%T', `${tip}..${series.tip}`).split('\n');
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    return [error.reason, ...error.lines].join('\n');
  }
}

/** Each run gets the same inputs, and a failure is not made smaller until the time is over. */
const SAME_INPUTS = { seed: 1, endOnFailure: true };

/** Fails if a patch becomes something else than git am makes of it, or if most are refused. */
async function expectSameTrees(numRuns: number): Promise<void> {
  const taken = { byGit: 0, byUs: 0 };
  const holds = async (told: Story): Promise<void> => {
    const { theirTrees, ourTrees, patch } = await run(told);
    if (theirTrees !== null) taken.byGit++;
    if (typeof ourTrees === 'string') return;
    taken.byUs++;
    expect({ trees: ourTrees, patch }).toEqual({ trees: theirTrees, patch });
  };
  await fc.assert(fc.asyncProperty(story, holds), { ...SAME_INPUTS, numRuns });
  expect(taken.byUs).toBeGreaterThan(taken.byGit / 2);
}

it('a patch becomes what git am makes of it, or is refused', exhaustive, () => expectSameTrees(3));

it('many patches do', exhaustive, () => expectSameTrees(25));

const MAIL = 'From: A <a@home.example>\nSubject: [PATCH] Title\n\n';
const mailLine = fc.constantFrom(
  '',
  ' ',
  'From: B <b@home.example>',
  'Subject: Other',
  'date: today',
  ' folded',
  '\tfolded',
  'Words',
  'Words\u00a0',
  'voilà  ',
  'x\f',
  '\u3000',
);

function saysTheSame(lines: readonly string[]): void {
  const mail = Buffer.from(`${MAIL}${lines.join('\n')}\n---\n\ndiff --git a/x b/x\n`);
  const info = git(['mailinfo', 'words', 'diff'], mail).toString();
  const subject = /^Subject: (.*)$/m.exec(info)?.[1] ?? '';
  const words = readFileSync(join(folder, 'words'), 'utf8');
  const message = git(['stripspace'], Buffer.from(`${subject}\n\n${words}`)).toString();
  expect(readMails(mail).map((each) => each.message)).toEqual([message]);
}

it('a mail has the message that git am gives it', () => {
  const mails = fc.array(mailLine, { maxLength: 8 });
  fc.assert(fc.property(mails, saysTheSame), { ...SAME_INPUTS, numRuns: 25 });
});
