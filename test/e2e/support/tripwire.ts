/**
 * The privacy tripwire: searches every byte that reached the host for everything that tells of a
 * person.
 *
 * Searched are request lines, headers, bodies of REST, Git and notification requests, every object
 * of every pack that was sent (also of those that were refused or cut), every object of the bot's
 * repositories (also unreachable ones), the service's log, and verdicts as they could be stored. A
 * head of a request is also compared with what it must be, field by field. Each check goes on where
 * the last one stopped, but against the secrets of all persons so far, so that what arrives late is
 * found by the next.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CapturedRequest } from '../../../sandbox/capture.ts';
import { unpackPush } from './captured-pack.ts';
import { type GitObject, listObjects, objectsFingerprint, readObjects } from './objects.ts';
import type { Person } from './person.ts';
import { strangeHead } from './request-heads.ts';
import { type Secret, Secrets } from './secrets.ts';
import type { Upstream } from './upstream.ts';
import type { WatchedHost } from './watched-host.ts';

/** Requests with this header are the tests' own. */
export const TEST_HEADER = 'x-test';

export interface Leak {
  readonly secret: Secret;
  readonly where: string;
  readonly context: string;
}

export class Tripwire {
  readonly secrets = new Secrets();
  readonly #sandbox: WatchedHost;
  readonly #logLines: readonly string[];
  readonly #verdicts: readonly Buffer[];
  readonly #persons: Person[] = [];
  readonly #upstreams: Upstream[] = [];
  readonly #upstreamIds = new Set<string>();
  readonly #searchedObjects = new Set<string>();
  /** Fingerprints of repositories from when they were last looked into. */
  readonly #fingerprints = new Map<string, string>();
  #lastSearched: { request: CapturedRequest; bytes: number }[] = [];
  #searchedRequests = 0;
  #searchedLogLines = 0;
  #searchedVerdicts = 0;
  #tolerated: { matches: (leak: Leak) => boolean; why: string }[] = [];

  constructor(sandbox: WatchedHost, logLines: readonly string[], verdicts: readonly Buffer[] = []) {
    this.#sandbox = sandbox;
    this.#logLines = logLines;
    this.#verdicts = verdicts;
  }

  addPerson(person: Person): void {
    this.#persons.push(person);
    this.secrets.addPerson(person);
  }

  addUpstream(upstream: Upstream): void {
    this.#upstreams.push(upstream);
  }

  /** Until the next check: leaks that the contract wants. They must happen. */
  tolerate(why: string, matches: (leak: Leak) => boolean): void {
    this.#tolerated.push({ why, matches });
  }

