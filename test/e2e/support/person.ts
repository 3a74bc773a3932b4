/**
 * A person with a real Git client, and everything about them that must never reach the host: names,
 * addresses, a rare time zone, dates, signatures, the client's name, headers, the network address.
 * Each person has one word of their own that is part of all of it, so that a leak is found and
 * recognised.
 *
 * Git runs in a home folder of its own, apart from the machine's configuration.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readRef } from '../../../sandbox/bare-repository.ts';
import { type Cloned, copyAsClone } from './copied-clone.ts';
import {
  type Files,
  readTree,
  treeOf,
  treeWith,
  writeCommit,
  writeObject,
  writeRef,
} from './loose-objects.ts';
import { type RunOptions, mustRun, neutralEnvironment, run } from './run.ts';

/** A quarter-hour offset that one small place on earth uses. */
export const PERSON_ZONE = '+0845';
const DAY_SECONDS = 24 * 60 * 60;

export interface GitRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommitOptions {
  readonly message?: string | Uint8Array;
  readonly files?: Files;
  /** Seconds since 1970. Default: a date of the last weeks that nothing else has. */
  readonly date?: number;
  readonly args?: readonly string[];
}

export interface CommitObject {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string | Uint8Array;
  /** Seconds since 1970. */
  readonly date?: number;
  /** Whole lines behind the committer's, continuation lines included. */
  readonly headers?: readonly string[];
}

export class Person {
  /** Part of everything that tells of this person. */
  readonly word: string;
  readonly home: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly committerName: string;
  readonly committerEmail: string;
  readonly userAgent: string;
  readonly address: string;
  /** Headers that their network or a careless proxy adds to each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** A branch name that tells of them. */
  readonly branch: string;
  /** Folders of all repositories that they have made. */
  readonly repositories: string[] = [];
  #nextDate: number;

  /** @param address unique among the persons of a test bed. */
  constructor(address: string) {
    const word = `w${randomBytes(5).toString('hex')}z`;
    this.word = word;
    this.home = mkdtempSync(join(tmpdir(), `gitveil-${word}-`));
    this.authorName = `Zoë Author-${word}`;
    this.authorEmail = `author.${word}@home.example`;
    this.committerName = `Kit Committer-${word}`;
    this.committerEmail = `kit-${word}@work.example`;
    this.userAgent = `git/2.0.${word}`;
    this.address = address;
    this.headers = {
      'CF-Connecting-IP': address,
      'X-Forwarded-For': `${address}, 10.0.0.1`,
      'X-Real-IP': address,
      Forwarded: `for="${address}";host=${word}.example`,
      Via: `1.1 ${word}-proxy`,
      Cookie: `session=${word}-cookie`,
      Referer: `https://${word}.example/`,
      'X-Request-Id': `${word}-request`,
      'X-Odd-Header': `${word}-odd`,
    };
    this.branch = `fix-${word}`;
    // Ends in 7: upstream's dates end in 0, so that none is both.
    this.#nextDate = Math.floor(Date.now() / 1000 / 10 - randomInt(DAY_SECONDS, 2 * DAY_SECONDS)) * 10 + 7;
    this.#writeHome();
  }

  /**
   * A date that no other commit has: of the last weeks, later with each call. Seconds since 1970.
   */
  nextDate(): number {
    this.#nextDate += randomInt(1, 6) * 10;
    return this.#nextDate;
  }

  /** Clones through whatever `url` is. */
  async clone(url: string, ...args: string[]): Promise<Clone> {
    const clone = this.#newClone();
    await this.mustGit(this.home, ['clone', '--quiet', ...args, url, clone.path]);
    return clone;
  }

  /**
   * Makes what `clone` leaves, without its ten programs and its requests: for tests of what comes
   * after it.
   */
  async copy(upstream: Cloned, branch?: string): Promise<Clone> {
    const clone = this.#newClone();
    if (copyAsClone(upstream, clone.gitFolder, branch)) clone.checkOutLater();
    return clone;
  }

