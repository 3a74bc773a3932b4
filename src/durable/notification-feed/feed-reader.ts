/**
 * Reads what has happened at a host within the calls of an hour: notes it, passes events on, and
 * hears maintainers.
 * Proved by test/durable/notification-feed/notification-feed.test.ts.
 */
import type { Env } from '../../env.ts';
import { OVERLAP_MS } from '../../events/feed-cursor.ts';
import { CallsUsedUp, type FollowSettings, WordsUsedUp } from '../../events/follow.ts';
import { hear, type Listener } from '../../events/hear.ts';
import type { Account } from '../../host/code-host.ts';
import { type ActivityHost, openMaintainers } from '../../host/open.ts';
import type { Reached } from '../../host-access.ts';
import { systemClock } from '../../isolate/clock.ts';
import { loggerOf } from '../../log.ts';
import { pullRequestOf } from '../../objects.ts';
import { prHashWithId } from '../../stats/recorded-hashes.ts';
import { hostFailureOf } from '../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { closeOpened } from './close-opened.ts';
import type { SqlFeedMemory } from './feed-memory.ts';
import type { ReadRepository, SqlInstalled } from './installed.ts';
import type { ServiceAccounts } from './service-accounts.ts';
import type { SqlStances } from './stances.ts';

/** Names a thread of which no notification has told. */
export function threadId(repository: RepositoryName, number: number): string {
  return `${fullName(repository)}#${number}`.toLowerCase();
}

interface Parts {
  readonly env: Env;
  readonly memory: SqlFeedMemory;
  readonly accounts: ServiceAccounts;
  readonly stances: SqlStances;
  readonly installed: SqlInstalled;
  /** Learns of repositories whose maintainers say stop. */
  readonly stopped: Listener['stopped'];
}

export class FeedReader {
  readonly #parts: Parts;
  #wereCallsUsedUp = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Notes what has been touched of all that the App has opened, for the case that no webhook comes.
   * Never rejects.
   */
  async noteOfApp(reached: Reached, activity: ActivityHost, cronTime: number): Promise<void> {
    const { accounts, installed } = this.#parts;
    const failed = (error: unknown) =>
      loggerOf(reached.config).warn('could not read what happened where the App is installed', { error });
    try {
      const [, app] = await accounts.list(activity);
      if (app === undefined) return;
      for (const one of installed.toRead(cronTime)) {
        // Whatever comes of it, others are read first next time.
        installed.note(one.id, 'tried', cronTime);
        await this.#noteTouched(activity, app.login, one, cronTime).catch((error: unknown) => {
          // A host that does not answer is not asked for the rest.
          if (hostFailureOf(error).status === null) throw error;
          failed(error);
        });
      }
    } catch (error) {
      if (!(error instanceof CallsUsedUp)) failed(error);
    }
  }

  async #noteTouched(
    activity: ActivityHost,
    login: string,
    { id: repositoryId, readAt, ...repository }: ReadRepository,
    cronTime: number,
  ): Promise<void> {
    const { installed, memory } = this.#parts;
    const touched = await activity.touchedBy(repository, login, readAt - OVERLAP_MS);
    const named = touched.map(({ number, isIssue, updatedAt }) => {
      return { id: threadId(repository, number), repository, number, isIssue, isByBot: true, updatedAt };
    });
    memory.note(named, systemClock.now());
    installed.note(repositoryId, 'read', cronTime);
  }

  /** Notes a pull request in which the service has done something, which the feed never shows. */
  noteOwn({ owner, name }: RepositoryName, number: number): void {
    const at = systemClock.now();
    const repository = { owner, name };
    const id = threadId(repository, number);
    this.#parts.memory.note([{ id, isIssue: false, isByBot: false, repository, number, updatedAt: at }], at);
  }

  /** Passes events on, and hears maintainers. Never rejects. */
  async follow(
    reached: Reached,
    activity: ActivityHost,
    run: (settings: FollowSettings) => Promise<void>,
  ): Promise<void> {
    const { env, memory, accounts } = this.#parts;
    const { key } = reached.host;
    const logger = loggerOf(reached.config);
    try {
      await run({
        host: activity,
        memory,
        clock: systemClock,
        prHashWithId: (id) => prHashWithId(env.DB, key, id),
        ownIds: async () => new Set((await accounts.list(activity)).map(({ id }) => id)),
        hear: async ({ repository, number }, remarks) =>
          hear(await this.#listener(reached, activity), repository, number, remarks),
        tell: ({ prHash, number, events }, askedAt) =>
          pullRequestOf(env, prHash).tell(key, events, systemClock.now(), { number, askedAt }),
      });
      this.#wereCallsUsedUp = false;
    } catch (error) {
      if (error instanceof CallsUsedUp) {
        // Logs only the first of the runs in a row that find no calls left.
        if (!this.#wereCallsUsedUp) logger.warn('following pull requests has used up its calls of this hour');
        this.#wereCallsUsedUp = true;
      } else {
        logger.warn('could not read what happened to the pull requests', { host: key, error });
      }
    }
  }

  async #listener(reached: Reached, activity: ActivityHost): Promise<Listener> {
    const { env, accounts, stances, stopped } = this.#parts;
    const host = openMaintainers(reached.access, () => this.#takeWordCall());
    const own = await accounts.list(activity);
    const opened = { env, reached, own, lookLater: this.noteOwn.bind(this) };
    const access = {
      pullRequest: (name: RepositoryName, number: number) => activity.pullRequest(name, number),
      openedBy: (name: RepositoryName, account: Account) => host.openedBy(name, account),
    };
    return {
      host,
      memory: stances,
      own,
      now: () => systemClock.now(),
      closeAll: (repository) => closeOpened({ ...opened, host: access }, repository),
      stopped,
    };
  }

  takeCall(): void {
    if (!this.#parts.memory.take('calls', systemClock.now())) throw new CallsUsedUp();
  }

  takeWokenCall(): void {
    if (!this.#parts.memory.take('woken', systemClock.now())) throw new CallsUsedUp();
    this.takeCall();
  }

  #takeWordCall(): void {
    if (!this.#parts.memory.take('words', systemClock.now())) throw new WordsUsedUp();
    this.takeCall();
  }
}