  /** Finds what has leaked since the last check, less what is tolerated. */
  async check(): Promise<Leak[]> {
    await this.#learnSecrets();
    const leaks = [
      ...(await this.#searchRequests()),
      ...(await this.#searchRepositories()),
      ...this.#searchLog(),
      ...this.#searchVerdicts(),
    ];
    const tolerated = this.#tolerated;
    this.#tolerated = [];
    for (const { why, matches } of tolerated) {
      if (!leaks.some(matches)) throw new Error(`tolerated, but it did not happen: ${why}`);
    }
    return leaks.filter((leak) => !tolerated.some(({ matches }) => matches(leak)));
  }

  async #learnSecrets(): Promise<void> {
    for (const { path } of this.#upstreams) {
      // One that was renamed is gone from where it was.
      if (!existsSync(path) || !this.#hasNewObjects(path)) continue;
      for (const oid of (await listObjects(path)).keys()) this.#upstreamIds.add(oid);
    }
    for (const path of this.#persons.flatMap(({ repositories }) => repositories)) {
      if (this.#hasNewObjects(path)) await this.secrets.addRepository(path, this.#upstreamIds);
    }
  }

  #hasNewObjects(path: string): boolean {
    const fingerprint = objectsFingerprint(path);
    if (this.#fingerprints.get(path) === fingerprint) return false;
    this.#fingerprints.set(path, fingerprint);
    return true;
  }

  async #searchRequests(): Promise<Leak[]> {
    const { captured } = this.#sandbox;
    // A request that was still arriving at the last check is searched once more.
    const grown = this.#lastSearched.filter(({ request, bytes }) => request.body.length > bytes);
    const requests = [...grown.map(({ request }) => request), ...captured.slice(this.#searchedRequests)];
    this.#searchedRequests = captured.length;
    this.#lastSearched = [];
    const leaks: Leak[] = [];
    const heads: Leak[] = [];
    for (const request of requests) {
      const { body } = request;
      this.#lastSearched.push({ request, bytes: body.length });
      if (request.headers[TEST_HEADER] !== undefined) continue;
      const where = `${request.method} ${request.path}`;
      const strange = strangeHead(request);
      if (strange !== null) heads.push({ secret: { kind: 'head', text: strange }, where, context: '' });
      const head = [where, ...request.rawHeaders].join('\n');
      leaks.push(...this.#searchBytes(`${where}: request line and headers`, Buffer.from(head)));
      leaks.push(...this.#searchBytes(`${where}: body`, body));
      const plain = plainBody(request, body);
      if (plain !== body) leaks.push(...this.#searchBytes(`${where}: unpacked body`, plain));
      if (request.path.endsWith('/git-receive-pack')) leaks.push(...(await this.#searchPush(where, plain)));
    }
    return [...leaks, ...heads];
  }

  async #searchPush(where: string, body: Buffer): Promise<Leak[]> {
    const { objects, fragments } = await unpackPush(body, (oids) => this.#readBases(oids));
    return [
      ...objects.flatMap((object) => this.#searchObject(`${where}: pack`, object)),
      ...fragments.flatMap((fragment) => this.#searchBytes(`${where}: part of the pack`, fragment)),
    ];
  }

  /** Objects outside a thin pack: they are upstream's, or in one of the bot's repositories. */
  async #readBases(oids: readonly string[]): Promise<GitObject[]> {
    const found: GitObject[] = [];
    const missing = new Set(oids);
    const newestFirst = this.#upstreams
      .map(({ path }) => path)
      .filter(existsSync)
      .toReversed();
    for (const path of [...newestFirst, ...this.#botRepositories()]) {
      if (missing.size === 0) break;
      for (const object of await readObjects(path, [...missing])) {
        missing.delete(object.oid);
        found.push(object);
      }
    }
    return found;
  }

  async #searchRepositories(): Promise<Leak[]> {
    const leaks: Leak[] = [];
    for (const path of this.#botRepositories()) {
      if (!this.#hasNewObjects(path)) continue;
      const oids = [...(await listObjects(path)).keys()].filter((oid) => !this.#searchedObjects.has(oid));
      for (const object of await readObjects(path, oids)) {
        this.#searchedObjects.add(object.oid);
        leaks.push(...this.#searchObject(path, object));
      }
    }
    return leaks;
  }

  /** All that the bot has pushed to: its forks, or upstream itself. */
  #botRepositories(): string[] {
    const { botLogin, isAgit } = this.#sandbox;
    if (isAgit === true) {
      const paths = this.#upstreams.map(({ owner, name }) => this.#sandbox.repositoryPath(owner, name));
      return paths.filter(existsSync);
    }
    const folder = dirname(this.#sandbox.repositoryPath(botLogin, 'any'));
    return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  }

  #searchLog(): Leak[] {
    const lines = this.#logLines.slice(this.#searchedLogLines);
    this.#searchedLogLines += lines.length;
    return lines.flatMap((line) => this.#searchBytes('the log of the service', Buffer.from(line)));
  }

  #searchVerdicts(): Leak[] {
    const verdicts = this.#verdicts.slice(this.#searchedVerdicts);
    this.#searchedVerdicts += verdicts.length;
    return verdicts.flatMap((bytes) => {
      const found = this.secrets.abbreviationsIn(bytes);
      const digits = found.map((secret) => ({ secret, where: 'a verdict', context: '' }));
      return this.#searchBytes('a verdict', bytes).concat(digits);
    });
  }

  #searchObject(where: string, { oid, type, content }: GitObject): Leak[] {
    return [
      ...this.#searchBytes(`${where}: name of a ${type}`, Buffer.from(oid)),
      ...this.#searchBytes(`${where}: ${type} ${oid}`, content),
    ];
  }

  #searchBytes(where: string, bytes: Buffer): Leak[] {
    return this.secrets.search
      .search(bytes)
      .map(({ label, offset, context }) => ({ secret: label, where: `${where}, byte ${offset}`, context }));
  }
}

/** The body without its compression, as far as it came. */
function plainBody(request: CapturedRequest, body: Buffer): Buffer {
  if (request.headers['content-encoding'] !== 'gzip') return body;
  try {
    return gunzipSync(body);
  } catch {
    return body;
  }
}
