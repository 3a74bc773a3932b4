/**
 * Chooses who writes in a repository: the App where it is installed and may write, else the
 * account. If the App cannot be asked, the account writes, as it would without one. Maintainers who
 * have removed or suspended the App get nothing new from either.
 */
import { HostError, hostFailureOf } from '../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import type { Account } from '../code-host.ts';
import { type Actor, appIsGone, type Reporting, type Writers } from '../rest/actor.ts';
import { type GitHubApp, type Installation, isInstalled } from './github-app.ts';

interface WritersSetup {
  readonly app: GitHubApp;
  /** Names an installation, which is an account of its own, and gives its limits. */
  readonly accountOf: (installation: Installation) => string;
  readonly limitsOf: (installation: Installation) => Omit<Actor, 'app' | 'token'>;
  /** Learns why the App could not be asked. */
  readonly failed: (error: unknown) => void;
}

export class AppWriters implements Writers {
  readonly #setup: WritersSetup;

  constructor(setup: WritersSetup) {
    this.#setup = setup;
  }

  get app(): number {
    return this.#setup.app.id;
  }

  async account(): Promise<Account> {
    return this.#setup.app.account();
  }

  /**
   * Returns the installation that writes something new; null: the account writes it.
   * @throws HostError if maintainers have removed or suspended it
   */
  async installation(repository: RepositoryName): Promise<Installation | null> {
    const installation = await this.#wanted(repository);
    return installation?.mayWrite ? installation : null;
  }

  async forReport(repository: RepositoryName): Promise<Reporting | null> {
    const installation = await this.#wanted(repository);
    if (!installation?.mayReport) return null;
    const actor = await this.#actor(installation, repository, 'reporting');
    return { ...actor, payer: this.#setup.accountOf(installation) };
  }

  /** Finds the installation, unless maintainers want nothing of it any more. @throws HostError */
  async #wanted(repository: RepositoryName): Promise<Installation | null> {
    const { app, failed } = this.#setup;
    const standing = await app.standing(repository).catch((error: unknown) => {
      failed(error);
      return app.lastSeen(repository);
    });
    if (standing === 'removed') throw unwanted(repository, 'removed');
    if (standing?.isSuspended) throw unwanted(repository, 'suspended');
    return standing;
  }

  async isInstalled(repository: RepositoryName): Promise<boolean> {
    return isInstalled(await this.#setup.app.standing(repository));
  }

  forgetInstallation(repository: RepositoryName): void {
    this.#setup.app.forget(repository);
  }

  async payer(repository: RepositoryName): Promise<string | null> {
    const installation = await this.installation(repository);
    return installation && this.#setup.accountOf(installation);
  }

  async forNew(repository: RepositoryName): Promise<Actor | null> {
    const installation = await this.installation(repository);
    if (installation === null) return null;
    return this.#actor(installation, repository, 'writing').catch(async (error: unknown) => {
      const { status } = hostFailureOf(error);
      if (status !== null && (await this.hasChanged(repository, status))) return this.#newest(repository);
      this.#setup.failed(error);
      return null;
    });
  }

  /** Chooses once more, after the installation has changed. */
  async #newest(repository: RepositoryName): Promise<Actor | null> {
    const installation = await this.installation(repository);
    return (
      installation &&
      this.#actor(installation, repository, 'writing').catch((error: unknown) => {
        this.#setup.failed(error);
        return null;
      })
    );
  }

  async of(app: number, repository: RepositoryName): Promise<Actor> {
    const standing = app === this.app ? await this.#setup.app.standing(repository) : null;
    if (!isInstalled(standing)) throw appIsGone();
    if (standing.isSuspended) throw unwanted(repository, 'suspended');
    return this.#actor(standing, repository, 'writing');
  }

  async hasChanged(repository: RepositoryName, status: number): Promise<boolean> {
    const { app } = this.#setup;
    const before = app.lastSeen(repository);
    app.forget(repository);
    const now = await app.standing(repository).catch(() => before);
    // A token is revoked when the App is removed, also if it was installed again since.
    return status === 401 || JSON.stringify(now) !== JSON.stringify(before);
  }

  async #actor(
    installation: Installation,
    repository: RepositoryName,
    purpose: 'writing' | 'reporting',
  ): Promise<Actor> {
    const { app, limitsOf } = this.#setup;
    const token = await app.token(installation, repository, purpose);
    return { ...limitsOf(installation), token, app: app.id };
  }
}

function unwanted(repository: RepositoryName, how: 'removed' | 'suspended'): HostError {
  const says = `the maintainers of ${fullName(repository)} have ${how} the App of this service`;
  const message = `Nothing can be sent there, because ${says}. Ask them to allow it again.`;
  return new HostError('refused', message, undefined, { status: 403, says });
}
