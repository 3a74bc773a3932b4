/**
 * Reads the bot's notifications at a host once a minute, one run at a time, and passes events to
 * the objects of their pull requests, which tell each event once.
 */
import { DurableObject } from 'cloudflare:workers';
import { MAIN_HOST } from '../../config/hosts.ts';
import type { Env } from '../../env.ts';
import { SETTLED_MS } from '../../events/feed-cursor.ts';
import { CallsUsedUp, examineDue, followPullRequests } from '../../events/follow.ts';
import type { NamedRepository, TouchedThread } from '../../events/hook-delivery.ts';
import { type SaidWords, WHOLE } from '../../events/hear.ts';
import type { AppAbsence } from '../../host/app/github-app.ts';
import { type ActivityHost, openActivity } from '../../host/open.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { systemClock } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import { loggerOf } from '../../log.ts';
import { type AccountNews, accountNews, type Reached, reachHost } from '../../host-access.ts';
import { AccountLook } from './account-look.ts';
import { SqlFeedMemory } from './feed-memory.ts';
import { FeedReader, threadId } from './feed-reader.ts';
import { type HostsApp, Installations, NOBODY } from './installations.ts';
import { SqlInstalled } from './installed.ts';
import { ServiceAccounts } from './service-accounts.ts';
import { SqlStances, type Stopped } from './stances.ts';

/** A repository whose maintainers say stop, and when they have said it. */
export type HeardStop = RepositoryName & { readonly at: number };

/** The least time between two examinations that webhooks cause. */
const BETWEEN_WAKINGS_MS = 10_000;

/** Repositories in which the App was removed, and of which the host was asked lately. */
const askedAgain = new Recent<true>({ lifeMs: 10 * 60 * 1000, most: 1_000 });

