/**
 * Sees the code host after a push: pull requests, forks and their branches, and what was received.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { initBareRepository, readRefs } from '../../../sandbox/bare-repository.ts';
import type { CapturedRequest } from '../../../sandbox/capture.ts';
import type { WatchedHost } from './watched-host.ts';
import { type ReceivedPush, unpackPush } from './captured-pack.ts';
import { gitIn, readObjects } from './objects.ts';
import { TEST_HEADER } from './tripwire.ts';
import type { Upstream } from './upstream.ts';

const SYNCED_MS = 1_000;
const MOMENT_MS = 50;
/** Some stories never leave the host alone. */
const MOST_ROUNDS = 20;

export interface Pull {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly state: 'open' | 'closed';
  readonly url: string;
  readonly author: string;
  readonly base: string;
  /** `owner:branch`, or the ref of a pull request without a branch. */
  readonly head: string;
  readonly headSha: string;
  readonly isDraft: boolean;
}

export interface CommitSource {
  /** The bare repository. */
  readonly path: string;
  readonly refName: string;
  /** As the host names it. */
  readonly head: string;
}

interface PullAnswer {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly state: 'open' | 'closed';
  readonly html_url: string;
  readonly draft?: boolean;
  readonly user: { readonly login: string };
  readonly base: { readonly ref: string };
  readonly head: {
    /** `owner:branch`; none where there is no branch. */
    readonly label: string;
    readonly ref: string;
    readonly sha: string;
  };
}

/** No fork has these files. Git would start a program for each to find that out. */
const NO_OTHER_FILES = ['-c', 'core.commitGraph=false', '-c', 'core.multiPackIndex=false'];

/** With it, everybody but the bot signs in at the sandbox. */
export const MAINTAINER_PASSWORD = 'maintainer-password';

export class HostView {
  readonly #sandbox: WatchedHost;
  /** Requests that the host had received when nobody asked it any more. */
  #settled = 0;

  constructor(sandbox: WatchedHost) {
    this.#sandbox = sandbox;
  }

  /** A REST call as the bot. */
  async call<T>(method: string, path: string, payload?: unknown): Promise<T> {
    return this.#call(`token ${this.#sandbox.botToken}`, method, path, payload);
  }

  /** A REST call as anybody else who has an account. */
  async callAs<T>(login: string, method: string, path: string, payload?: unknown): Promise<T> {
    const credentials = Buffer.from(`${login}:${MAINTAINER_PASSWORD}`).toString('base64');
    return this.#call(`Basic ${credentials}`, method, path, payload);
  }

