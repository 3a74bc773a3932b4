/**
 * Chooses who writes in a repository: the App where it is installed and may write, else the
 * account. If the App cannot be asked, the account writes, as it would without one. Maintainers who
 * have removed or suspended the App get nothing new from either.
 */
import type { Clock } from '../../isolate/clock.ts';
import { type Failure, HostError, hostFailureOf } from '../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import type { Account } from '../code-host.ts';
import { type Actor, appIsGone, NOT_PERMITTED, type Reporting, type Writers } from '../rest/actor.ts';
import { type GitHubApp, type Installation, isInstalled, TOKEN_LAG_MS } from './github-app.ts';

/** Matches GitHub's answer to who asks for a token: octokit/octokit.rb#1307. */
const SUSPENDED = /installation has been suspended/i;
/** How long a refusal for which the App is missing counts; then the host is asked again. */
const DOUBT_MS = 10 * 60_000;

interface WritersSetup {
  readonly app: GitHubApp;
  /** Names an installation, which is an account of its own, and gives its limits. */
  readonly accountOf: (installation: Installation) => string;
  readonly limitsOf: (installation: Installation) => Omit<Actor, 'app' | 'token'>;
  /** Learns why the App could not be asked. */
  readonly failed: (error: unknown) => void;
  /** Learns that it lacks a permission where it is installed. */
  readonly lacking: () => void;
  readonly clock: Clock;
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
    if (installation?.mayWrite === false) this.#setup.lacking();
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
    if (standing === 'doubted') throw doubted(repository);
    if (standing?.isSuspended) throw unwanted(repository, 'suspended');
    return standing;
  }

  async isInstalled(repository: RepositoryName): Promise<boolean> {
    const standing = await this.#setup.app.standing(repository);
    return standing === 'doubted' || isInstalled(standing);
  }

  covers(installation: number, repositoryId: number): Promise<boolean> {
    return this.#setup.app.covers(installation, repositoryId);
  }

  expireInstallation(repository: RepositoryName): void {
    this.#setup.app.expire(repository);
  }

  async payer(repository: RepositoryName): Promise<string | null> {
    const installation = await this.installation(repository);
    return installation && this.#setup.accountOf(installation);
  }

  async forNew(repository: RepositoryName): Promise<Actor | null> {
    const installation = await this.installation(repository);
    if (installation === null) return null;
    return this.#actor(installation, repository, 'writing').catch(async (error: unknown) => {
      const isOther = await this.hasChanged(repository, hostFailureOf(error));
      return isOther ? this.#newest(repository) : this.#without(error, repository);
    });
  }

  /** Leaves it to the account, unless maintainers have suspended the App. @throws HostError */
  #without(error: unknown, repository: RepositoryName): null {
    if (SUSPENDED.test(hostFailureOf(error).says)) throw unwanted(repository, 'suspended');
    this.#setup.failed(error);
    return null;
  }

  /** Chooses once more, after the installation has changed. */
  async #newest(repository: RepositoryName): Promise<Actor | null> {
    const installation = await this.installation(repository);
    return (
      installation &&
      this.#actor(installation, repository, 'writing').catch((error: unknown) =>
        this.#without(error, repository),
      )
    );
  }

  async of(app: number, repository: RepositoryName): Promise<Actor> {
    const standing = app === this.app ? await this.#setup.app.standing(repository) : null;
    if (standing === 'doubted') throw doubted(repository);
    if (!isInstalled(standing)) throw appIsGone();
    if (standing.isSuspended) throw unwanted(repository, 'suspended');
    return this.#actor(standing, repository, 'writing');
  }

  async waitForToken(repository: RepositoryName, { status, says }: Failure): Promise<boolean> {
    const { app, clock } = this.#setup;
    const isOfToken = status === 401 || (status === 403 && NOT_PERMITTED.test(says));
    if (!isOfToken || !app.hasNewToken(repository)) return false;
    await clock.sleep(TOKEN_LAG_MS);
    return true;
  }

  async hasChanged(repository: RepositoryName, { status, says, lasts }: Failure): Promise<boolean> {
    const { app, lacking } = this.#setup;
    // A host that is in trouble, or asks for fewer calls, needs no other one.
    if (status === null || status >= 500 || lasts === 'until') return false;
    const before = app.lastSeen(repository);
    // A token is revoked when the App is removed, also if it was installed again since.
    if (status === 401) app.forgetTokens(repository);
    app.expire(repository);
    const now = await app.standing(repository).catch(() => before);
    if (status === 401 || JSON.stringify(now) !== JSON.stringify(before)) return true;
    if (NOT_PERMITTED.test(says)) lacking();
    return false;
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

function doubted(repository: RepositoryName): HostError {
  const says = 'says that the App of this service is not installed there any more';
  const message =
    `The code host ${says}: in ${fullName(repository)}. It is asked again within ten minutes, ` +
    'and nothing is sent there until then. Try again later.';
  const means = { effect: 'none', lasts: 'until', retryAfterMs: DOUBT_MS, isLocal: true, says } as const;
  return new HostError('unreachable', message, undefined, means);
}

function unwanted(repository: RepositoryName, how: 'removed' | 'suspended'): HostError {
  const says = `the maintainers of ${fullName(repository)} have ${how} the App of this service`;
  const message = `Nothing can be sent there, because ${says}. Ask them to allow it again.`;
  return new HostError('refused', message, undefined, { status: 403, says });
}
