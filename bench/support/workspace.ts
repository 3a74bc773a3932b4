/**
 * Keeps all temporary files of one run in one folder, including those of the code host and the
 * build. The folder is deleted in any case when the run ends. Expensive files are made once and
 * shared between rows.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class Workspace {
  readonly #root = mkdtempSync(join(tmpdir(), 'gitveil-bench-'));
  readonly #made = new Map<string, Promise<unknown>>();
  #folders = 0;

  constructor() {
    process.env['TMPDIR'] = this.#root;
    process.on('exit', () => rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 }));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.on(signal, () => {
        process.stderr.write(`ended by ${signal}\n`);
        process.exit(1);
      });
    }
  }

  /** Makes a new folder. */
  folder(name: string): string {
    const path = join(this.#root, `${++this.#folders}-${name}`);
    mkdirSync(path);
    return path;
  }

  /** Answers the result of `make`, which runs on the first call with this name. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const known = this.#made.get(name) as Promise<T> | undefined;
    const made = known ?? make();
    this.#made.set(name, made);
    return made;
  }
}
