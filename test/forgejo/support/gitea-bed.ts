/**
 * The service in workerd with two hosts: the embedded one as `gh`, and a real Gitea as `my`.
 * Everything that a test does goes to Gitea. After each test the tripwire has searched what reached
 * it: requests, the bot's repositories, and the database.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, inject } from 'vitest';
import type { Faults } from '../../../sandbox/faults.ts';
import { HostView } from '../../e2e/support/host-view.ts';
import type { Person } from '../../e2e/support/person.ts';
import { TestBed, type UpstreamOptions } from '../../e2e/support/test-bed.ts';
import { Tripwire } from '../../e2e/support/tripwire.ts';
import type { WatchedHost } from '../../e2e/support/watched-host.ts';
import { People, PushedUpstream } from './contract-host.ts';
import { BOT, type GiteaAddress } from './gitea.ts';
import { type RecordingProxy, type Rewriting, startRecordingProxy } from './recording-proxy.ts';

/** The host's part of the paths. */
export const HOST_KEY = 'my';
/** Kinds of secrets that the database would keep as text. */
const IN_TEXT = new Set(['name', 'email', 'user-agent', 'address', 'header', 'word', 'id']);

export class GiteaBed {
  readonly inner: TestBed;
  readonly host: HostView;
  readonly people: People;
  readonly sandbox: WatchedHost;
  readonly #gitea: GiteaAddress;
  readonly #proxy: RecordingProxy;
  readonly #tripwire: Tripwire;

  private constructor(inner: TestBed, gitea: GiteaAddress, proxy: RecordingProxy) {
    this.inner = inner;
    this.#gitea = gitea;
    this.#proxy = proxy;
    this.people = new People(gitea);
    this.sandbox = {
      // Gitea writes addresses as it is asked for them.
      apiUrl: `${proxy.url}/api/v1`,
      botToken: gitea.botToken,
      botLogin: BOT,
      isAgit: true,
      get captured() {
        return proxy.captured;
      },
      repositoryPath: (owner, name) => join(gitea.repositories, owner, `${name.toLowerCase()}.git`),
    };
    this.host = new HostView(this.sandbox);
    this.#tripwire = new Tripwire(this.sandbox, inner.logLines);
  }

  static async start(
    gitea: GiteaAddress,
    rewriting: Rewriting | null,
    more: Readonly<Record<string, string>>,
  ): Promise<GiteaBed> {
    const proxy = await startRecordingProxy(gitea.url, rewriting);
    const kind = rewriting === null ? gitea.kind : 'forgejo';
    const env = { HOSTS: `${HOST_KEY}=${kind}:${proxy.url}`, HOSTING_TOKEN_MY: gitea.botToken, ...more };
    return new GiteaBed(await TestBed.start({ env }), gitea, proxy);
  }

  get faults(): Faults {
    return this.#proxy.faults;
  }

  get serviceUrl(): string {
    return this.inner.service.url;
  }

  /** With three commits on `main`. */
  async createUpstream({ commits = 3 }: UpstreamOptions = {}): Promise<PushedUpstream> {
    const upstream = await this.people.createUpstream('mona', {}, (name) => this.remoteUrl('mona', name));
    this.#tripwire.addUpstream(upstream);
    if (commits > 0) await upstream.grow({ count: commits });
    if (commits > 0) await this.people.settled(upstream.fullName);
    return upstream;
  }

  remoteUrl(owner: string, name: string): string {
    return `${this.serviceUrl}/v1/${HOST_KEY}/${owner}/${name}`;
  }

  person(): Person {
    const person = this.inner.person();
    this.#tripwire.addPerson(person);
    return person;
  }

  async verify(): Promise<void> {
    this.faults.clear();
    const leaks = await this.#tripwire.check();
    for (const name of ['gitea.db', 'gitea.db-wal']) {
      for (const { label, context } of this.#tripwire.secrets.search.search(this.#stored(name))) {
        if (IN_TEXT.has(label.kind)) leaks.push({ secret: label, where: name, context });
      }
    }
    if (leaks.length > 0) {
      const lines = leaks
        .slice(0, 15)
        .map(({ secret, where, context }) => `${secret.kind} "${secret.text}" in ${where}: ${context}`);
      throw new Error(`${leaks.length} leaks to Gitea:\n${lines.join('\n')}`);
    }
    await this.inner.verify();
  }

  async stop(): Promise<void> {
    await this.inner.stop();
    await this.#proxy.close();
  }

  #stored(name: string): Buffer {
    try {
      return readFileSync(join(dirname(this.#gitea.config), name));
    } catch {
      return Buffer.alloc(0);
    }
  }
}

/**
 * Starts a bed for this file, and puts the tripwire under each of its tests. To be called where
 * there is a Gitea.
 * @param rewriting makes another host of it.
 * @param env further variables of the service.
 */
export function useGiteaBed(
  rewriting: Rewriting | null = null,
  env: Readonly<Record<string, string>> = {},
): GiteaBed {
  let bed: GiteaBed | null = null;
  beforeAll(async () => {
    bed = await GiteaBed.start(inject('gitea') as GiteaAddress, rewriting, env);
  });
  afterEach(() => bed?.verify());
  afterAll(() => bed?.stop());
  return new Proxy({} as GiteaBed, {
    get: (_, property) => {
      if (bed === null) throw new Error('the test bed is not started yet');
      const value: unknown = Reflect.get(bed, property, bed);
      return typeof value === 'function' ? value.bind(bed) : value;
    },
  });
}