  /** A new repository that has nothing to do with any other. */
  async init(remoteUrl: string): Promise<Clone> {
    const clone = this.#newClone();
    await this.mustGit(this.home, ['init', '--quiet', clone.path]);
    await clone.git('remote', 'add', 'origin', remoteUrl);
    return clone;
  }

  /** Runs their Git, however it ends. */
  async git(cwd: string, args: readonly string[], options: Partial<RunOptions> = {}): Promise<GitRun> {
    const { code, stdout, stderr } = await run('git', args, this.#options(cwd, options));
    return { code, stdout: stdout.toString(), stderr };
  }

  /** Runs their Git, which must succeed; answers standard output. */
  async mustGit(cwd: string, args: readonly string[], options: Partial<RunOptions> = {}): Promise<Buffer> {
    return this.mustRun('git', cwd, args, options);
  }

  /** As `mustGit`, before anything else happens: for what talks to nobody. */
  mustGitNow(cwd: string, args: readonly string[]): void {
    const { env } = this.#options(cwd, {});
    const { status, stderr } = spawnSync('git', args, { cwd, env });
    if (status !== 0) throw new Error(`git ${args.join(' ')} exited with ${status}: ${stderr.toString()}`);
  }

  /** Starts their Git in a process group of its own, as a terminal does. */
  startGit(cwd: string, args: readonly string[]): ChildProcess {
    return spawn('git', args, { ...this.#options(cwd, {}), detached: true });
  }

  /** Runs a program in their environment, which must succeed; answers standard output. */
  async mustRun(
    program: string,
    cwd: string,
    args: readonly string[],
    options: Partial<RunOptions> = {},
  ): Promise<Buffer> {
    return mustRun(program, args, this.#options(cwd, options));
  }

  /** Whether Git has asked for a user name or a password since the start. */
  get wasAskedForPassword(): boolean {
    return existsSync(join(this.home, 'asked'));
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }

  #newClone(): Clone {
    const path = join(this.home, `clone-${this.repositories.length + 1}`);
    this.repositories.push(path);
    return new Clone(this, path);
  }

  #options(cwd: string, options: Partial<RunOptions>): RunOptions {
    const date = `@${this.nextDate()} ${PERSON_ZONE}`;
    const environment = neutralEnvironment({
      HOME: this.home,
      USER: this.word,
      LOGNAME: this.word,
      // Git makes `Accept-Language` from it.
      LANGUAGE: `qq-${this.word}`,
      GIT_ASKPASS: join(this.home, 'askpass'),
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: `@${this.nextDate()} ${PERSON_ZONE}`,
    });
    return { cwd, ...options, env: { ...environment, ...options.env } };
  }

  #writeHome(): void {
    const headers = Object.entries(this.headers).map(([name, value]) => `${name}: ${value}`);
    const lines = [
      '[author]',
      `name = ${quoted(this.authorName)}`,
      `email = ${this.authorEmail}`,
      '[committer]',
      `name = ${quoted(this.committerName)}`,
      `email = ${this.committerEmail}`,
      '[init]',
      'defaultBranch = main',
      // Sample hooks take as long to copy as all else in a new repository.
      'templateDir =',
      '[gc]',
      'auto = 0',
      '[maintenance]',
      'auto = false',
      '[http]',
      `userAgent = ${this.userAgent}`,
      ...headers.map((header) => `extraHeader = ${quoted(header)}`),
    ];
    writeFileSync(join(this.home, '.gitconfig'), `${lines.join('\n')}\n`);
    const askpass = join(this.home, 'askpass');
    writeFileSync(askpass, `#!/bin/sh\necho "$1" >> '${join(this.home, 'asked')}'\nexit 1\n`);
    chmodSync(askpass, 0o755);
  }
}

/** A value as Git's configuration file wants it. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/**
 * Commands that need neither a work tree nor an index. Not `config`: Git may commit in another way
 * after it.
 */
const WITHOUT_FILES = new Set([
  'branch',
  'cat-file',
  'commit-tree',
  'fetch',
  'for-each-ref',
  'fsck',
  'log',
  'notes',
  'push',
  'remote',
  'repack',
  'rev-list',
  'rev-parse',
  'symbolic-ref',
  'tag',
  'update-ref',
]);

/** Files that change what `git add` takes. */
const STEERS_GIT = /^\.git(?:ignore|attributes)$/;

/** One of a person's repositories, with a work tree. */
export class Clone {
  readonly person: Person;
  readonly #path: string;
  /** Most tests look at no file: theirs are written when somebody asks for them. */
  #isCheckedOut = true;

