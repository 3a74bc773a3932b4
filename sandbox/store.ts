/**
 * Keeps the records in memory, with look-ups by name, and in one JSON file if the folder is to
 * outlive the process. The file is written under a temporary name and renamed, so that a crash
 * leaves the old one or the new one, never a part. Writes are gathered: a burst of calls costs one
 * write.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import type { Comment, Issue, Records, Repository, User } from './records.ts';
import { timestamp } from './records.ts';

const WRITE_DELAY_MS = 200;

/** A comment together with its thread. */
export interface PlacedComment {
  readonly repository: Repository;
  readonly issue: Issue;
  readonly comment: Comment;
}

export class Store {
  readonly records: Records;
  readonly #now: () => Date;
  readonly #file: string | null;
  readonly #repositoryByName = new Map<string, Repository>();
  #pendingWrite: NodeJS.Timeout | null = null;

  /**
   * Opens the records.
   * @param file keeps the records; `null` if they end with the process.
   */
  constructor(file: string | null, now: () => Date) {
    this.#file = file;
    this.#now = now;
    this.records = {
      lastId: 1000,
      app: null,
      installations: [],
      users: [],
      repositories: [],
      reviews: [],
      threads: [],
      messages: [],
      ...(file === null ? null : readRecords(file)),
    };
    for (const repository of this.records.repositories) this.#index(repository);
  }

  timestamp(): string {
    return timestamp(this.#now());
  }

  /**
   * Makes an id. All kinds of records share one sequence, so that an id of the wrong kind is never
   * found.
   */
  nextId(): number {
    this.records.lastId += 1;
    return this.records.lastId;
  }

  /**
   * Finds the user of that login. A user is created when a login is first named, because nobody
   * signs up here.
   */
  ensureUser(login: string): User {
    const known = this.findUser(login);
    if (known) return known;
    const user: User = { id: this.nextId(), login, createdAt: this.timestamp() };
    this.records.users.push(user);
    this.changed();
    return user;
  }

  findUser(login: string): User | undefined {
    return this.records.users.find((user) => user.login.toLowerCase() === login.toLowerCase());
  }

  addRepository(repository: Repository): void {
    this.records.repositories.push(repository);
    this.#index(repository);
    this.changed();
  }

  /**
   * Finds a repository by its present name only. Names are compared without regard to case, as on
   * GitHub.
   */
  findRepository(owner: string, name: string): Repository | undefined {
    return this.#repositoryByName.get(nameKey(owner, name));
  }

  findRenamedRepository(owner: string, name: string): Repository | undefined {
    const key = nameKey(owner, name);
    return this.records.repositories.find((repository) => repository.formerNames.includes(key));
  }

  repositoryById(id: number): Repository | undefined {
    return this.records.repositories.find((repository) => repository.id === id);
  }

  removeRepository(repository: Repository): void {
    this.records.repositories.splice(this.records.repositories.indexOf(repository), 1);
    this.#repositoryByName.delete(nameKey(repository.owner, repository.name));
    this.changed();
  }

  /**
   * Removes all repositories with everything that belongs to them, and all messages. Users, the App
   * and the sequence of ids stay.
   */
  clear(): void {
    const { repositories, reviews, threads, messages, installations } = this.records;
    for (const records of [repositories, reviews, threads, messages, installations]) records.length = 0;
    this.#repositoryByName.clear();
    this.changed();
  }

  renameRepository(repository: Repository, name: string, owner = repository.owner): void {
    const formerKey = nameKey(repository.owner, repository.name);
    this.#repositoryByName.delete(formerKey);
    repository.formerNames.push(formerKey);
    Object.assign(repository, { name, owner });
    this.#index(repository);
    this.changed();
  }

  /**
   * Finds the root of the fork network. Two repositories of one root can exchange pull requests.
   */
  rootOf(repository: Repository): Repository {
    let root = repository;
    while (root.parentId !== null) {
      const parent = this.repositoryById(root.parentId);
      if (!parent) break;
      root = parent;
    }
    return root;
  }

  findComment(repository: Repository, id: number): PlacedComment | undefined {
    for (const issue of repository.issues) {
      const comment = issue.comments.find((candidate) => candidate.id === id);
      if (comment) return { repository, issue, comment };
    }
    return undefined;
  }

  /** Marks the records as changed, so that they are written soon. */
  changed(): void {
    if (this.#file === null) return;
    this.#pendingWrite ??= setTimeout(() => this.flush(), WRITE_DELAY_MS);
  }

  /** Writes now what is waiting to be written. */
  flush(): void {
    if (this.#pendingWrite === null || this.#file === null) return;
    clearTimeout(this.#pendingWrite);
    this.#pendingWrite = null;
    const temporary = `${this.#file}.${randomBytes(4).toString('hex')}`;
    writeFileSync(temporary, JSON.stringify(this.records));
    renameSync(temporary, this.#file);
  }

  #index(repository: Repository): void {
    this.#repositoryByName.set(nameKey(repository.owner, repository.name), repository);
  }
}

/** Names the file of the records in a folder. */
export function recordsFile(dir: string): string {
  return join(dir, 'records.json');
}

function nameKey(owner: string, name: string): string {
  return `${owner}/${name}`.toLowerCase();
}

/** Reads the file. It lacks the kinds of records that were added after it was written. */
function readRecords(file: string): Partial<Records> | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<Records>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
