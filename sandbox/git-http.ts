/**
 * Git's smart HTTP, by the real `git http-backend` as a CGI program: what clients meet here is what git's own server
 * code answers. Both bodies are streamed; nothing of a pack is held. Who may do what is decided before the program is
 * started, with the answers of GitHub: 401 for what an anonymous client may not see or do, 403 for another's repository.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gitEnvironment, gitExecPath } from './git-command.ts';
import type { Host } from './host.ts';
import type { Repository, User } from './records.ts';
import { Refusal } from './rest/api-call.ts';
import { fullName } from './rest/render-repository.ts';
import { authenticate } from './rest/router.ts';

const GIT_PATH = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;
/** A CGI program's headers fit into one pipe buffer many times over. */
const MAX_HEADER_BYTES = 64 * 1024;

/** More than the service passes on. */
const MAX_FETCH_BYTES = 64 * 1024 * 1024;

interface GitRequest {
  readonly repository: Repository;
  readonly service: string;
  readonly pathInfo: string;
}

export class GitHttp {
  readonly #host: Host;
  readonly #program = join(gitExecPath(), 'git-http-backend');
  readonly #running = new Set<ChildProcessWithoutNullStreams>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Whether a path belongs to Git; a person's page of the same repository has another. */
  matches(path: string): boolean {
    return GIT_PATH.test(path);
  }

  /** Answers one request of a Git client. */
  handle(request: IncomingMessage, response: ServerResponse, url: URL): void {
    try {
      const wanted = this.#authorize(request, url);
      const isFetch = wanted.service === 'git-upload-pack' && request.method === 'POST';
      if (!isFetch) return this.#run(wanted, request, response, url);
      void this.#bringPullHead(wanted.repository, request).finally(() => {
        this.#run(wanted, request, response, url);
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // The rest of a push is read and dropped: a client that is still writing would miss the answer.
      request.resume();
      response.writeHead(error.status, { 'content-type': 'text/plain; charset=utf-8', ...error.headers });
      response.end(`${error.message}\n`);
    }
  }

  /** Ends the programs that still run, and waits until they are gone: their folders may be removed then. */
  async close(): Promise<void> {
    const ends = [...this.#running].map((child) => once(child, 'close'));
    for (const child of this.#running) kill(child);
    await Promise.all(ends);
  }

  #authorize(request: IncomingMessage, url: URL): GitRequest {
    const [, owner = '', name = '', action = ''] = GIT_PATH.exec(url.pathname) ?? [];
    const service = action === 'info/refs' ? (url.searchParams.get('service') ?? '') : action;
    if (!['git-upload-pack', 'git-receive-pack'].includes(service)) {
      throw new Refusal(403, 'Please upgrade your git client.');
    }
    const viewer = this.#viewer(request);
    const repository = this.#visibleRepository(viewer, owner, name, action, url);
    if (service === 'git-receive-pack') authorizePush(viewer, repository);
    return { repository, service, pathInfo: `/${fullName(repository)}.git/${action}` };
  }

  /** Whoever lists the ref of a pull request names it in the first bytes (gitprotocol-v2, "ls-refs"). */
  async #bringPullHead(repository: Repository, request: IncomingMessage): Promise<void> {
    await once(request, 'readable');
    const beginning = request.read() as Buffer | null;
    if (beginning === null) return;
    request.unshift(beginning);
    const number = /ref-prefix refs\/pull\/(\d+)\/head\n/.exec(beginning.toString('latin1'))?.[1];
    const issue = repository.issues[Number(number) - 1];
    if (issue !== undefined) await this.#host.fetchPullHead(repository, issue);
  }

