/** A repository of other people on the code host: histories of any length and age. */
import { randomBytes } from 'node:crypto';
import { readRef } from '../../../sandbox/bare-repository.ts';
import { treeOf, treeWith, writeCommit, writeRef } from './loose-objects.ts';
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

interface UpstreamCommit {
  readonly identity: string;
  readonly files: Readonly<Record<string, string | Uint8Array>>;
}

/** The most commits for which git makes no pack, as a host would have one. */
const FEW_COMMITS = 20;

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
    const commits = Array.from({ length: count }, (_, index): UpstreamCommit => {
      this.#made += 1;
      const own = {
        [`upstream/${this.#made % 50}.txt`]: `${this.#made} ${randomBytes(8).toString('hex')}\n`,
      };
      const files = index === count - 1 ? { ...own, ...wanted.files } : own;
      return { identity: `${UPSTREAM_IDENTITY} ${last - (count - 1 - index) * step} +0200`, files };
    });
    const tip = count > FEW_COMMITS ? undefined : this.#write(commits, from, message);
    if (tip === undefined) await this.#import(ref, commits, from, message);
    else writeRef(this.path, ref, tip);
    return this.tip(branch);
  }

  /** Answers the last commit's id; undefined: what it builds on is packed. */
  #write(commits: readonly UpstreamCommit[], from: string | null, message: string): string | undefined {
    let tip = from;
    let tree = from === null ? null : treeOf(this.path, from);
    for (const { identity, files } of commits) {
      tree = tree === undefined ? undefined : treeWith(this.path, tree, files);
      if (tree === undefined) return undefined;
      const parents = tip === null ? [] : [tip];
      tip = writeCommit(this.path, { tree, parents, author: identity, committer: identity, message });
    }
    return tip ?? undefined;
  }

  async #import(
    ref: string,
    commits: readonly UpstreamCommit[],
    from: string | null,
    message: string,
  ): Promise<void> {
    const chunks: Buffer[] = [];
    const say = (text: string | Uint8Array) => chunks.push(Buffer.from(text));
    const sayData = (content: string | Uint8Array) => {
      const bytes = Buffer.from(content);
      say(`data ${bytes.length}\n`);
      say(bytes);
      say('\n');
    };
    if (from === null) say(`reset ${ref}\n\n`);
    for (const [index, { identity, files }] of commits.entries()) {
      say(`commit ${ref}\ncommitter ${identity}\n`);
      sayData(message);
      if (index === 0 && from !== null) say(`from ${from}\n`);
      for (const [name, content] of Object.entries(files)) {
        say(`M 100644 inline ${name}\n`);
        sayData(content);
      }
      say('\n');
    }
    await mustRun('git', ['fast-import', '--quiet', '--force'], {
      cwd: this.path,
      env: neutralEnvironment({ GIT_CONFIG_GLOBAL: '/dev/null' }),
      input: Buffer.concat(chunks),
    });
  }

  /** Dates of upstream end in 0, those of persons in 7. */
  #ago(days: number): number {
    return Math.floor((Date.now() / 1000 - days * DAY_SECONDS) / 10) * 10;
  }
}
