/**
 * Follows where maintainers have installed the App. Removing it says stop, which installing it
 * again takes back. A false answer of the host must not do that, as what waits there is discarded
 * then: so the App has to be missing twice, ten minutes apart, and nothing new is sent meanwhile.
 * GitHub's documents know only one 404 of `GET /repos/{owner}/{repo}/installation`, whatever its
 * reason. So before the second one is believed, the host has to say of a token, too, that it is
 * gone. A token that is granted begins the doubt anew.
 */
import type { Env } from '../../env.ts';
import type { AppAbsence } from '../../host/app/github-app.ts';
import type { NumberedRepository } from '../../host/code-host.ts';
import { openMaintainers } from '../../host/open.ts';
import { type Reached, reachHost } from '../../host-access.ts';
import { systemClock } from '../../isolate/clock.ts';
import { loggerOf } from '../../log.ts';
import { WHOLE } from '../../events/hear.ts';
import type { NamedRepository } from '../../events/hook-delivery.ts';
import { hostFailureOf, unlessMissing } from '../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import type { Installed, SqlInstalled } from './installed.ts';
import type { SqlStances } from './stances.ts';

/** The number of no account, for what is said by removing the App or installing it again. */
export const NOBODY = 0;

/** An App at a host, by the key of the host and its own number. */
export interface HostsApp {
  readonly key: string;
  readonly app: number;
}

export class Installations {
  readonly #env: () => Env;
  readonly #installed: SqlInstalled;
  readonly #stances: SqlStances;
  readonly #stopped: (repository: RepositoryName, at: number) => void;
  /** Repositories whose installation may have changed, by name. */
  readonly #toAskAgain = new Map<string, RepositoryName>();
  /** Repositories in which the App has been missing for long: the next answer counts. */
  #toConfirm: ReadonlySet<number> = new Set();

  /** @param stopped learns of repositories in which the App was removed. */
  constructor(
    env: () => Env,
    installed: SqlInstalled,
    stances: SqlStances,
    stopped: (repository: RepositoryName, at: number) => void,
  ) {
    this.#env = env;
    this.#installed = installed;
    this.#stances = stances;
    this.#stopped = stopped;
  }

  /**
   * Notes what the host says of an App in a repository.
   * @param installation its number there; null: there is none.
   * @returns how it is missing there; null: it is not, or was never installed.
   */
  async note(app: HostsApp, name: RepositoryName, installation: number | null): Promise<AppAbsence | null> {
    const known = this.#installed.find(name);
    const isKnown = known?.app === app.app;
    if (isKnown && installation === null) return this.#noteMissing(app, name, known);
    if (installation !== null && !(isKnown && known.installation === installation))
      await this.#noteNew(app, name, installation);
    // Also that of an App which the operator has replaced: nobody can confirm it any more.
    else if (known !== null && known.missingAt !== null) this.#installed.setMissing(known.id, null);
    return null;
  }

  async #noteNew({ key, app }: HostsApp, name: RepositoryName, installation: number): Promise<void> {
    // Without its number, it is noted the next time. That must not keep the App from writing.
    const repository = await this.#lookUp(key, name).catch(() => null);
    if (repository === null) return;
    const at = systemClock.now();
    this.#installed.add(repository, { app, installation }, at);
    if (this.#stances.stance(repository.id, WHOLE)?.saidBy !== NOBODY) return;
    this.#stances.setStance(repository, WHOLE, { word: 'welcome', at, saidBy: NOBODY, since: at });
  }

