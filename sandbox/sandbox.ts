/**
 * The embedded code host: a GitHub-compatible REST subset, Git smart HTTP and notification topics
 * on one port of this machine. With it, the service can be tried and tested without an account
 * anywhere. Its state is in a folder, which is temporary unless one is given.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Apps } from './apps.ts';
import type { CaptureMode, CapturedRequest } from './capture.ts';
import { Capture } from './capture.ts';
import { Faults } from './faults.ts';
import { GitHttp } from './git-http.ts';
import type { HostSettings, NewRepository } from './host.ts';
import { Host } from './host.ts';
import { listen, serve } from './http-server.ts';
import { Maintainer } from './maintainer.ts';
import { Ntfy } from './ntfy.ts';
import { Acts } from './pages/acts.ts';
import { pageRouter } from './pages/router.ts';
import { fillFork } from './rest/forks.ts';
import { restApi } from './rest/router.ts';
import { Store, recordsFile } from './store.ts';

const GITHUB_CALLS_AN_HOUR = 5000;

export interface SandboxOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Folder for repositories and records; default: a temporary folder, removed at the end. */
  readonly dir?: string;
  readonly botLogin?: string;
  readonly botToken?: string;
  /**
   * Password of every account but the bot's; default: none, so that only the bot has write access
   * by Git.
   */
  readonly maintainerPassword?: string;
  /** Scopes of the bot's token; default: those that docs/deploy.md asks for. */
  readonly botScopes?: readonly string[];
  /**
   * Limit of REST calls of each account, as the answers tell it; default: GitHub's 5,000. Nobody is
   * refused for exceeding it.
   */
  readonly callsAnHour?: number;
  /** Seconds between reads of the notifications, as the answers tell it; default: GitHub's 60. */
  readonly pollSeconds?: number;
  /** Milliseconds for which a new fork stays an empty shell. */
  readonly forkDelayMs?: number;
  readonly now?: () => Date;
  /** Default: nothing, since a host may run for long. */
  readonly capture?: CaptureMode;
  /**
   * Makes the service that uses this host forget its counts. Without it, the front page has no such
   * button.
   */
  readonly forgetLimits?: () => Promise<void>;
}

export interface Sandbox {
  /** Base of the addresses of pages and of Git. */
  readonly url: string;
  readonly apiUrl: string;
  readonly notifyUrl: string;
  readonly botLogin: string;
  readonly botToken: string;
  readonly faults: Faults;
  /** Acts of the people upstream. */
  readonly maintainer: Maintainer;
  /** The App, its installations and its webhooks. */
  readonly apps: Apps;
  /** Requests that have been received so far, in order. */
  readonly captured: readonly CapturedRequest[];
  /**
   * Makes an empty repository. Answers the folder of its bare Git repository, to which tests may
   * push.
   */
  createRepository(wanted: NewRepository): string;
  hasRepository(wanted: Pick<NewRepository, 'owner' | 'name'>): boolean;
  repositoryPath(owner: string, name: string): string;
  /** Removes all repositories and messages, and forgets the requests that were received so far. */
  clear(): void;
  close(): Promise<void>;
}

/** Starts the host, which listens on the loopback address only. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  // This comes first: if the port is taken, nothing has been made that would remain.
  const { server, url } = await listen(options.port ?? 0);
  const { host, dir } = openHost(url, options);
  const faults = new Faults();
  const capture = new Capture(options.capture ?? 'nothing');
  const git = new GitHttp(host);
  const ntfy = new Ntfy(host);
  const maintainer = new Maintainer(host);
  serve(server, url, {
    git,
    rest: restApi(host, options.callsAnHour ?? GITHUB_CALLS_AN_HOUR),
    ntfy,
    pages: pageRouter(host, ntfy, new Acts(host, maintainer, options.forgetLimits ?? null)),
    faults,
    capture,
    now: host.now,
  });

  return {
    url,
    apiUrl: host.apiUrl,
    notifyUrl: `${url}/ntfy`,
    get botLogin() {
      return host.bot.login;
    },
    botToken: host.botToken,
    faults,
    maintainer,
    apps: host.apps,
    get captured() {
      return capture.list();
    },
    createRepository: (wanted) => host.pathOf(host.createRepository(wanted)),
    hasRepository: ({ owner, name }) => host.store.findRepository(owner, name) !== undefined,
    repositoryPath: (owner, name) => host.pathOf({ owner, name }),
    clear: () => {
      host.store.clear();
      emptyFolder(host.repositoriesDir);
      capture.clear();
    },
    close: async () => {
      host.stopTimers();
      await closed(server);
      await git.close();
      host.store.flush();
      if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

function openHost(url: string, options: SandboxOptions): { host: Host; dir: string } {
  // The path is absolute, because git runs in the folders of its repositories, where a relative
  // path would lead elsewhere.
  const dir = resolve(options.dir ?? mkdtempSync(join(tmpdir(), 'gitveil-sandbox-')));
  const repositoriesDir = join(dir, 'repositories');
  mkdirSync(repositoriesDir, { recursive: true });
  const now = options.now ?? (() => new Date());
  const store = new Store(options.dir === undefined ? null : recordsFile(dir), now);
  const host = new Host({ url, repositoriesDir, store, now, ...settingsOf(options) });
  finishInterruptedForks(host);
  return { host, dir };
}

function settingsOf(
  options: SandboxOptions,
): Omit<HostSettings, 'url' | 'repositoriesDir' | 'store' | 'now'> {
  return {
    botLogin: options.botLogin ?? 'gitveil-bot',
    botToken: options.botToken ?? randomBytes(20).toString('hex'),
    maintainerPassword: options.maintainerPassword ?? null,
    botScopes: options.botScopes ?? ['delete_repo', 'notifications', 'public_repo', 'workflow'],
    forkDelayMs: options.forkDelayMs ?? 300,
    pollSeconds: options.pollSeconds ?? 60,
  };
}

function emptyFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
}

async function closed(server: Server): Promise<void> {
  const closing = new Promise((done) => {
    server.close(done);
  });
  server.closeAllConnections();
  await closing;
}

/** Completes forks whose objects had not arrived when the host was stopped. */
function finishInterruptedForks(host: Host): void {
  for (const fork of host.store.records.repositories) {
    const parent = fork.parentId === null ? undefined : host.store.repositoryById(fork.parentId);
    if (parent && !fork.ready) fillFork(host, parent, fork);
  }
}
