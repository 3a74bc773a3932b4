/**
 * Serves Git's smart HTTP with the real `git upload-pack` and `git receive-pack`. They are started
 * as `git http-backend` would start them, which saves a process for each request; plain requests
 * need none (advertised-refs.ts, fetched-objects.ts). Packs of these programs are streamed.
 * Permission is checked before the program starts, with the answers of GitHub: 401 for what an
 * anonymous client may not see or do, 403 for a push to another's repository.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { advertisedRefs, listedRefs } from './advertised-refs.ts';
import { fetchedObjects } from './fetched-objects.ts';
import { hasManyLooseRefs } from './bare-repository.ts';
import { gitEnvironment, runGit } from './git-command.ts';
import type { Host } from './host.ts';
import type { Repository, User } from './records.ts';
import { Refusal } from './rest/api-call.ts';
import { fullName } from './rest/render-repository.ts';
import { authenticate } from './rest/router.ts';
import { pktLine } from './pkt-line.ts';

const GIT_PATH = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;
/** Longest request that lists one ref. */
const LS_REFS_BYTES = 64 * 1024;

/** Headers of git http-backend. */
const NO_CACHE = {
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
  'cache-control': 'no-cache, max-age=0, must-revalidate',
};

interface GitRequest {
  readonly repository: Repository;
  readonly service: string;
  /**
   * Whether the request asks which refs there are, or what the server can do. Such a request has no
   * body.
   */
  readonly isDiscovery: boolean;
  /** Value of `Git-Protocol`, such as `version=2`; empty for the oldest protocol. */
  readonly protocol: string;
}

export class GitHttp {
  readonly #host: Host;
  readonly #running = new Set<ChildProcessWithoutNullStreams>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Whether a path belongs to Git. The page of the same repository has another path. */
  matches(path: string): boolean {
    return GIT_PATH.test(path);
  }

  /** Answers one request of a Git client. */
  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    try {
      const wanted = this.#authorize(request, url);
      const isGzip = request.headers['content-encoding'] === 'gzip';
      const body = isGzip ? pipeline(request, createGunzip(), () => undefined) : request;
      const path = this.#host.pathOf(wanted.repository);
      if (wanted.isDiscovery) {
        const answer = await advertisedRefs(path, wanted.service, wanted.protocol);
        if (answer === null) return this.#run(wanted, body, response);
        begin(wanted, response).end(answer);
        return;
      }
      if (wanted.service === 'git-receive-pack') return this.#run(wanted, body, response);
      // Read all of it first, as git http-backend does: upload-pack may answer before it has read
      // all, and would wait for a client that still sends.
      const whole = await buffer(body);
      await this.#bringPullHead(wanted.repository, whole);
      const isPlain = wanted.protocol === 'version=2';
      const answer = isPlain ? (listedRefs(path, whole) ?? fetchedObjects(path, whole)) : null;
      if (answer === null) this.#run(wanted, Readable.from([whole]), response);
      else begin(wanted, response).end(answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Read and drop the rest of a push: a client that is still writing would miss the answer.
      request.resume();
      response.writeHead(error.status, { 'content-type': 'text/plain; charset=utf-8', ...error.headers });
      response.end(`${error.message}\n`);
    }
  }

  /**
   * Ends the programs that still run, and waits for their end. Then their folders can be removed.
   */
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
    const protocol = request.headers['git-protocol']?.toString() ?? '';
    return { repository, service, isDiscovery: action === 'info/refs', protocol };
  }

  /**
   * Brings the ref of a pull request up to date, for a request that names the ref (gitprotocol-v2,
   * "ls-refs").
   */
  async #bringPullHead(repository: Repository, body: Buffer): Promise<void> {
    const number = /ref-prefix refs\/pull\/(\d+)\/head\n/.exec(
      body.toString('latin1', 0, LS_REFS_BYTES),
    )?.[1];
    const issue = repository.issues[Number(number) - 1];
    if (issue !== undefined) await this.#host.fetchPullHead(repository, issue);
  }

  #viewer(request: IncomingMessage): User | null {
    try {
      return authenticate(this.#host, request.headers).viewer;
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

  #run(wanted: GitRequest, body: Readable, response: ServerResponse): void {
    // The client is gone.
    if (response.destroyed) return;
    const { repository, service, isDiscovery, protocol } = wanted;
    const options = ['--stateless-rpc', ...(isDiscovery ? ['--http-backend-info-refs'] : [])];
    const child = spawn('git', [service.replace('git-', ''), ...options, this.#host.pathOf(repository)], {
      env: gitEnvironment({ GIT_PROTOCOL: protocol }),
      detached: true,
    });
    this.#running.add(child);
    const pushed = service === 'git-receive-pack' && !isDiscovery;
    child.on('error', () => {
      this.#running.delete(child);
      response.destroy();
    });
    // Before each part of the answer and before its end: a client need not wait for the end of an
    // answer whose report says that the push succeeded. It must find the pull request up to date
    // nevertheless.
    if (pushed) child.stdout.on('data', () => this.#host.refsPushed(repository));
    const end = (): unknown => response.end();
    child.on('close', () => {
      this.#running.delete(child);
      if (pushed) this.#host.refsPushed(repository);
      if (pushed) packRefs(this.#host.pathOf(repository)).then(end, end);
      else end();
    });
    // git stops reading when it has seen enough or refuses. Its output contains the reason.
    child.stdin.on('error', () => body.resume());
    child.stderr.resume();
    body.on('error', () => kill(child));
    response.on('close', () => {
      if (!response.writableFinished) kill(child);
      // Output that nobody reads any more would delay the end of a program.
      child.stdout.unpipe(response).resume();
    });
    begin(wanted, response);
    body.pipe(child.stdin);
    child.stdout.pipe(response, { end: false });
  }
}

/**
 * Packs the refs of a repository that has many, as hosts do: otherwise each push takes longer than
 * the one before. If another push does it already, git refuses, and nothing is left to do.
 */
async function packRefs(path: string): Promise<void> {
  if (hasManyLooseRefs(path)) await runGit(path, ['pack-refs', '--all']);
}

/** Writes the head of a successful answer, and what precedes the words of the program. */
function begin({ service, isDiscovery, protocol }: GitRequest, response: ServerResponse): ServerResponse {
  const kind = isDiscovery ? 'advertisement' : 'result';
  response.writeHead(200, { ...NO_CACHE, 'content-type': `application/x-${service}-${kind}` });
  if (isDiscovery && !/(?:^|:)version=2(?::|$)/.test(protocol)) response.write(announcement(service));
  return response;
}

/**
 * Makes the lines that precede the refs in protocols before version 2 (gitprotocol-http, "Smart
 * Server Response").
 */
function announcement(service: string): string {
  return `${pktLine(`# service=${service}`)}0000`;
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

/**
 * Ends the program and the git commands that it has started: it leads a process group of its own.
 * At this signal, Git removes its lock files. A ref whose lock remained would accept no push any
 * more.
 */
function kill(child: ChildProcessWithoutNullStreams): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (child.pid === undefined) {
    // Not started yet: it would wait for the rest of a request that has ended.
    child.once('spawn', () => kill(child));
    return;
  }
  try {
    process.kill(-child.pid, 'SIGTERM');
  } catch {
    // It has ended by itself in the meantime.
  }
}
