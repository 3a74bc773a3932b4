/** Somebody who contributes to the state's repository: a bare repository, and a network address. */
import { join } from 'node:path';
import { mustRun, neutralEnvironment, run } from '../support/run.ts';

export interface GitRun {
  readonly code: number;
  readonly stderr: string;
}

export class Contributor {
  readonly address: string;
  readonly #path: string;

  constructor(folder: string, name: string, address: string) {
    this.#path = join(folder, name);
    this.address = address;
  }

  /** A copy of upstream, from its bare repository. */
  async clone(upstream: string): Promise<void> {
    await mustRun('git', ['clone', '--quiet', '--bare', '--template=', upstream, this.#path], {
      cwd: '/',
      env: this.#environment,
    });
  }

  /** Adds a file with a commit to a branch, which begins at `main`. */
  async commit(branch: string, message: string): Promise<void> {
    const tip = await this.#git(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`]).catch(() =>
      this.#git(['rev-parse', 'refs/heads/main']),
    );
    const blob = await this.#git(['hash-object', '-w', '--stdin'], `${message}\n`);
    const entries = await this.#git(['ls-tree', tip]);
    const name = `${message.replaceAll(' ', '-')}.txt`;
    const tree = await this.#git(['mktree'], `${entries}\n100644 blob ${blob}\t${name}\n`);
    const commit = await this.#git(['commit-tree', tree, '-p', tip, '-m', message]);
    await this.#git(['update-ref', `refs/heads/${branch}`, commit]);
  }

  /**
   * Pushes a branch under its own name.
   * @param url of the repository at the service.
   */
  async push(url: string, branch: string, ...options: string[]): Promise<GitRun> {
    const header = `http.extraHeader=CF-Connecting-IP: ${this.address}`;
    const args = [...options.flatMap((option) => ['-o', option]), url, `refs/heads/${branch}`];
    const { code, stderr } = await run('git', ['-c', header, 'push', ...args], {
      cwd: this.#path,
      env: this.#environment,
    });
    return { code, stderr };
  }

  async #git(args: readonly string[], input = ''): Promise<string> {
    const output = await mustRun('git', args, { cwd: this.#path, env: this.#environment, input });
    return output.toString().trimEnd();
  }

  get #environment(): NodeJS.ProcessEnv {
    const [name, email] = ['Somebody', 'somebody@home.example'];
    return neutralEnvironment({
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
    });
  }
}
