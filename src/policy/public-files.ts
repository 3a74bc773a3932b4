/**
 * Files of a repository as the public sees them: read with Git, without the account.
 * Proved by test/policy/policies.test.ts and test/policy/security-policy.test.ts.
 */
import type { HostConfig } from '../config/hosts.ts';
import { decodeUtf8, utf8 } from '../git/bytes.ts';
import type { Memory } from '../git/memory.ts';
import type { Oid } from '../git/objects/oid.ts';
import { entryNamed, kindOf } from '../git/objects/tree.ts';
import type { FileAnswer } from '../host/code-host.ts';
import { GitTransport } from '../host/git/git-transport.ts';
import { SmartHttp } from '../host/git/smart-http.ts';
import { systemClock } from '../isolate/clock.ts';
import { isolateMemory } from '../isolate/memory-budget.ts';
import type { Http } from '../outgoing/http-client.ts';
import {
  findPath,
  type Folder,
  heldReads,
  readBlob,
  readCommit,
  type ReadObjects,
} from '../upstream/tree-reader.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import { type FilesHost, MAX_LIST_BYTES } from './community-files.ts';
import { MOST_WORKFLOW_BYTES, type ReadAll } from './gates.ts';

/** The largest answer with workflows and guidelines. */
const MAX_GATES_BYTES = 256 * 1024;

/** The files of a repository without commits. */
const EMPTY_REPOSITORY: FilesHost = {
  list: async () => new Map(),
  file: async () => ({ kind: 'missing' }),
  readAll: async () => null,
};

type PublicHost = Pick<HostConfig, 'url'>;

/** A host's Git, and the memory in which what is read counts. */
interface OpenedGit {
  readonly transport: Pick<GitTransport, 'listRefs' | 'readObjects'>;
  readonly memory: Memory;
}

/** Opens a host's Git as the public sees it, without the account. */
async function withPublicGit<T>(
  { url }: PublicHost,
  http: Http,
  use: (git: OpenedGit) => Promise<T>,
): Promise<T> {
  const memory = isolateMemory.open(systemClock, 'policies');
  try {
    const transport = new GitTransport(new SmartHttp(url, null, http), systemClock, memory, null);
    return await use({ transport, memory });
  } finally {
    memory.end();
  }
}

/** Opens the files of a repository for `use`, as `publicFiles` does. */
export function withPublicFiles<T>(
  host: PublicHost,
  http: Http,
  repository: RepositoryName,
  use: (files: FilesHost) => Promise<T>,
): Promise<T> {
  return withPublicGit(host, http, async (git) => use(await publicFiles(git, repository)));
}

/**
 * Opens the files at the tip of the default branch, with at most three small requests one by one;
 * folders are kept. It and its methods reject with the transport's errors (HostError
 * `missing`: the public sees no such repository; ProtocolError: the host does not send what was
 * asked for), and with an Error if REST has to be asked: for a too large folder, or a symbolic
 * link.
 */
export async function publicFiles(git: OpenedGit, repository: RepositoryName): Promise<FilesHost> {
  const { headTip } = await git.transport.listRefs(repository, ['HEAD'], 'upstream');
  if (headTip === null) return EMPTY_REPOSITORY;
  const read = heldReads(git, repository);
  const { tree } = await readCommit(read, headTip);
  return new FilesAtTip(read, await folderAt(read, tree));
}

class FilesAtTip implements FilesHost {
  readonly #read: ReadObjects;
  readonly #root: Folder;
  /** The folders right below the root, by their names. */
  readonly #folders = new Map<string, Promise<Folder>>();

  constructor(read: ReadObjects, root: Folder) {
    this.#read = read;
    this.#root = root;
  }

  async list(name: string): Promise<ReadonlyMap<string, Oid>> {
    const names = (await this.#folder(name)).flatMap((entry): [string, Oid][] => {
      const text = decodeUtf8(entry.name);
      return text === null ? [] : [[kindOf(entry) === 'folder' ? `${text}/` : text, entry.oid]];
    });
    return new Map(names);
  }

  async file(path: string): Promise<FileAnswer> {
    const slash = path.lastIndexOf('/');
    const folder = await this.#folder(path.slice(0, Math.max(0, slash)));
    const entry = entryNamed(folder, utf8(path.slice(slash + 1)));
    if (entry === undefined) return { kind: 'missing' };
    const kind = kindOf(entry);
    if (kind === 'symlink') throw new Error('a file is a symbolic link');
    const content = kind === 'file' ? await readBlob(this.#read, entry.oid, MAX_LIST_BYTES) : null;
    return content === null ? { kind: 'unreadable' } : { kind: 'file', content };
  }

  readonly readAll: ReadAll = (oids) => readSmall(this.#read, oids);

  /** Reads the root, or a folder right below it. */
  async #folder(name: string): Promise<Folder> {
    if (name === '') return this.#root;
    const entry = entryNamed(this.#root, utf8(name));
    if (entry === undefined || kindOf(entry) !== 'folder') return [];
    const reading = this.#folders.get(name) ?? folderAt(this.#read, entry.oid);
    this.#folders.set(name, reading);
    return reading;
  }
}

async function folderAt(read: ReadObjects, oid: Oid): Promise<Folder> {
  const found = await findPath(read, oid, []);
  if (found.kind !== 'folder') throw new Error('a folder is too large');
  return found.folders.at(-1) ?? [];
}

/** Reads objects of a repository, as `FilesHost.readAll`. */
export function readAll(
  host: PublicHost,
  http: Http,
  repository: RepositoryName,
  wants: readonly Oid[],
): ReturnType<ReadAll> {
  return withPublicGit(host, http, (git) => readSmall(heldReads(git, repository), wants));
}

const readSmall = (read: ReadObjects, wants: readonly Oid[]): ReturnType<ReadAll> =>
  read({ wants, filesBelowBytes: MOST_WORKFLOW_BYTES }, MAX_GATES_BYTES);
