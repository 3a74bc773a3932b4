/** A push with the real Git that waits with its warnings, and what a person does meanwhile. */
import type { ChildProcess } from 'node:child_process';
import type { Clone, GitRun } from './person.ts';

export class WaitingPush {
  /** How it ended. */
  readonly ended: Promise<GitRun>;
  readonly #git: ChildProcess;
  readonly #isWaiting = Promise.withResolvers<void>();

  constructor(clone: Clone, ...args: string[]) {
    // Without a terminal, Git asks the server to be quiet, and then nobody waits (send-pack.c).
    const git = clone.startPush('--progress', ...args);
    this.#git = git;
    let stderr = '';
    git.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      if (/Publishing in \d+ seconds?\..*\n/.test(stderr)) this.#isWaiting.resolve();
    });
    this.ended = new Promise((resolve) => {
      git.on('close', (code) => {
        this.#isWaiting.reject(new Error(`the push did not wait:\n${stderr}`));
        resolve({ code: code ?? 1, stdout: '', stderr });
      });
    });
    this.#isWaiting.promise.catch(() => {});
  }

  /** Resolves when the person has read that it waits. */
  get waits(): Promise<void> {
    return this.#isWaiting.promise;
  }

  /** Ends Git and its helpers, as Ctrl-C in a terminal does. */
  stop(signal: NodeJS.Signals = 'SIGINT'): void {
    process.kill(-(this.#git.pid as number), signal);
  }
}