  async #call<T>(authorization: string, method: string, path: string, payload: unknown): Promise<T> {
    const response = await fetch(this.#sandbox.apiUrl + path, {
      method,
      headers: { authorization, [TEST_HEADER]: '1' },
      ...(payload === undefined ? {} : { body: JSON.stringify(payload) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** All pull requests of a repository, oldest first. */
  async pulls({ fullName }: Pick<Upstream, 'fullName'>): Promise<Pull[]> {
    const answers: PullAnswer[] = [];
    for (let page = 1; answers.length === 100 * (page - 1); page++) {
      const path = `/repos/${fullName}/pulls?state=all&per_page=100&page=${page}`;
      answers.push(...(await this.call<PullAnswer[]>('GET', path)));
    }
    const pulls = answers.map((pull) => ({
      number: pull.number,
      title: pull.title,
      body: pull.body,
      state: pull.state,
      url: pull.html_url,
      author: pull.user.login,
      base: pull.base.ref,
      head: pull.head.label || pull.head.ref,
      headSha: pull.head.sha,
      isDraft: pull.draft === true,
    }));
    return pulls.toSorted((a, b) => a.number - b.number);
  }

  /** The pull request of a repository that has exactly one. */
  async onlyPull(upstream: Pick<Upstream, 'fullName'>): Promise<Pull> {
    const pulls = await this.pulls(upstream);
    const [pull] = pulls;
    if (pull === undefined || pulls.length > 1) {
      throw new Error(`${upstream.fullName} has ${pulls.length} pull requests instead of one`);
    }
    return pull;
  }

  /** Where the commits of a pull request are, and what is to be read there. */
  source(upstream: Upstream, { number }: Pick<Pull, 'number'>, branch: string): CommitSource {
    const { botLogin, isAgit } = this.#sandbox;
    if (isAgit !== true) {
      const path = this.#sandbox.repositoryPath(botLogin, upstream.name);
      return { path, refName: `refs/heads/${branch}`, head: `${botLogin}:${branch}` };
    }
    const refName = `refs/pull/${number}/head`;
    const path = this.#sandbox.repositoryPath(upstream.owner, upstream.name);
    return { path, refName, head: refName };
  }

  /** The bare repository of the bot's fork; null if there is none. */
  forkPath({ name }: { readonly name: string }): string | null {
    const path = this.#sandbox.repositoryPath(this.#sandbox.botLogin, name);
    return existsSync(path) ? path : null;
  }

  /** Working branches on the bot's fork, by name. */
  async workBranches(upstream: { readonly name: string }): Promise<string[]> {
    const path = this.forkPath(upstream);
    if (path === null) return [];
    const names = [...readRefs(path).keys()].map((name) => name.replace('refs/heads/', ''));
    return names.filter((name) => name.startsWith('anon-'));
  }

  /** The requests of the service to the host, oldest first; the tests' own calls are left out. */
  get requests(): readonly CapturedRequest[] {
    return this.#sandbox.captured.filter(({ headers }) => headers[TEST_HEADER] === undefined);
  }

  /** Requests about one repository: upstream, or the bot's fork of the same name. */
  requestsFor(upstream: { readonly name: string }, method: string, path: RegExp): CapturedRequest[] {
    return this.requests.filter(
      (request) =>
        request.method === method && request.path.includes(`/${upstream.name}`) && path.test(request.path),
    );
  }

  /** The pushes that the host received for the fork, unpacked. */
  async pushes(upstream: Upstream): Promise<ReceivedPush[]> {
    const requests = this.requestsFor(upstream, 'POST', /\/git-receive-pack$/);
    return Promise.all(
      requests.map(({ body }) => unpackPush(body, (oids) => readObjects(upstream.path, oids))),
    );
  }

  /**
   * Until nobody has asked the host for a moment: after its answer to a push, the service records
   * the pull request and tells its topic, which no test of something else may meet.
   */
  async settle(): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS && this.#settled !== this.#sandbox.captured.length; round++) {
      this.#settled = this.#sandbox.captured.length;
      await wait(MOMENT_MS);
    }
  }

  /**
   * Fails unless Git finds every fork sound: one look at all of them, because a program for each
   * takes longer than its push. A push that is not sound, or not whole, is refused by the host's
   * own Git besides.
   */
  async checkForks(): Promise<void> {
    const folder = dirname(this.#sandbox.repositoryPath(this.#sandbox.botLogin, 'any'));
    const forks = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
    if (forks.length === 0) return;
    const all = mkdtempSync(join(tmpdir(), 'gitveil-forks-'));
    const check = () => {
      initBareRepository(all, 'none');
      const refs = forks.flatMap((path, index) =>
        [...readRefs(path)].map(([name, oid]) => `${oid} ${name.replace('refs/', `refs/${index}/`)}\n`),
      );
      writeFileSync(join(all, 'objects/info/alternates'), forks.map((path) => `${path}/objects\n`).join(''));
      writeFileSync(join(all, 'packed-refs'), refs.join(''));
      return gitIn(all, ...NO_OTHER_FILES, 'fsck', '--strict', '--no-dangling', '--no-progress');
    };
    try {
      // The host may be bringing a fork up to date: Git lists the objects first, and the refs
      // afterwards.
      await check().catch(() => wait(SYNCED_MS).then(check));
    } finally {
      rmSync(all, { recursive: true });
    }
  }
}
