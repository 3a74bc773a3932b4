/** The real Git client of a person with a name and an address, in a home of their own. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface GitResult {
  readonly code: number | null;
  readonly stdout: string;
  /** The text that Git shows, without the spaces that it appends to `remote:` lines. */
  readonly stderr: string;
  /** The lines behind `remote:`. */
  readonly remote: readonly string[];
}

export interface Author {
  readonly name: string;
  readonly address: string;
}

export const ADA: Author = { name: 'Ada Lovelace', address: 'ada@home.example' };

/** Folders of a test file; `remove` deletes them all. */
export class Workplace {
  readonly #root = mkdtempSync(join(tmpdir(), 'gitveil-contract-git-'));
  #count = 0;

  folder(): string {
    this.#count += 1;
    const path = join(this.#root, String(this.#count));
    mkdirSync(path);
    return path;
  }

  /** Clones with these options of `git`, and of `git clone`. */
  async clone(
    url: string,
    options: readonly string[] = [],
    cloneOptions: readonly string[] = [],
  ): Promise<Clone> {
    const path = this.folder();
    await mustGit(this.#root, [...options, 'clone', '--quiet', ...cloneOptions, url, path]);
    return new Clone(path, options);
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

export class Clone {
  readonly path: string;
  readonly #options: readonly string[];

  constructor(path: string, options: readonly string[] = []) {
    this.path = path;
    this.#options = options;
  }

  git(...args: string[]): Promise<GitResult> {
    return git(this.path, [...this.#options, ...args]);
  }

  async must(...args: string[]): Promise<string> {
    return mustGit(this.path, [...this.#options, ...args]);
  }

  /** A commit with these files. Answers its id. */
  async commit(message: string, files: Readonly<Record<string, string>>, by = ADA): Promise<string> {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true });
      writeFileSync(join(this.path, name), text);
    }
    await this.must('add', '--all');
    await mustGit(this.path, ['commit', '--quiet', '--message', message], { by });
    return (await this.must('rev-parse', 'HEAD')).trim();
  }
}

/** Options that make a proxy's header of a client: Git is another client then. */
export function fromAddress(header: string, address: string): string[] {
  return ['-c', `http.extraHeader=${header}: ${address}`];
}

export interface GitInput {
  readonly input?: string;
  readonly by?: Author;
}

export async function mustGit(cwd: string, args: readonly string[], more?: GitInput): Promise<string> {
  const result = await git(cwd, args, more);
  if (result.code !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

export function git(
  cwd: string,
  args: readonly string[],
  { input = '', by = ADA }: GitInput = {},
): Promise<GitResult> {
  const child = spawn('git', args, { cwd, env: environment(cwd, by), stdio: 'pipe' });
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const shown: string = Buffer.concat(stderr).toString().replaceAll(/ +$/gm, '');
      const remote = shown
        .split('\n')
        .filter((line) => line.startsWith('remote:'))
        .map((line) => line.slice('remote: '.length));
      resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: shown, remote });
    });
  });
}

function environment(cwd: string, by: Author): Record<string, string> {
  const { PATH = '' } = process.env;
  return {
    PATH,
    HOME: cwd,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: by.name,
    GIT_AUTHOR_EMAIL: by.address,
    GIT_COMMITTER_NAME: by.name,
    GIT_COMMITTER_EMAIL: by.address,
  };
}
