/**
 * Connects the service and the code host on this machine as `npm start` does. The bot's forks
 * already exist, because the time for a fork depends on the host and is not measured.
 */
import { join } from 'node:path';
import type { WorkerBuild } from '../../local/deploy/build.ts';
import type { BuildActions } from './build-process.ts';
import { git, timedGit } from './git.ts';
import { Helper } from './helper.ts';
import type { HostileFetch } from './hostile-fetches.ts';
import type { HostActions, HostAddresses } from './host-process.ts';
import type { Distance, RelayActions } from './relay-process.ts';
import type { ServiceActions, ServiceAddress } from './service-process.ts';
import type { Workspace } from './workspace.ts';

const OWNER = 'octo';
/** Branch that a client pushes first, so that the service and the host know the repository. */
export const WARM_UP = 'warm-up';
const HERE: Distance = { roundTripMs: 0, setUps: 0 };

export interface RigOptions {
  /** Distance of the host; default: it is on this machine. */
  readonly distance?: Distance;
  /** Whether `sentByHost` will be called. */
  readonly countsBytes?: boolean;
  /** Variables of the service besides those of the rig. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Target {
  readonly name: string;
  /** Address of the repository at the service. */
  readonly service: string;
  /** Address of the same repository at the host. */
  readonly host: string;
  /** Address of the bot's fork at the host, with the bot's token. */
  readonly fork: string;
}

const helper = (name: string): string => join(import.meta.dirname, `${name}-process.ts`);

export class Rig {
  readonly #host = new Helper<HostActions>(helper('host'));
  readonly #service = new Helper<ServiceActions>(helper('service'));
  #relay: Helper<RelayActions> | null = null;
  #hostAddresses: HostAddresses | null = null;
  #serviceAddress: ServiceAddress | null = null;
  #repositories = 0;
  #pushes = 0;

  async start(
    build: WorkerBuild,
    { distance, countsBytes = false, env: own = {} }: RigOptions,
  ): Promise<void> {
    const started = await this.#host.ask('start', null);
    const isRelayed = distance !== undefined || countsBytes;
    const host = isRelayed ? await this.#movedAway(started, distance ?? HERE) : started;
    const env = {
      HOSTING_URL: host.url,
      HOSTING_API_URL: host.apiUrl,
      HOSTING_TOKEN: host.botToken,
      NOTIFY_BASE_URL: host.notifyUrl,
      // All clones come from one address.
      LIMIT_DISCOVERIES: '10000/1m',
      LIMIT_CREATIONS: '10000/1h',
      LIMIT_CALLS: '10000/1h',
      LIMIT_TARGET: '10000/1h',
      LIMIT_THREAD: '10000/1h',
      WARNING_WAIT: '0s',
      ...own,
    };
    this.#hostAddresses = host;
    this.#serviceAddress = await this.#service.ask('start', { build, env });
  }

