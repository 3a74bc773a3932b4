/**
 * A host as the service opens it, and a person's work on a fork: what most of the contract's cases
 * begin with.
 */
import type { Clock } from '../../../src/isolate/clock.ts';
import {
  type ActivityHost,
  type CodeHost,
  type ForkHost,
  openActivity,
  openRepositories,
  openThreads,
  type ThreadHost,
} from '../../../src/host/open.ts';
import type { AgitRequest, Head, HostPullRequest } from '../../../src/host/code-host.ts';
import { GitTransport } from '../../../src/host/git/git-transport.ts';
import { SmartHttp } from '../../../src/host/git/smart-http.ts';
import { isolateMemory } from '../../../src/isolate/memory-budget.ts';
import type { RepositoryName } from '../../../src/words/repository-name.ts';
import { gitIn } from '../../e2e/support/objects.ts';
import { mustRun, neutralEnvironment } from '../../e2e/support/run.ts';
import type { ContractHost, ContractRepository } from './contract-host.ts';
import type { Http } from '../../../src/outgoing/http-client.ts';

/** The client of Node.js, in place of the service's own over workerd's sockets. */
export const NODE_HTTP: Http = {
  fetch: (url, init) => {
    // Node.js insists on it for a body that is a stream.
    const streaming = init?.body instanceof ReadableStream ? { duplex: 'half' } : {};
    return fetch(url, { ...init, ...streaming });
  },
};

/** Does not wait: the hosts of these tests are as far as they will get when they have answered. */
export const HASTY_CLOCK: Clock = { now: () => Date.now(), sleep: async () => {} };

export class World {
  readonly host: ContractHost;
  readonly repositories: CodeHost;
  readonly threads: ThreadHost;
  readonly activity: ActivityHost;
  readonly transport: GitTransport;

  constructor(host: ContractHost) {
    this.host = host;
    this.repositories = openRepositories(host.access);
    this.threads = openThreads(host.access);
    this.activity = openActivity(host.access, () => {});
    this.transport = new GitTransport(
      new SmartHttp(host.url, host.access, host.access.http),
      host.access.clock,
      isolateMemory.open(host.access.clock),
      null,
    );
  }

  /** The repositories, of a host where pull requests come from forks. */
  get forks(): ForkHost {
    return this.repositories as ForkHost;
  }

  /** A repository, and the bot's fork of it with its objects. */
  async forked() {
    const repository = await this.host.createRepository();
    const fork = await this.forks.fork(await this.repositories.repository(repository.name));
    await this.objectsOf(fork);
    return { repository, fork };
  }

  /** Waits for a fork's objects; answers its branches. */
  async objectsOf(fork: RepositoryName): Promise<ReadonlyMap<string, string>> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const list = await this.transport.listRefs(fork, ['HEAD', 'refs/heads/'], 'bot').catch(() => null);
      if (list !== null && list.headTip !== null) {
        return new Map(list.refs.map(({ name, oid }) => [name.replace('refs/heads/', ''), oid]));
      }
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error('the fork stays empty');
  }

  /**
   * A commit on top of upstream's tip, pushed to a branch of the fork as the bot does. Answers its
   * id.
   */
  pushWork(
    repository: ContractRepository,
    fork: RepositoryName,
    branch: string,
    changes?: readonly string[],
  ): Promise<string> {
    return this.#pushTo(
      repository,
      fork,
      branch,
      { refName: `refs/heads/${branch}`, pushOptions: [] },
      changes,
    );
  }

  /** @param changes lines as `git fast-import` takes them. */
  async #pushTo(
    { upstream }: ContractRepository,
    target: RepositoryName,
    branch: string,
    { refName, pushOptions }: { readonly refName: string; readonly pushOptions: readonly string[] },
    changes: readonly string[] = [`M 100644 inline ${branch}.txt`, 'data 5', 'work', ''],
  ): Promise<string> {
    const lines = [
      `commit refs/work/${branch}`,
      'committer bot <bot@gitveil.invalid> 1700000000 +0000',
      'data 5',
      'Work',
      `from ${await upstream.tip()}`,
      ...changes,
      '',
    ];
    const cwd = upstream.path;
    const env = neutralEnvironment({ GIT_CONFIG_GLOBAL: '/dev/null' });
    await mustRun('git', ['fast-import', '--quiet', '--force'], { cwd, env, input: lines.join('\n') });
    const address = new URL(`${this.host.url}/${target.owner}/${target.name}.git`);
    address.username = 'x-access-token';
    address.password = this.host.access.token;
    const options = pushOptions.flatMap((option) => ['-o', option]);
    const refspec = `refs/work/${branch}:${refName}`;
    await gitIn(cwd, 'push', '--quiet', '--force', ...options, address.href, refspec);
    return gitIn(cwd, 'rev-parse', `refs/work/${branch}`);
  }

  /** A repository with an issue. */
  async withIssue() {
    const repository = await this.host.createRepository();
    const issue = { title: 'An issue', body: 'About something', labels: [] };
    return { repository, number: (await this.threads.createIssue(repository.name, issue)).number };
  }

  /**
   * An open pull request of the bot's, with work of its own, opened as the service does it.
   * @param changes lines as `git fast-import` takes them.
   */
  async proposed(changes?: readonly string[]): Promise<Proposed> {
    const branch = unique('anon');
    const text = { title: 'A title', body: 'A body\n\n---\n*by the bot*', isDraft: false };
    const head = { owner: this.host.botLogin, branch };
    const { repositories } = this;
    if (repositories.flow === 'agit') {
      const repository = await this.host.createRepository();
      const tip = await this.offer(
        repository,
        { base: 'main', topic: branch, text, isForced: false },
        changes,
      );
      const pullRequest = await repositories.findDelivered(repository.name, head.owner, tip);
      if (pullRequest === null) throw new Error('the push has opened no pull request');
      return { repository, name: repository.name, head, pullRequest, number: pullRequest.number };
    }
    const { repository, fork } = await this.forked();
    await this.pushWork(repository, fork, branch, changes);
    const request = { head, base: 'main', ...text };
    const pullRequest = await repositories.openPullRequest(repository.name, request);
    return { repository, name: repository.name, head, pullRequest, number: pullRequest.number };
  }

  /**
   * A commit on top of upstream's tip, pushed to upstream so that it opens or updates a pull
   * request. Answers its id.
   */
  offer(repository: ContractRepository, request: AgitRequest, changes?: readonly string[]): Promise<string> {
    if (this.repositories.flow !== 'agit') throw new Error('pull requests come from forks here');
    const said = this.repositories.agitPush(request);
    return this.#pushTo(repository, repository.name, request.topic, said, changes);
  }
}

export interface Proposed {
  readonly repository: ContractRepository;
  readonly name: RepositoryName;
  readonly head: Head;
  readonly pullRequest: HostPullRequest;
  readonly number: number;
}

/** A name that nothing else has. */
export function unique(word: string): string {
  return `${word}-${Math.random().toString(36).slice(2, 10)}`;
}
