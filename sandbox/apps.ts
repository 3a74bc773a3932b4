/**
 * The GitHub App of this host: its installations, its tokens, and what people do with it. Tokens
 * end with the process, as those of GitHub end after an hour.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Impossible } from './maintainer.ts';
import { type App, botOf, covers, type Installation, type Permissions, type Repository } from './records.ts';
import type { Store } from './store.ts';
import type { Webhooks } from './webhooks.ts';

const TOKEN_LIFE_MS = 3_600_000;

/** A token with which the App acts in repositories of an installation. */
export interface InstallationToken {
  readonly installation: Installation;
  /** The repositories that it is narrowed to; `null`: all of the installation's. */
  readonly repositoryIds: readonly number[] | null;
  readonly permissions: Permissions;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface NewApp {
  readonly slug: string;
  readonly permissions: Permissions;
  readonly events?: readonly string[];
  readonly webhook?: App['webhook'];
  /** Default: a new key. */
  readonly key?: string;
}

export class Apps {
  readonly webhooks: Webhooks;
  readonly #store: Store;
  readonly #now: () => Date;
  readonly #tokens = new Map<string, InstallationToken>();

  constructor(store: Store, webhooks: Webhooks, now: () => Date) {
    this.#store = store;
    this.webhooks = webhooks;
    this.#now = now;
  }

  get app(): App | null {
    return this.#store.records.app;
  }

  /** Registers the App, in place of any other. Its installations are gone. */
  register({ slug, permissions, events = [], webhook = null, key = newKey() }: NewApp): App {
    const { records } = this.#store;
    records.installations.length = 0;
    this.#tokens.clear();
    const owner = this.#store.ensureUser(`${slug}-owner`).login;
    const createdAt = this.#store.timestamp();
    const id = this.#store.nextId();
    records.app = { id, slug, owner, key, createdAt, permissions, events, webhook };
    this.#store.ensureUser(botOf(records.app));
    this.#store.changed();
    return records.app;
  }

  /**
   * Installs the App for an account.
   * @param names the repositories; `null`: all of the account's.
   */
  install(
    owner: string,
    names: readonly string[] | null,
    permissions = this.#requireApp().permissions,
  ): Installation {
    if (this.ofAccount(owner) !== undefined) throw new Impossible(`${owner} has installed the App already`);
    const now = this.#store.timestamp();
    const installation: Installation = {
      id: this.#store.nextId(),
      account: this.#store.ensureUser(owner).login,
      createdAt: now,
      repositoryIds: names === null ? null : names.map((name) => this.#repository(owner, name).id),
      permissions,
      updatedAt: now,
      suspendedAt: null,
    };
    this.#store.records.installations.push(installation);
    this.#changed(installation, 'created');
    return installation;
  }

  /** Removes the App from an account. Its tokens there end at once. */
  uninstall(owner: string): void {
    const installation = this.#require(owner);
    const { installations } = this.#store.records;
    // The event still names the repositories that it was installed in.
    this.#changed(installation, 'deleted');
    installations.splice(installations.indexOf(installation), 1);
    for (const [token, one] of this.#tokens)
      if (one.installation === installation) this.#tokens.delete(token);
  }

  setSuspended(owner: string, isSuspended: boolean): void {
    const installation = this.#require(owner);
    installation.suspendedAt = isSuspended ? this.#store.timestamp() : null;
    this.#changed(installation, isSuspended ? 'suspend' : 'unsuspend');
  }

  /** Accepts other permissions. Tokens that exist keep theirs. */
  setPermissions(owner: string, permissions: Permissions): void {
    const installation = this.#require(owner);
    installation.permissions = permissions;
    this.#changed(installation, 'new_permissions_accepted');
  }

  /** Installs the App in one repository more, or in one less. */
  select(owner: string, name: string, isSelected: boolean): void {
    const installation = this.#require(owner);
    const repository = this.#repository(owner, name);
    const others = this.repositoriesOf(installation).filter((one) => one !== repository);
    installation.repositoryIds = [...others, ...(isSelected ? [repository] : [])].map(({ id }) => id);
    installation.updatedAt = this.#store.timestamp();
    this.#store.changed();
    this.webhooks.selectionChanged(installation, repository, isSelected);
  }

  ofAccount(owner: string): Installation | undefined {
    const { installations } = this.#store.records;
    return installations.find(({ account }) => account.toLowerCase() === owner.toLowerCase());
  }

  /** Finds the installation of a repository, suspended or not. */
  ofRepository(repository: Repository): Installation | undefined {
    const installation = this.ofAccount(repository.owner);
    return installation && covers(installation, repository) ? installation : undefined;
  }

  byId(id: number): Installation | undefined {
    return this.#store.records.installations.find((installation) => installation.id === id);
  }

  repositoriesOf(installation: Installation): Repository[] {
    return this.#store.records.repositories.filter(
      (repository) => repository.owner === installation.account && covers(installation, repository),
    );
  }

  createToken(wanted: Omit<InstallationToken, 'expiresAt'>): { token: string; expiresAt: Date } {
    const token = `ghs_${randomBytes(18).toString('hex')}`;
    const expiresAt = this.#now().getTime() + TOKEN_LIFE_MS;
    this.#tokens.set(token, { ...wanted, expiresAt });
    return { token, expiresAt: new Date(expiresAt) };
  }

  /** Finds a token that has not expired, also of an installation that is suspended. */
  token(text: string): InstallationToken | undefined {
    const token = this.#tokens.get(text);
    return token && token.expiresAt > this.#now().getTime() ? token : undefined;
  }

  #changed(installation: Installation, action: Parameters<Webhooks['installationChanged']>[1]): void {
    installation.updatedAt = this.#store.timestamp();
    this.#store.changed();
    this.webhooks.installationChanged(installation, action, this.repositoriesOf(installation));
  }

  #requireApp(): App {
    if (this.app === null) throw new Impossible('this host has no App');
    return this.app;
  }

  #require(owner: string): Installation {
    const installation = this.ofAccount(owner);
    if (!installation) throw new Impossible(`${owner} has not installed the App`);
    return installation;
  }

  #repository(owner: string, name: string): Repository {
    const repository = this.#store.findRepository(owner, name);
    if (!repository) throw new Impossible(`there is no repository ${owner}/${name}`);
    return repository;
  }
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return privateKey;
}
