/** A real Gitea for the contract's cases, and for whoever acts beside the bot. */
import { dirname, join } from 'node:path';
import { initBareRepository } from '../../../sandbox/bare-repository.ts';
import type { RestAccess } from '../../../src/host/rest/rest.ts';
import { gitIn } from '../../e2e/support/objects.ts';
import { Upstream, type UpstreamCommits } from '../../e2e/support/upstream.ts';
import type { ContractHost, ContractRepository, Owner } from '../../host/contract/contract-host.ts';
import { HASTY_CLOCK, NODE_HTTP, unique } from '../../host/contract/world.ts';
import { ACCOUNT } from '../../host/support/back-off.ts';
import { BOT, type GiteaAddress, PAGE_SIZE } from './gitea.ts';

export function contractHost(gitea: GiteaAddress): ContractHost {
  const people = new People(gitea);
  return {
    access: botAccess(gitea),
    url: gitea.url,
    botLogin: BOT,
    pageSize: PAGE_SIZE,
    createRepository: (wanted) => people.createRepository(wanted),
    async textOf({ owner, name }, number) {
      const { body } = await people.call<{ body: string }>('GET', `/repos/${owner}/${name}/issues/${number}`);
      return body;
    },
  };
}

/** As the service speaks to it in the name of its bot. */
export function botAccess(
  { kind, apiUrl, botToken }: GiteaAddress,
  more: Partial<RestAccess> = {},
): RestAccess {
  return { kind, apiUrl, token: botToken, http: NODE_HTTP, clock: HASTY_CLOCK, ...ACCOUNT, ...more };
}

interface Wanted {
  readonly owner?: Owner;
  readonly name?: string;
  readonly private?: boolean;
}

/** People at the host, all of whom act by the maintainer's token. */
export class People {
  readonly #gitea: GiteaAddress;

  constructor(gitea: GiteaAddress) {
    this.#gitea = gitea;
  }

  async call<T>(method: string, path: string, payload?: unknown): Promise<T> {
    const { apiUrl, maintainerToken } = this.#gitea;
    const headers = { authorization: `token ${maintainerToken}`, 'content-type': 'application/json' };
    const body = payload === undefined ? null : JSON.stringify(payload);
    const response = await fetch(apiUrl + path, { method, headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  async createRepository({ owner = 'mona', ...facts }: Wanted = {}): Promise<ContractRepository> {
    const upstream = await this.createUpstream(owner, facts);
    await upstream.grow({ count: 3 });
    await this.settled(upstream.fullName);
    let repo = upstream.name;
    const place = () => `/repos/${owner}/${repo}`;
    return {
      name: { owner, name: repo },
      upstream,
      comment: (number, body) => this.call('POST', `${place()}/issues/${number}/comments`, { body }),
      review: (number, body) =>
        this.call('POST', `${place()}/pulls/${number}/reviews`, { body, event: 'COMMENT' }),
      remark: (number, path, body) =>
        this.call('POST', `${place()}/pulls/${number}/reviews`, {
          event: 'COMMENT',
          comments: [{ path, body, new_position: 1 }],
        }),
      lock: (number) => this.call('PUT', `${place()}/issues/${number}/lock`, {}),
      merge: (number) => this.merge(`${owner}/${repo}`, number),
      takePrivateReports: () => Promise.reject(new Error('there are no private reports here')),
      rename: async (name) => {
        await this.call('PATCH', place(), { name });
        repo = name;
        upstream.moveTo(name);
      },
    };
  }

  /** An empty repository. @param urlOf where a person finds it; default: on the server itself. */
  async createUpstream(
    owner: Owner,
    wanted: object = {},
    urlOf = (name: string) => `${this.#gitea.url}/${owner}/${name}.git`,
  ): Promise<PushedUpstream> {
    const facts = { name: unique('hello'), default_branch: 'main', ...wanted };
    await this.call('POST', `/admin/users/${owner}/repos`, facts);
    return new PushedUpstream(this.#gitea, owner, facts.name, urlOf(facts.name));
  }

  /**
   * The first push is taken note of in the background; until then the repository counts as empty.
   */
  async settled(fullName: string): Promise<void> {
    for (let attempt = 0; attempt < 1_200; attempt++) {
      const { empty } = await this.call<{ empty: boolean }>('GET', `/repos/${fullName}`);
      if (!empty) return;
      await new Promise((done) => setTimeout(done, 25));
    }
    throw new Error('the repository stays empty');
  }

  /** Whether it can be merged is found out in the background. */
  async merge(fullName: string, number: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.call('POST', `/repos/${fullName}/pulls/${number}/merge`, { Do: 'merge' });
      } catch (error) {
        if (attempt === 300) throw error;
        await new Promise((done) => setTimeout(done, 100));
      }
    }
  }
}

/** A repository whose history is made beside the server and pushed to it, as everybody does. */
export class PushedUpstream extends Upstream {
  readonly #gitea: GiteaAddress;
  #name: string;

  constructor(gitea: GiteaAddress, owner: string, name: string, url: string) {
    const path = join(dirname(gitea.config), 'upstream', owner, `${name}.git`);
    initBareRepository(path, 'main');
    super({ owner, name, defaultBranch: 'main', path, url });
    this.#gitea = gitea;
    this.#name = name;
  }

  moveTo(name: string): void {
    this.#name = name;
  }

  override async grow(wanted: UpstreamCommits = {}): Promise<string> {
    const tip = await super.grow(wanted);
    await this.publish();
    return tip;
  }

  /** Sends what was made. */
  async publish(): Promise<void> {
    const address = new URL(`${this.#gitea.url}/${this.owner}/${this.#name}.git`);
    address.username = 'mona';
    address.password = this.#gitea.maintainerToken;
    await gitIn(
      this.path,
      'push',
      '--quiet',
      '--force',
      address.href,
      'refs/heads/*:refs/heads/*',
      'refs/tags/*:refs/tags/*',
    );
  }
}
