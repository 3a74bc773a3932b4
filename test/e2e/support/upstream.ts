/** A repository of other people on the code host: histories of any length and age, made by one git process. */
import { randomBytes } from 'node:crypto';
import { readRef } from '../../../sandbox/bare-repository.ts';
import { gitIn } from './objects.ts';
import { mustRun, neutralEnvironment } from './run.ts';

export const UPSTREAM_IDENTITY = 'Mona Maintainer <mona@upstream.example>';
const DAY_SECONDS = 24 * 60 * 60;

export interface UpstreamCommits {
  /** Default 1. */
  readonly count?: number;
  /** Default: the default branch. A branch that does not exist is started from `from`. */
  readonly branch?: string;
  /** Where to start; default: the branch itself; null: a history of its own. */
  readonly from?: string | null;
  /** Age of the last commit in days; default 30, or a little younger than what was made before. */
  readonly ageDays?: number;
  /** Days between two commits; default a tenth of one. */
  readonly stepDays?: number;
  /** Files of the last commit. Each commit has one of its own besides. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly message?: string;
}

export class Upstream {
  readonly owner: string;
  readonly name: string;
  readonly defaultBranch: string;
  /** The bare repository. */
  readonly path: string;
  /** The remote that a person uses. */
  readonly url: string;
  #lastDate: number;
  #made = 0;

  constructor(facts: { owner: string; name: string; defaultBranch: string; path: string; url: string }) {
    this.owner = facts.owner;
    this.name = facts.name;
    this.defaultBranch = facts.defaultBranch;
    this.path = facts.path;
    this.url = facts.url;
    this.#lastDate = this.#ago(30);
  }

  get fullName(): string {
    return `${this.owner}/${this.name}`;
  }

  git(...args: string[]): Promise<string> {
    return gitIn(this.path, ...args);
  }

  /** The id of a commit, for example of a branch. */
  async tip(revision = this.defaultBranch): Promise<string> {
    return readRef(this.path, `refs/heads/${revision}`) ?? this.git('rev-parse', revision);
  }

  /** Adds commits to a branch; answers the id of the last. */
  async grow(wanted: UpstreamCommits = {}): Promise<string> {
    const { count = 1, branch = this.defaultBranch, stepDays = 0.1, message = 'Work on upstream\n' } = wanted;
    const ref = `refs/heads/${branch}`;
    const last = wanted.ageDays === undefined ? this.#lastDate + 600 * count : this.#ago(wanted.ageDays);
    if (wanted.ageDays === undefined) this.#lastDate = last;
    const step = wanted.ageDays === undefined ? 600 : Math.floor((stepDays * DAY_SECONDS) / 10) * 10;
    const exists = readRef(this.path, ref) !== undefined;
    const start = wanted.from === undefined ? (exists ? branch : null) : wanted.from;
    const from = start === null ? null : await this.tip(start);
    const chunks: Buffer[] = [];
    const say = (text: string | Uint8Array) => chunks.push(Buffer.from(text));
    const file = (name: string, content: string | Uint8Array) => {
      const bytes = Buffer.from(content);
      say(`M 100644 inline ${name}\ndata ${bytes.length}\n`);
      say(bytes);
      say('\n');
    };
    if (from === null) say(`reset ${ref}\n\n`);
    for (let index = 0; index < count; index++) {
      const text = Buffer.from(message);
      say(`commit ${ref}\ncommitter ${UPSTREAM_IDENTITY} ${last - (count - 1 - index) * step} +0200\n`);
      say(`data ${text.length}\n`);
      say(text);
      if (index === 0 && from !== null) say(`from ${from}\n`);
      this.#made += 1;
      file(`upstream/${this.#made % 50}.txt`, `${this.#made} ${randomBytes(8).toString('hex')}\n`);
      if (index === count - 1)
        for (const [name, content] of Object.entries(wanted.files ?? {})) file(name, content);
      say('\n');
    }
    await mustRun('git', ['fast-import', '--quiet', '--force'], {
      cwd: this.path,
      env: neutralEnvironment({ GIT_CONFIG_GLOBAL: '/dev/null' }),
      input: Buffer.concat(chunks),
    });
    return this.tip(branch);
  }

  /** Dates of upstream end in 0, those of persons in 7. */
  #ago(days: number): number {
    return Math.floor((Date.now() / 1000 - days * DAY_SECONDS) / 10) * 10;
  }
}
