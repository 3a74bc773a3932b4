/**
 * A Git client for tests, kept from the machine's own configuration. It must not block: the host
 * under test runs in the same process.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface GitRun {
  readonly code: number;
  /** Standard output and error, in the order in which they came. */
  readonly output: string;
}

const ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ann Author',
  GIT_AUTHOR_EMAIL: 'ann@example.org',
  GIT_COMMITTER_NAME: 'Carl Committer',
  GIT_COMMITTER_EMAIL: 'carl@example.org',
  LC_ALL: 'C',
};

/** Runs git in a folder and answers how it ended. */
export function tryGit(cwd: string, ...args: string[]): Promise<GitRun> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd, env: { ...process.env, ...ENVIRONMENT } });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });
}

/** Runs git in a folder, answers what it printed, and throws when it fails. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const { code, output } = await tryGit(cwd, ...args);
  if (code !== 0) throw new Error(`git ${args.join(' ')} exited with ${code}: ${output}`);
  return output.trim();
}

/** A folder for one test file, with repositories to work in. */
export class Workshop {
  readonly dir = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
  #made = 0;

  /** A path in the folder that nobody has used. */
  path(): string {
    this.#made += 1;
    return join(this.dir, String(this.#made));
  }

  /** A new work tree with one commit on `main`. */
  async workTree(): Promise<string> {
    const path = this.path();
    await git(this.dir, 'init', '--quiet', '--initial-branch=main', path);
    await commitFile(path, 'README.md', '# Hello\n', 'Initial commit');
    return path;
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Commits one file; answers the commit's id. */
export async function commitFile(
  workTree: string,
  name: string,
  content: string | Buffer,
  message: string,
): Promise<string> {
  writeFileSync(join(workTree, name), content);
  await git(workTree, 'add', '--', name);
  await git(workTree, 'commit', '--quiet', '--cleanup=verbatim', '--message', message);
  return git(workTree, 'rev-parse', 'HEAD');
}