  get #addresses(): { host: HostAddresses; service: ServiceAddress } {
    if (!this.#hostAddresses || !this.#serviceAddress) throw new Error('the rig has not been started');
    return { host: this.#hostAddresses, service: this.#serviceAddress };
  }

  get workerdPid(): number {
    return this.#addresses.service.workerdPid;
  }

  /** Makes a repository with the content of the bare one at `source`. */
  async repositoryWithoutFork(source: string): Promise<Target> {
    const name = `bench-${++this.#repositories}`;
    await this.#host.ask('addRepository', { owner: OWNER, name, source });
    const { host, service } = this.#addresses;
    const withToken = host.url.replace('//', `//x-access-token:${host.botToken}@`);
    return {
      name,
      service: `${service.url}/v1/gh/${OWNER}/${name}`,
      host: `${host.url}/${OWNER}/${name}.git`,
      fork: `${withToken}/${host.botLogin}/${name}.git`,
    };
  }

  /**
   * Makes a repository, and the bot's fork of it.
   * @param client has the branch `WARM_UP`, one commit ahead of main; it is pushed through the
   * service.
   */
  async repository(source: string, client: string): Promise<Target> {
    const target = await this.repositoryWithoutFork(source);
    await this.push(client, target, WARM_UP);
    return target;
  }

  /** Opens an issue to comment on. @returns its number. */
  async openIssue({ name }: Target): Promise<number> {
    const { apiUrl, botToken } = this.#addresses.host;
    const answer = await fetch(`${apiUrl}/repos/${OWNER}/${name}/issues`, {
      method: 'POST',
      headers: { Authorization: `token ${botToken}` },
      body: JSON.stringify({ title: 'To talk on' }),
    });
    return (await answer.json<{ number: number }>()).number;
  }

  /** Adds a commit to upstream's main. */
  async moveUpstream({ name }: Target): Promise<void> {
    await this.#host.ask('addCommit', { owner: OWNER, name });
  }

  /** Pushes a branch through the service. Answers the milliseconds. */
  async push(
    client: string,
    { service }: Target,
    branch: string,
    pushOptions: readonly string[] = [],
  ): Promise<number> {
    const address = `CF-Connecting-IP: ${this.newAddress()}`;
    return timedGit(client, [
      '-c',
      `http.extraHeader=${address}`,
      'push',
      ...pushOptions.flatMap((option) => ['-o', option]),
      service,
      refspec(branch),
    ]);
  }

  /** Fetches upstream's main into the client, as a branch of this name. */
  async fetch(client: string, { host }: Target, branch: string): Promise<void> {
    await git(client, ['fetch', '--quiet', host, `+refs/heads/main:refs/heads/${branch}`]);
  }

  async runScheduled(at: number): Promise<void> {
    await this.#service.ask('runScheduled', at);
  }

  /** Asks for upstream's refs as a push does, without the push that follows. */
  async discover({ service }: Target): Promise<void> {
    const answer = await fetch(`${service}/info/refs?service=git-receive-pack`);
    if (!answer.ok) throw new Error(`the discovery was answered with ${answer.status}`);
    await answer.arrayBuffer();
  }

  /** Sends a diff, of which nothing is published. */
  async preview({ service }: Target, diff: string): Promise<void> {
    const answer = await fetch(`${service}/patch?preview&title=Add`, { method: 'POST', body: diff });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`the patch was answered with ${answer.status}: ${text}`);
  }

  /** Sends a given request for a pack. */
  async askForPack({ service }: Target, { headers, body, status }: HostileFetch): Promise<void> {
    const type = { 'Content-Type': 'application/x-git-upload-pack-request' };
    const request = { method: 'POST', headers: { ...type, ...headers }, body, duplex: 'half' };
    const answer = await fetch(`${service}/git-upload-pack`, request);
    await answer.arrayBuffer();
    if (answer.status !== status) throw new Error(`the fetch was answered with ${answer.status}`);
  }

  /** Pushes a branch straight to the fork. Answers the milliseconds. */
  async pushStraight(client: string, { fork }: Target, branch: string): Promise<number> {
    return timedGit(client, ['push', fork, refspec(branch)]);
  }

  /** Answers the bytes that the host has sent to the service so far. Needs `countsBytes`. */
  async sentByHost(): Promise<number> {
    return (await this.#relay?.ask('sentByHost', null)) ?? 0;
  }

  /**
   * Makes another network address for each contribution, so that the hourly limit does not matter
   * here.
   */
  newAddress(): string {
    return `10.0.${(++this.#pushes >> 8) & 255}.${this.#pushes & 255}`;
  }

  /** Starts a relay, and answers the host's addresses behind it. */
  async #movedAway(host: HostAddresses, distance: Distance): Promise<HostAddresses> {
    this.#relay = new Helper<RelayActions>(helper('relay'));
    const port = await this.#relay.ask('start', { port: Number(new URL(host.url).port), ...distance });
    const away = (url: string): string => url.replace(host.url, `http://127.0.0.1:${port}`);
    return { ...host, url: away(host.url), apiUrl: away(host.apiUrl), notifyUrl: away(host.notifyUrl) };
  }

  async close(): Promise<void> {
    await this.#service.end();
    await this.#relay?.end();
    await this.#host.end();
  }
}

const refspec = (branch: string): string => `refs/heads/${branch}:refs/heads/${branch}`;

/** Gives `use` a rig, and ends it whatever happens. */
export async function withRig<T>(
  workspace: Workspace,
  use: (rig: Rig) => Promise<T>,
  options: RigOptions = {},
): Promise<T> {
  const build = await builtWorker(workspace);
  const rig = new Rig();
  try {
    await rig.start(build, options);
    return await use(rig);
  } finally {
    await rig.close();
  }
}

export function builtWorker(workspace: Workspace): Promise<WorkerBuild> {
  return workspace.once('the built Worker', buildWorker);
}

async function buildWorker(): Promise<WorkerBuild> {
  const builder = new Helper<BuildActions>(helper('build'));
  try {
    return await builder.ask('build', null);
  } finally {
    await builder.end();
  }
}