  constructor(person: Person, path: string) {
    this.person = person;
    this.#path = path;
  }

  /** The folder that Git keeps: of a bare clone, all that there is. */
  get gitFolder(): string {
    const inside = join(this.#path, '.git');
    return existsSync(join(this.#path, 'HEAD')) ? this.#path : inside;
  }

  /** The folder, with all files in it. */
  get path(): string {
    if (!this.#isCheckedOut) {
      this.#isCheckedOut = true;
      this.person.mustGitNow(this.#path, ['reset', '--quiet', '--hard']);
    }
    return this.#path;
  }

  /** For a repository without index and files. */
  checkOutLater(): void {
    this.#isCheckedOut = false;
  }

  /** Runs git, which must succeed; answers its output without the last line feed. */
  async git(...args: string[]): Promise<string> {
    return (await this.person.mustGit(this.#pathFor(args), args)).toString().replace(/\n$/, '');
  }

  /** Runs git, however it ends. */
  tryGit(...args: string[]): Promise<GitRun> {
    return this.person.git(this.#pathFor(args), args);
  }

  #pathFor([command = '']: readonly string[]): string {
    return WITHOUT_FILES.has(command) ? this.#path : this.path;
  }

  write(name: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.path, name)), { recursive: true });
    writeFileSync(join(this.path, name), content);
  }

  /**
   * Commits files, by default one that is new, with the message byte for byte. Answers the commit's
   * id.
   */
  async commit(options: CommitOptions = {}): Promise<string> {
    const {
      message = 'Change something\n',
      files = { [`file-${randomBytes(4).toString('hex')}.txt`]: `${randomBytes(8).toString('hex')}\n` },
    } = options;
    const written =
      this.#isCheckedOut || options.args !== undefined
        ? undefined
        : this.#write(files, message, options.date);
    if (written !== undefined) return written;
    for (const [name, content] of Object.entries(files)) {
      if (content === null) rmSync(join(this.path, name));
      else this.write(name, content);
    }
    const dates =
      options.date === undefined
        ? {}
        : {
            GIT_AUTHOR_DATE: `@${options.date} ${PERSON_ZONE}`,
            GIT_COMMITTER_DATE: `@${options.date} ${PERSON_ZONE}`,
          };
    // One shell for two programs: this process is large, and starts each of its own at a price.
    const script = 'git add --all && exec git commit "$@"';
    const args = [
      '-c',
      script,
      'sh',
      '--quiet',
      '--allow-empty',
      '--allow-empty-message',
      '--cleanup=verbatim',
      '--file=-',
    ];
    await this.person.mustRun('sh', this.path, [...args, ...(options.args ?? [])], {
      input: message,
      env: dates,
    });
    return this.idOf('HEAD');
  }

  /**
   * Writes what `git add --all` and `git commit` would, without these programs; undefined: they are
   * needed.
   */
  #write(files: Files, message: string | Uint8Array, date?: number): string | undefined {
    const ref = this.#branch();
    const parent = ref === undefined ? undefined : readRef(this.gitFolder, ref);
    const before = parent === undefined ? undefined : treeOf(this.gitFolder, parent);
    if (ref === undefined || parent === undefined || before === undefined) return undefined;
    const names = [...Object.keys(files), ...(readTree(this.gitFolder, before)?.keys() ?? [])];
    if (names.some((name) => STEERS_GIT.test(name))) return undefined;
    const tree = treeWith(this.gitFolder, before, files);
    if (tree === undefined) return undefined;
    const oid = this.#commitOn([parent], tree, message, date);
    writeRef(this.gitFolder, ref, oid);
    return oid;
  }

  /** The ref that is checked out; undefined: a commit is. */
  #branch(): string | undefined {
    return /^ref: (.+)$/m.exec(readFileSync(join(this.gitFolder, 'HEAD'), 'utf8'))?.[1];
  }

  #commitOn(
    parents: readonly string[],
    tree: string,
    message: string | Uint8Array,
    date?: number,
    headers?: readonly string[],
  ): string {
    const { authorName, authorEmail, committerName, committerEmail } = this.person;
    const [authoredAt, committedAt] = [date ?? this.person.nextDate(), date ?? this.person.nextDate()];
    return writeCommit(this.gitFolder, {
      tree,
      parents,
      author: `${authorName} <${authorEmail}> ${authoredAt} ${PERSON_ZONE}`,
      committer: `${committerName} <${committerEmail}> ${committedAt} ${PERSON_ZONE}`,
      message,
      ...(headers && { headers }),
    });
  }