  async #noteMissing(
    { key }: HostsApp,
    name: RepositoryName,
    { id, installation, missingAt }: Installed,
  ): Promise<AppAbsence | null> {
    const isSecond = this.#toConfirm.has(id);
    if (missingAt !== null && !isSecond) return 'doubted';
    // The first time, doubt is enough whatever the host answers.
    const looking = this.#lookUp(key, name);
    const current = await (isSecond ? looking : looking.catch(() => null));
    if (current !== null && (current.id !== id || !isSameOwner(current, name))) {
      // Another repository has the name now, or another account has this one, and in neither has
      // anybody removed anything.
      this.#installed.correctNames(current, current.id);
      return null;
    }
    const isRemoved = missingAt !== null && isSecond && !(await this.#covers(key, installation, id));
    const at = systemClock.now();
    if (isRemoved) return this.#remove({ ...(current ?? name), id }, missingAt, at);
    this.#installed.setMissing(id, at);
    return 'doubted';
  }

  /** Tells if an installation still has a repository. @throws HostError */
  async #covers(key: string, installation: number, repositoryId: number): Promise<boolean> {
    const reached = reachHost(this.#env(), key);
    const asked = reached?.access.writers?.covers(installation, repositoryId);
    return (await asked?.finally(() => reached?.http.closeIdle())) ?? true;
  }

  /** Takes a removal for a stop, unless somebody has welcomed the service since. */
  #remove(repository: NumberedRepository, missingAt: number, at: number): AppAbsence | null {
    const { id } = repository;
    this.#installed.delete(id);
    const before = this.#stances.stance(id, WHOLE);
    if (before?.word === 'welcome' && before.saidBy !== NOBODY && before.at > missingAt) return null;
    // What a person has said before, only people take back.
    if (before?.word !== 'stop')
      this.#stances.setStance(repository, WHOLE, { word: 'stop', at, saidBy: NOBODY, since: at });
    this.#stopped(repository, at);
    return 'removed';
  }

  /** Looks a repository up; null: the account does not see it. @throws HostError */
  async #lookUp(key: string, name: RepositoryName): Promise<NumberedRepository | null> {
    const reached = reachHost(this.#env(), key);
    if (reached === null) return null;
    const host = openMaintainers(reached.access, () => {});
    return unlessMissing(() => host.repository(name)).finally(() => reached.http.closeIdle());
  }

  /**
   * Takes repositories of which the host is to be asked whether the App is still installed where it
   * was, or installed again where it was removed.
   * @returns whether there are some.
   */
  want(repositories: readonly NamedRepository[]): boolean {
    const known = repositories.filter(({ id, ...name }) => this.#isKnown(name) || this.#installed.has(id));
    for (const one of known) this.#toAskAgain.set(fullName(one).toLowerCase(), one);
    return known.length > 0;
  }

  #isKnown(name: RepositoryName): boolean {
    return this.#installed.find(name) !== null || this.#stances.said(name, null).stoppedAt !== null;
  }

  /** Asks the host for what webhooks have told of the App. Never rejects. */
  async askAgain(reached: Reached): Promise<void> {
    const repositories = [...this.#toAskAgain.values()];
    this.#toAskAgain.clear();
    await this.#ask(reached, repositories);
  }

  /** Asks once more where the App has been missing for ten minutes. Never rejects. */
  async confirm(reached: Reached, now: number): Promise<void> {
    const repositories = this.#installed.toConfirm(now);
    this.#toConfirm = new Set(repositories.map(({ id }) => id));
    // Whatever comes of it, others have their turn first next time.
    for (const { id } of repositories) this.#installed.note(id, 'tried', now);
    await this.#ask(reached, repositories);
    this.#toConfirm = new Set();
  }

  /**
   * Asks where the App is. Whoever is asked notes the answer, as always. A host that does not
   * answer is not asked for the rest, because the bot's other threads wait meanwhile.
   */
  async #ask({ access, config, host }: Reached, names: readonly RepositoryName[]): Promise<void> {
    for (const { owner, name } of names) {
      const repository = { owner, name };
      try {
        // A name that is not known may be the new one of a repository that is.
        const current = this.#isKnown(repository) ? null : await this.#lookUp(host.key, repository);
        if (current !== null) this.#installed.correctNames(current, current.id);
        access.writers?.expireInstallation(repository);
        await access.writers?.isInstalled(repository);
      } catch (error) {
        loggerOf(config).warn('the GitHub App could not be used', { error });
        if (hostFailureOf(error).status === null) return;
      }
    }
  }
}

function isSameOwner(one: RepositoryName, other: RepositoryName): boolean {
  return one.owner.toLowerCase() === other.owner.toLowerCase();
}