export class NotificationFeed extends DurableObject<Env> {
  readonly #memory: SqlFeedMemory;
  readonly #account: AccountLook;
  readonly #stances: SqlStances;
  readonly #installed: SqlInstalled;
  readonly #accounts: ServiceAccounts;
  readonly #reader: FeedReader;
  readonly #installations: Installations;
  #isRunning = false;
  /** Stops that were heard and not yet handed on. */
  readonly #stopped: HeardStop[] = [];
  /** When a webhook last had something examined; milliseconds since 1970. */
  #wokenAt = Number.NEGATIVE_INFINITY;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#memory = new SqlFeedMemory(ctx.storage);
    this.#account = new AccountLook(ctx.storage.kv);
    this.#stances = new SqlStances(ctx.storage.sql);
    this.#installed = new SqlInstalled(ctx.storage.sql);
    this.#accounts = new ServiceAccounts(ctx.storage.kv);
    const stopped = ({ owner, name }: RepositoryName, at: number) =>
      void this.#stopped.push({ owner, name, at });
    this.#reader = new FeedReader({
      env,
      memory: this.#memory,
      accounts: this.#accounts,
      stances: this.#stances,
      installed: this.#installed,
      stopped,
    });
    this.#installations = new Installations(() => this.env, this.#installed, this.#stances, stopped);
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS introduced (repository INTEGER PRIMARY KEY)');
  }

  /**
   * Reads the feed, and once an hour the account. What fails is left to a later run.
   * @param cronTime when the run was scheduled; milliseconds since 1970.
   * @returns the repositories whose maintainers have said stop since the last run.
   */
  async run(hostKey: string, cronTime: number): Promise<readonly HeardStop[]> {
    const reached = reachHost(this.env, hostKey);
    if (reached === null || reached.host.token === null || this.#isRunning) return [];
    const activity = openActivity(reached.access, () => this.#reader.takeCall());
    await this.#alone(reached, async () => {
      if (reached.host.app !== undefined) {
        await this.#installations.confirm(reached, cronTime);
        await this.#reader.noteOfApp(reached, activity, cronTime);
      }
      await this.#reader.follow(reached, activity, (settings) => followPullRequests(settings, cronTime));
      await this.#lookAtAccount(reached, activity, cronTime);
    });
    return this.#stopped.splice(0);
  }

  /** Keeps other runs out, also if the disk fails in the middle. */
  async #alone({ http }: Reached, work: () => Promise<void>): Promise<void> {
    this.#isRunning = true;
    try {
      await work();
    } finally {
      http.closeIdle();
      this.#isRunning = false;
    }
  }

  /** Never rejects. */
  async #lookAtAccount(reached: Reached, activity: ActivityHost, cronTime: number): Promise<void> {
    const news = accountNews(this.env, reached.host);
    const renamed: AccountNews['renamed'] = (before, login) => {
      this.#accounts.renamed();
      return news.renamed(before, login);
    };
    await this.#account.look(activity, { ...news, renamed }, cronTime).catch((error: unknown) => {
      if (error instanceof CallsUsedUp) return;
      const logger = loggerOf(reached.config);
      logger.warn('the bot account could not be looked at', { host: reached.host.key, error });
    });
  }

  /** Examines what is due since a webhook has named it. What fails is left to the next run. */
  override async alarm(): Promise<void> {
    const reached = reachHost(this.env, MAIN_HOST);
    if (reached === null || reached.host.token === null) return;
    if (this.#isRunning) return this.ctx.storage.setAlarm(systemClock.now() + SETTLED_MS);
    const activity = openActivity(reached.access, () => this.#reader.takeWokenCall());
    await this.#alone(reached, async () => {
      await this.#installations.askAgain(reached);
      await this.#reader.follow(reached, activity, async (settings) => {
        await examineDue(settings, systemClock.now());
        // A thread that turns out to be somebody else's is read only now.
        await examineDue(settings, systemClock.now());
      });
    });
    this.#wokenAt = systemClock.now();
  }

  /**
   * Notes a thread that a webhook has named, if the service follows it. It is examined when what
   * has happened in the same seconds is sure to be seen, and ten seconds after the last one.
   */
  async wake({ repository, number, isIssue, mentions }: TouchedThread): Promise<void> {
    const id = threadId(repository, number);
    const kind = this.#memory.kindOf(id);
    if ((isIssue || kind === 'foreign') && !this.#accounts.isNamedIn(mentions)) return;
    if (kind !== 'ours' && !(await this.#isInstalled(repository))) return;
    const at = systemClock.now();
    this.#memory.note([{ id, isIssue, isByBot: false, repository, number, updatedAt: at }], at);
    await this.#wakeSoon(at);
  }

  async #wakeSoon(now: number): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) !== null) return;
    await this.ctx.storage.setAlarm(Math.max(now + SETTLED_MS, this.#wokenAt + BETWEEN_WAKINGS_MS));
  }

  /** Asks the host whether maintainers have invited the App. True if it does not answer. */
  async #isInstalled(repository: RepositoryName): Promise<boolean> {
    const reached = reachHost(this.env, MAIN_HOST);
    const asked = reached?.access.writers?.isInstalled(repository);
    const isInstalled = await asked?.catch(() => true);
    reached?.http.closeIdle();
    return isInstalled === true;
  }

  /**
   * Notes the thread of a comment that the bot has posted, because the feed never shows those. If
   * this note is lost, the thread's next event brings the comment.
   */
  async noteComment(repository: RepositoryName, number: number): Promise<void> {
    this.#reader.noteOwn(repository, number);
  }

  /** Notes what the host says of an App; see `Installations.note`. */
  async noteInstalled(
    app: HostsApp,
    name: RepositoryName,
    installation: number | null,
  ): Promise<AppAbsence | null> {
    return this.#installations.note(app, name, installation);
  }

  /** Has the host asked within seconds what has become of the App; see `Installations.want`. */
  async wakeInstallations(named: readonly NamedRepository[]): Promise<void> {
    if (this.#installations.want(named)) await this.#wakeSoon(systemClock.now());
  }

  /**
   * Reads what maintainers have said of a repository; see `SqlStances.said`. Where removing the App
   * has said stop, the host is asked whether it is there again, because no webhook may tell.
   */
  async said(name: RepositoryName, id: number | null): Promise<SaidWords> {
    const key = fullName(name).toLowerCase();
    if (this.#stances.isStoppedBy(name, NOBODY) && askedAgain.get(key) === null) {
      askedAgain.set(key, true);
      await this.wakeInstallations([{ ...name, id }]);
    }
    if (id !== null) this.#installed.correctNames(name, id);
    const said = this.#stances.said(name, id);
    return { ...said, isAny: said.isAny || this.#installed.mayBeRenamed(name) };
  }

  async stopped(most: number): Promise<readonly Stopped[]> {
    return this.#stances.stopped(most);
  }

  /**
   * Gives the login of an App that maintainers may install.
   * @param name null: anywhere.
   * @returns null: it is not known yet, or there already, or they want nothing of the service.
   */
  async appToOffer(app: number, name: RepositoryName | null): Promise<string | null> {
    const known = this.#accounts.knownApp;
    if (known?.app !== app) return null;
    const isOfNoUse =
      name !== null &&
      (this.#installed.find(name)?.app === app || this.#stances.said(name, null).stoppedAt !== null);
    return isOfNoUse ? null : known.login;
  }

  /** Answers true once for each repository, by its number, unless stop stands there. */
  async introduce(repositoryId: number): Promise<boolean> {
    if (this.#stances.stance(repositoryId, WHOLE)?.word === 'stop') return false;
    const insert = 'INSERT OR IGNORE INTO introduced VALUES (?)';
    return this.ctx.storage.sql.exec(insert, repositoryId).rowsWritten > 0;
  }
}