  /** Adds commits on top of HEAD, many at once. */
  async commitMany(count: number, message: (index: number) => string): Promise<void> {
    const { authorName, authorEmail, committerName, committerEmail } = this.person;
    const lines: string[] = [];
    for (let index = 0; index < count; index++) {
      const text = message(index);
      lines.push(
        'commit refs/heads/many',
        `author ${authorName} <${authorEmail}> ${this.person.nextDate()} ${PERSON_ZONE}`,
        `committer ${committerName} <${committerEmail}> ${this.person.nextDate()} ${PERSON_ZONE}`,
        `data ${Buffer.byteLength(text)}`,
        text,
        ...(index === 0 ? [`from ${await this.idOf('HEAD')}`] : []),
        `M 100644 inline many/${index % 20}.txt`,
        `data ${String(index).length}`,
        `${index}`,
      );
    }
    await this.person.mustGit(this.#path, ['fast-import', '--quiet'], { input: `${lines.join('\n')}\n` });
    const [branch, tip] = [this.#branch(), readRef(this.gitFolder, 'refs/heads/many')];
    if (this.#isCheckedOut || branch === undefined) await this.git('reset', '--quiet', '--hard', 'many');
    else writeRef(this.gitFolder, branch, tip ?? '');
  }

  /** Writes a commit object of any shape, and nothing else. Answers its id. */
  async commitObject({ tree, parents, message, date, headers }: CommitObject): Promise<string> {
    return this.#commitOn(parents, tree, message, date, headers);
  }

  /** Writes an object, also one that Git would not make. */
  async writeObject(type: string, content: Uint8Array): Promise<string> {
    return writeObject(this.gitFolder, type, content);
  }

  /**
   * The id that a revision stands for; HEAD on a branch, the common case, is read without a
   * program.
   */
  async idOf(revision: string): Promise<string> {
    if (revision === 'HEAD') {
      const ref = this.#branch();
      const oid = ref === undefined ? undefined : readRef(this.gitFolder, ref);
      if (oid !== undefined) return oid;
    }
    return this.git('rev-parse', revision);
  }

  /** The tree of a commit. */
  tree(commit = 'HEAD'): Promise<string> {
    return this.git('rev-parse', `${commit}^{tree}`);
  }

  /**
   * `git push <args>`; without any, HEAD to a branch whose name tells of the person. Unlike a
   * fetch, which is relayed as it is, a push may not even tell the host which version of Git the
   * person uses.
   */
  push(...args: string[]): Promise<GitRun> {
    const all = args.length > 0 ? args : ['origin', `HEAD:refs/heads/${this.person.branch}`];
    return this.person.git(this.#path, ['push', ...all], { env: { GIT_USER_AGENT: this.person.userAgent } });
  }

  /** Starts `git push <args>`, for tests of what happens meanwhile. */
  startPush(...args: string[]): ChildProcess {
    return this.person.startGit(this.#path, ['push', ...args]);
  }
}
