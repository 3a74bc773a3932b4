/**
 * A code host and a notification service on one port, which record whatever they are asked. The
 * host speaks as much of GitHub's REST interface as the service needs, and Git by Git's own `git
 * http-backend`. It is written from GitHub's documentation and shares nothing with the embedded
 * code host, so that no mistake of one hides in the other.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { mustGit } from './git.ts';
import {
  BOT,
  BOT_TOKEN,
  type Recorded,
  type Repositories,
  type Repository,
  type RestAnswer,
} from './records.ts';
import { answerRest } from './rest.ts';
import type { Variables } from './service.ts';

/** A message that was published, as ntfy takes it: JSON at the root of the server. */
export interface Message {
  readonly topic: string;
  readonly title?: string;
  readonly message: string;
  readonly click?: string;
  readonly actions?: readonly MessageAction[];
}

export interface MessageAction {
  readonly action: string;
  readonly label: string;
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** `hang-up`: the connection ends without an answer. Null: the host answers as usual. */
export type Interception = RestAnswer | 'hang-up' | null;

/** By name. */
type Files = Readonly<Record<string, string>>;

const FIRST_FILES: Files = { 'README.md': '# hello\n' };
const GIT_PATH = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;
const KEEP_ALIVE_MS = 120_000;

export class CodeHost implements Repositories {
  readonly url: string;
  /** Every request so far, those of Git among them. */
  readonly requests: Recorded[] = [];
  /** Everything that was published so far. */
  readonly messages: Message[] = [];
  readonly repositories = new Map<string, Repository>();
  readonly #forks = new Map<Repository, Promise<Repository>>();
  /** Answers in place of the host. */
  intercept: (request: Recorded) => Interception = () => null;
  readonly #server: Server;
  readonly #root = mkdtempSync(join(tmpdir(), 'gitveil-contract-host-'));

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response).catch((error: unknown) => {
        console.error('the stand-in host failed:', error);
        response.destroy();
      });
    });
  }

  static async start(): Promise<CodeHost> {
    const server = createServer();
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CodeHost(server);
  }

  /** The variables of a service that uses this host and this notification service. */
  get variables(): Variables {
    return {
      HOSTING_URL: this.url,
      HOSTING_API_URL: `${this.url}/api`,
      HOSTING_TOKEN: BOT_TOKEN,
      NOTIFY_BASE_URL: this.notifyUrl,
      // The contract knows no wait.
      WARNING_WAIT: '0s',
    };
  }

  get notifyUrl(): string {
    return `${this.url}/notify`;
  }

  /** Answers the folder. @param files of the first commit; without any, the repository has none. */
  async createRepository(
    owner: string,
    name: string,
    { branch = 'main', files = FIRST_FILES }: { branch?: string; files?: Files } = {},
  ): Promise<string> {
    const path = this.#newFolder(owner, name);
    await mustGit(path, ['init', '--quiet', '--bare', `--initial-branch=${branch}`]);
    await allowAll(path);
    this.repositories.set(`${owner}/${name}`, repository(owner, name, path, branch, null));
    await this.grow(owner, name, branch, 'Begin', files);
    return path;
  }

  /** Another commit upstream, on top of what the branch has. Answers its id. */
  async grow(owner: string, name: string, branch: string, message: string, files: Files): Promise<string> {
    const path = this.#pathOf(owner, name);
    const known = (await mustGit(path, ['for-each-ref', `refs/heads/${branch}`])) !== '';
    const lines = [
      `commit refs/heads/${branch}\ncommitter Octo <octo@upstream.example> ${now() - 86_400} +0000\n`,
      data(`${message}\n`),
      known ? `from refs/heads/${branch}^0\n` : '',
      ...Object.entries(files).map(([file, text]) => `M 100644 inline ${file}\n${data(text)}`),
    ];
    await mustGit(path, ['fast-import', '--quiet', '--force'], { input: lines.join('') });
    return this.tip(owner, name, branch);
  }

  async tip(owner: string, name: string, branch: string): Promise<string> {
    return (await mustGit(this.#pathOf(owner, name), ['rev-parse', `refs/heads/${branch}`])).trim();
  }

  /** Runs Git in a repository of the host, e.g. to look at what was pushed. */
  git(owner: string, name: string, ...args: string[]): Promise<string> {
    return mustGit(this.#pathOf(owner, name), args);
  }

  /**
   * A fork by the bot has all of its parent's branches. There is one, however many ask for it at
   * once.
   */
  fork(parent: Repository): Promise<Repository> {
    const fork = this.#forks.get(parent) ?? this.#makeFork(parent);
    this.#forks.set(parent, fork);
    return fork;
  }

  async #makeFork(parent: Repository): Promise<Repository> {
    const path = this.#newFolder(BOT, parent.name);
    await mustGit(path, ['clone', '--quiet', '--bare', parent.path, '.']);
    await allowAll(path);
    const made = repository(BOT, parent.name, path, parent.branch, parent);
    this.repositories.set(`${BOT}/${parent.name}`, made);
    return made;
  }

  /** Requests so far whose path matches, in order. */
  asked(path: RegExp, method?: string): Recorded[] {
    return this.requests.filter(
      (request) => path.test(request.path) && (method === undefined || request.method === method),
    );
  }

  /**
   * Lists what was asked after so many requests, without the news for which the service looks by
   * itself.
   */
  causedSince(before: number): Recorded[] {
    const isOwn = /^\/api\/(?:notifications|users?)\b/;
    return this.requests.slice(before).filter(({ path }) => !isOwn.test(path));
  }

  messagesOn(topic: string): Message[] {
    return this.messages.filter((message) => message.topic === topic);
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    rmSync(this.#root, { recursive: true, force: true });
  }

  #newFolder(owner: string, name: string): string {
    const path = join(this.#root, owner, `${name}.git`);
    mkdirSync(path, { recursive: true });
    return path;
  }

  #pathOf(owner: string, name: string): string {
    return join(this.#root, owner, `${name}.git`);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const recorded = await record(request);
    this.requests.push(recorded);
    const intercepted = this.intercept(recorded);
    if (intercepted === 'hang-up') return void response.destroy();
    if (intercepted !== null) return write(response, intercepted);
    const url = new URL(recorded.path, this.url);
    const git = GIT_PATH.exec(url.pathname);
    if (git !== null) return this.#runGit(recorded, response, url, git);
    if (url.pathname === '/notify/') {
      this.messages.push(JSON.parse(recorded.body.toString()) as Message);
      return write(response, { status: 200, json: { id: 'x', event: 'message' } });
    }
    if (url.pathname.startsWith('/api/')) return write(response, await answerRest(this, recorded, url));
    return write(response, { status: 404, json: { message: 'Not Found' } });
  }

  #runGit(
    { method, headers, body }: Recorded,
    response: ServerResponse,
    url: URL,
    [, owner = '', name = '', action = '']: RegExpExecArray,
  ): void {
    const isKnown = this.repositories.has(`${owner}/${name}`);
    const isBot = headers['authorization'] === `Basic ${btoa(`x-access-token:${BOT_TOKEN}`)}`;
    if (!isKnown) return write(response, { status: isBot ? 404 : 401, text: 'Repository not found.\n' });
    const child = spawn('git', ['http-backend'], {
      stdio: 'pipe',
      env: {
        PATH: process.env['PATH'],
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_PROJECT_ROOT: this.#root,
        GIT_HTTP_EXPORT_ALL: '1',
        REQUEST_METHOD: method,
        PATH_INFO: `/${owner}/${name}.git/${action}`,
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: headers['content-type'] ?? '',
        CONTENT_LENGTH: String(body.length),
        HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
        GIT_PROTOCOL: headers['git-protocol'] ?? '',
        ...(isBot && { REMOTE_USER: BOT }),
      },
    });
    child.stdin.on('error', () => {});
    child.stdin.end(body);
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('close', () => {
      const output: Buffer = Buffer.concat(chunks);
      const end = output.indexOf('\r\n\r\n');
      const lines: string[] = output.toString('latin1', 0, end).split('\r\n');
      const fields = lines.map((line) => line.split(/: */, 2) as [string, string]);
      const status = fields.find(([field]) => field === 'Status');
      const others = fields.filter(([field]) => field !== 'Status');
      response.writeHead(Number(status?.[1].slice(0, 3) ?? 200), Object.fromEntries(others));
      response.end(output.subarray(end + 4));
    });
  }
}

/** One host for all tests of a file. */
export function useCodeHost(): CodeHost {
  let host: CodeHost | null = null;
  beforeAll(async () => {
    host = await CodeHost.start();
  });
  afterAll(() => host?.stop());
  return new Proxy({} as CodeHost, {
    get: (_, name) => {
      if (host === null) throw new Error('the host has not started yet');
      const value: unknown = Reflect.get(host, name, host);
      return typeof value === 'function' ? value.bind(host) : value;
    },
    set: (_, name, value) => host !== null && Reflect.set(host, name, value, host),
  });
}

function repository(
  owner: string,
  name: string,
  path: string,
  branch: string,
  parent: Repository | null,
): Repository {
  return { owner, name, path, branch, parent, sizeKb: 100, threads: [] };
}

/** Allows what GitHub allows. */
async function allowAll(path: string): Promise<void> {
  for (const name of ['uploadpack.allowFilter', 'uploadpack.allowAnySHA1InWant', 'http.receivepack'])
    await mustGit(path, ['config', name, 'true']);
}

async function record(request: IncomingMessage): Promise<Recorded> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers as Record<string, string>,
    body: Buffer.concat(chunks),
  };
}

function write(response: ServerResponse, { status, json, text, bytes, headers = {} }: RestAnswer): void {
  const type = json === undefined ? 'text/plain' : 'application/json; charset=utf-8';
  response.writeHead(status, { 'Content-Type': type, ...headers });
  response.end(status === 204 || status === 304 ? undefined : (bytes ?? text ?? JSON.stringify(json)));
}

/** As git-fast-import(1) takes it. */
function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