  #viewer(request: IncomingMessage): User | null {
    try {
      return authenticate(this.#host, request.headers);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw unauthorized(
        'Invalid username or token. Password authentication is not supported for Git operations.',
      );
    }
  }

  #visibleRepository(viewer: User | null, owner: string, name: string, action: string, url: URL): Repository {
    const { store } = this.#host;
    const repository = store.findRepository(owner, name);
    if (repository && this.#host.canRead(viewer, repository)) return repository;
    const renamed = store.findRenamedRepository(owner, name);
    if (renamed && this.#host.canRead(viewer, renamed)) {
      const location = `${this.#host.url}/${fullName(renamed)}.git/${action}${url.search}`;
      throw new Refusal(301, 'Moved Permanently', { headers: { location } });
    }
    if (viewer) throw new Refusal(404, 'Repository not found.');
    throw unauthorized('Repository not found.');
  }

  #run(wanted: GitRequest, request: IncomingMessage, response: ServerResponse, url: URL): void {
    const child = spawn(this.#program, [], {
      env: this.#cgiEnvironment(wanted, request, url),
      detached: true,
    });
    this.#running.add(child);
    const pushed = wanted.service === 'git-receive-pack' && request.method === 'POST';
    child.on('error', () => {
      this.#running.delete(child);
      response.destroy();
    });
    // Before each part of the answer and before its end: a client need not wait for the end of an answer whose report says
    // that the push succeeded, and finds the pull request up to date even so.
    if (pushed) child.stdout.on('data', () => this.#host.refsPushed(wanted.repository));
    child.on('close', () => {
      this.#running.delete(child);
      if (pushed) this.#host.refsPushed(wanted.repository);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
    // git stops reading when it has seen enough or refuses. Its output contains the reason.
    child.stdin.on('error', () => request.resume());
    child.stderr.resume();
    request.pipe(child.stdin);
    request.on('error', () => kill(child));
    response.on('close', () => {
      if (!response.writableFinished) kill(child);
    });
    relayCgiAnswer(child, response);
  }

  #cgiEnvironment(wanted: GitRequest, request: IncomingMessage, url: URL): NodeJS.ProcessEnv {
    const { headers } = request;
    const header = (name: string) => headers[name]?.toString() ?? '';
    return gitEnvironment({
      GIT_PROJECT_ROOT: this.#host.repositoriesDir,
      GIT_HTTP_EXPORT_ALL: '1',
      // Of a fetch, which it reads into memory: 10 MiB if nobody says otherwise, and then it answers nothing.
      GIT_HTTP_MAX_REQUEST_BUFFER: String(MAX_FETCH_BYTES),
      PATH_INFO: wanted.pathInfo,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? '',
      CONTENT_TYPE: header('content-type'),
      // Never for a push, which then reads to the end of its input as a chunked one does: git http-backend spins for
      // ever when a body ends before the length that it was promised.
      ...(wanted.service !== 'git-receive-pack' &&
        headers['content-length'] !== undefined && { CONTENT_LENGTH: headers['content-length'] }),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: header('git-protocol'),
      HTTP_GIT_PROTOCOL: header('git-protocol'),
      REMOTE_USER: this.#host.bot.login,
      REMOTE_ADDR: '127.0.0.1',
    });
  }
}

function authorizePush(viewer: User | null, repository: Repository): void {
  if (!viewer) throw unauthorized('No anonymous write access.');
  if (repository.archived) throw new Refusal(403, 'This repository was archived so it is read-only.');
  if (viewer.login !== repository.owner) {
    throw new Refusal(403, `Permission to ${fullName(repository)}.git denied to ${viewer.login}.`);
  }
}

function unauthorized(message: string): Refusal {
  return new Refusal(401, message, { headers: { 'www-authenticate': 'Basic realm="GitHub"' } });
}

/** Reads the CGI headers, then hands the rest of the output on as it comes. */
function relayCgiAnswer(child: ChildProcessWithoutNullStreams, response: ServerResponse): void {
  let pending = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    const end = pending.indexOf('\r\n\r\n');
    if (end < 0) {
      if (pending.length > MAX_HEADER_BYTES) kill(child);
      return;
    }
    child.stdout.off('data', onData);
    child.stdout.pause();
    const lines = pending.toString('latin1', 0, end).split('\r\n');
    const headers = new Map<string, string>(lines.map(splitHeader));
    const status = Number.parseInt(headers.get('status') ?? '200', 10);
    headers.delete('status');
    response.writeHead(status, Object.fromEntries(headers));
    const rest = pending.subarray(end + 4);
    if (rest.length > 0) response.write(rest);
    child.stdout.pipe(response, { end: false });
  };
  child.stdout.on('data', onData);
}

function splitHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** The program leads a process group of its own: with it go the git commands that it has started. */
function kill(child: ChildProcessWithoutNullStreams): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended by itself in the meantime.
  }
}
