/**
 * Reads the bot's notifications at a host once a minute, one run at a time, and passes events to
 * the objects of their pull requests, which tell each event once.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import {
  afterOneMore,
  type FeedCursor,
  SETTLED_MS,
  type SpentCalls,
  type SpentKind,
} from '../../events/feed-cursor.ts';
import {
  CallsUsedUp,
  type FeedMemory,
  followPullRequests,
  type NotedThread,
  type ThreadKind,
  WordsUsedUp,
} from '../../events/follow.ts';
import { hear, type Listener, type SaidWords, WHOLE } from '../../events/hear.ts';
import type { Account, FeedThread } from '../../host/code-host.ts';
import type { AppAccount } from '../../host/rest/actor.ts';
import { type ActivityHost, openActivity, openMaintainers } from '../../host/open.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { isWithin, systemClock } from '../../isolate/clock.ts';
import { loggerOf } from '../../log.ts';
import { prHashWithId } from '../../stats/recorded-hashes.ts';
import { pullRequestOf } from '../../objects.ts';
import { dueAgainAt, LONGEST_WAIT_MS } from '../due-rows.ts';
import { type AccountNews, accountNews, type Reached, reachHost } from '../../host-access.ts';
import { closeOpened } from './close-opened.ts';
import { SqlStances, type Stopped } from './stances.ts';

/** A repository whose maintainers say stop, and when they have said it. */
export type HeardStop = RepositoryName & { readonly at: number };

export class NotificationFeed extends DurableObject<Env> {
  readonly #memory: SqlFeedMemory;
  readonly #account: AccountLook;
  readonly #stances: SqlStances;
  #isRunning = false;
  #bot: Account | null = null;
  #wereCallsUsedUp = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#memory = new SqlFeedMemory(ctx.storage);
    this.#account = new AccountLook(ctx.storage.kv);
    this.#stances = new SqlStances(ctx.storage.sql);
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS introduced (repository INTEGER PRIMARY KEY)');
  }

  /**
   * Reads the feed, and once an hour the account. What fails is left to a later run.
   * @param cronTime when the run was scheduled; milliseconds since 1970.
   * @returns the repositories whose maintainers have said stop.
   */
  async run(hostKey: string, cronTime: number): Promise<readonly HeardStop[]> {
    const reached = reachHost(this.env, hostKey);
    const stopped: HeardStop[] = [];
    if (reached === null || reached.host.token === null || this.#isRunning) return stopped;
    const activity = openActivity(reached.access, () => this.#takeCall());
    const logger = loggerOf(reached.config);
    this.#isRunning = true;
    try {
      await followPullRequests(
        {
          host: activity,
          memory: this.#memory,
          clock: systemClock,
          prHashWithId: (id) => prHashWithId(this.env.DB, hostKey, id),
          ownIds: async () => new Set((await this.#accounts(activity)).map(({ id }) => id)),
          hear: async ({ repository, number }, remarks) =>
            hear(
              await this.#listener(
                reached,
                activity,
                ({ owner, name }, at) => void stopped.push({ owner, name, at }),
              ),
              repository,
              number,
              remarks,
            ),
          tell: ({ prHash, number, events }, askedAt) =>
            pullRequestOf(this.env, prHash).tell(hostKey, events, systemClock.now(), { number, askedAt }),
        },
        cronTime,
      );
      this.#wereCallsUsedUp = false;
    } catch (error) {
      if (error instanceof CallsUsedUp) {
        // Logs only the first of the runs in a row that find no calls left.
        if (!this.#wereCallsUsedUp) logger.warn('following pull requests has used up its calls of this hour');
        this.#wereCallsUsedUp = true;
      } else {
        logger.warn('could not read what happened to the pull requests', { host: hostKey, error });
      }
    }
    const news = accountNews(this.env, reached.host);
    const renamed: AccountNews['renamed'] = (before, login) => {
      // Maintainers speak to the new name.
      this.#bot = null;
      return news.renamed(before, login);
    };
    await this.#account.look(activity, { ...news, renamed }, cronTime).catch((error: unknown) => {
      if (error instanceof CallsUsedUp) return;
      logger.warn('the bot account could not be looked at', { host: hostKey, error });
    });
    reached.http.closeIdle();
    this.#isRunning = false;
    return stopped;
  }

  /**
   * Notes the thread of a comment that the bot has posted, because the feed never shows those. If
   * this note is lost, the thread's next event brings the comment.
   */
  async noteComment(repository: RepositoryName, number: number): Promise<void> {
    const at = systemClock.now();
    const id = `${repository.owner}/${repository.name}#${number}`.toLowerCase();
    this.#memory.note([{ id, isIssue: false, isByBot: false, repository, number, updatedAt: at }], at);
  }

  /**
   * Notes that maintainers have installed the App in a repository, or that it is missing there. If
   * they have removed it, that counts as stop.
   * @returns whether it was removed.
   */
  async noteInstalled(hostKey: string, name: RepositoryName, isInstalled: boolean): Promise<boolean> {
    const { sql } = this.ctx.storage;
    sql.exec('CREATE TABLE IF NOT EXISTS installed (name TEXT PRIMARY KEY COLLATE NOCASE)');
    if (isInstalled) sql.exec('INSERT OR IGNORE INTO installed VALUES (?)', fullName(name));
    const question = 'SELECT 1 FROM installed WHERE name = ?';
    if (isInstalled || sql.exec(question, fullName(name)).toArray().length === 0) return false;
    const reached = reachHost(this.env, hostKey);
    if (reached === null) return false;
    const repository = await openMaintainers(reached.access, () => {}).repository(name);
    reached.http.closeIdle();
    sql.exec('DELETE FROM installed WHERE name = ?', fullName(name));
    const at = systemClock.now();
    this.#stances.setStance(repository, WHOLE, { word: 'stop', at, saidBy: NOBODY, since: at });
    return true;
  }

  /** Reads what maintainers have said of a repository; see `SqlStances.said`. */
  async said(name: RepositoryName, id: number | null): Promise<SaidWords> {
    return this.#stances.said(name, id);
  }

  async stopped(most: number): Promise<readonly Stopped[]> {
    return this.#stances.stopped(most);
  }

  async #listener(reached: Reached, activity: ActivityHost, stopped: Listener['stopped']): Promise<Listener> {
    const host = openMaintainers(reached.access, () => this.#takeWordCall());
    const own = await this.#accounts(activity);
    const opened = { env: this.env, reached, own };
    const access = {
      pullRequest: (name: RepositoryName, number: number) => activity.pullRequest(name, number),
      openedBy: (name: RepositoryName, account: Account) => host.openedBy(name, account),
    };
    return {
      host,
      memory: this.#stances,
      own,
      now: () => systemClock.now(),
      closeAll: (repository) => closeOpened({ ...opened, host: access }, repository),
      stopped,
    };
  }

  /**
   * Reads the accounts in whose names the service writes. The App's is kept: its pull requests must
   * not be taken for foreign while it cannot be asked.
   */
  async #accounts(activity: ActivityHost): Promise<readonly Account[]> {
    const { kv } = this.ctx.storage;
    const bot = (this.#bot ??= await activity.account());
    const known = kv.get<AppAccount>(APP_KEY) ?? null;
    const app = await activity.appAccount().catch(() => known);
    if (app !== null && (app.id !== known?.id || app.login !== known.login)) kv.put(APP_KEY, app);
    return app === null ? [bot] : [bot, app];
  }

  /** Answers true once for each repository, by its number, unless stop stands there. */
  async introduce(repositoryId: number): Promise<boolean> {
    if (this.#stances.stance(repositoryId, WHOLE)?.word === 'stop') return false;
    const insert = 'INSERT OR IGNORE INTO introduced VALUES (?)';
    return this.ctx.storage.sql.exec(insert, repositoryId).rowsWritten > 0;
  }

  #takeCall(): void {
    if (!this.#memory.take('calls', systemClock.now())) throw new CallsUsedUp();
  }

  #takeWordCall(): void {
    if (!this.#memory.take('words', systemClock.now())) throw new WordsUsedUp();
    this.#takeCall();
  }
}

const APP_KEY = 'app';
/** The number of no account: only owners take back that the App was removed. */
const NOBODY = 0;

/** The pause between two looks at the account. */
const PAUSE_MS = 60 * 60 * 1000;
const LOGIN_KEY = 'login';

/**
 * Looks at the bot's account once an hour for what nothing else shows: GitHub has flagged, and so
 * hidden it, or its login has changed.
 */
export class AccountLook {
  readonly #kv: SyncKvStorage;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #wasHidden = false;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** Rejects if the host does not answer; the next look comes an hour later all the same. */
  async look(
    host: Pick<ActivityHost, 'account' | 'isHidden'>,
    news: AccountNews,
    now: number,
  ): Promise<void> {
    if (isWithin(this.#lookedAt, PAUSE_MS, now)) return;
    this.#lookedAt = now;
    const { login } = await host.account();
    const before = this.#kv.get<string>(LOGIN_KEY) ?? login;
    if (before !== login) await news.renamed(before, login);
    this.#kv.put(LOGIN_KEY, login);
    const isHidden = await host.isHidden(login);
    if (isHidden === null) return;
    // The host's first such answer may be wrong, so the next run asks again before anybody is told.
    if (isHidden && !this.#wasHidden) this.#lookedAt = Number.NEGATIVE_INFINITY;
    else await news.hidden(isHidden);
    this.#wasHidden = isHidden;
  }
}

/** The age at which threads are forgotten, examined or not. */
const THREAD_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
/** How long to remember whose a pull request is. That never changes; this only bounds the table. */
const KNOWLEDGE_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

type ThreadRow = Omit<NotedThread, 'repository' | 'kind'> &
  Record<'owner' | 'repo', string> & { isOurs: number | null };

/** The numbers of the column `is_ours`. */
const KIND_NUMBERS = { foreign: 0, ours: 1, 'own-issue': 2 } as const;
const KINDS = ['foreign', 'ours', 'own-issue'] as const;

/** Keys of the position in the feed, and of the calls that this hour has used. */
const CURSOR_KEY = 'cursor';
const SPENT_KEY = 'spent';

function threadOf({ owner, repo, isOurs, ...thread }: ThreadRow): NotedThread {
  const repository = { owner, name: repo };
  return { ...thread, repository, kind: KINDS[isOurs ?? -1] ?? 'unknown' };
}

function kindOf(isIssue: boolean, isByBot: boolean): ThreadKind {
  if (!isIssue) return 'ours';
  return isByBot ? 'own-issue' : 'foreign';
}

class SqlFeedMemory implements FeedMemory {
  readonly #sql: SqlStorage;
  readonly #kv: SyncKvStorage;

  constructor({ sql, kv }: DurableObjectStorage) {
    this.#sql = sql;
    this.#kv = kv;
    sql.exec(`CREATE TABLE IF NOT EXISTS threads (
      id TEXT PRIMARY KEY,
      owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER NOT NULL,
      updated_at INTEGER NOT NULL, noted_at INTEGER NOT NULL,
      examined_at INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0
    )`);
    sql.exec(`CREATE TABLE IF NOT EXISTS known_threads (
      id TEXT PRIMARY KEY, is_ours INTEGER NOT NULL, read_to INTEGER, known_at INTEGER NOT NULL
    )`);
    sql.exec('CREATE TABLE IF NOT EXISTS unread_threads (id TEXT PRIMARY KEY, since INTEGER NOT NULL)');
    // Each page of the feed, and each comment that the bot posts, deletes what is old.
    sql.exec('CREATE INDEX IF NOT EXISTS threads_by_noted_at ON threads (noted_at)');
    sql.exec('CREATE INDEX IF NOT EXISTS known_threads_by_known_at ON known_threads (known_at)');
    sql.exec('CREATE INDEX IF NOT EXISTS unread_threads_by_since ON unread_threads (since)');
  }

  cursor(): FeedCursor | null {
    return this.#kv.get<FeedCursor>(CURSOR_KEY) ?? null;
  }

  setCursor(cursor: FeedCursor): void {
    this.#kv.put(CURSOR_KEY, cursor);
  }

  note(threads: readonly FeedThread[], now: number): number {
    this.#sql.exec('DELETE FROM threads WHERE noted_at < ?', now - THREAD_LIFE_MS);
    this.#sql.exec('DELETE FROM unread_threads WHERE since < ?', now - THREAD_LIFE_MS);
    this.#sql.exec('DELETE FROM known_threads WHERE known_at < ?', now - KNOWLEDGE_LIFE_MS);
    return threads.filter((thread) => this.#noteOne(thread, now)).length;
  }

  /** Answers false if the thread was already noted in this state. */
  #noteOne({ id, isIssue, isByBot, repository, number, updatedAt }: FeedThread, now: number): boolean {
    if (isIssue || isByBot) this.#noteKind(id, kindOf(isIssue, isByBot), now);
    const row = [id, repository.owner, repository.name, number, updatedAt, now];
    const noted = this.#sql.exec(
      `INSERT INTO threads (id, owner, repo, number, updated_at, noted_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, repo = excluded.repo, number = excluded.number,
         updated_at = excluded.updated_at, noted_at = excluded.noted_at, examined_at = 0, failures = 0, due_at = 0
       WHERE excluded.updated_at > threads.updated_at
       RETURNING id`,
      ...row,
    );
    const isNew = noted.toArray().length > 0;
    // Later changes do not move it, or else nobody would read what was said before them.
    if (isNew) this.#sql.exec('INSERT OR IGNORE INTO unread_threads VALUES (?, ?)', id, updatedAt);
    return isNew;
  }

  /** Notes what the host says of a thread. GitHub may only say later that an issue is the bot's. */
  #noteKind(id: string, kind: ThreadKind, now: number): void {
    this.#sql.exec(
      `INSERT INTO known_threads VALUES (?, ?, NULL, ?)
       ON CONFLICT (id) DO UPDATE SET is_ours = excluded.is_ours WHERE excluded.is_ours = ?`,
      id,
      KIND_NUMBERS[kind],
      now,
      KIND_NUMBERS['own-issue'],
    );
  }

  due(limit: number, now: number): readonly NotedThread[] {
    const left = (kind: SpentKind) => Number(this.#afterOneMore(kind, now) !== null);
    const rows = this.#sql.exec<ThreadRow>(
      `SELECT id, owner, repo, number, updated_at AS updatedAt, noted_at AS notedAt, failures,
         is_ours AS isOurs, read_to AS readTo, coalesce(since, updated_at) AS unreadSince
       FROM threads LEFT JOIN known_threads USING (id) LEFT JOIN unread_threads USING (id)
       WHERE CASE is_ours WHEN 1 THEN 1 WHEN 2 THEN ? WHEN 0 THEN ? ELSE ? END AND examined_at < updated_at + ? AND (due_at <= ? OR due_at > ?)
       ORDER BY is_ours IS 1 DESC, is_ours IS 2 DESC, is_ours IS 0, failures, updated_at LIMIT ?`,
      left('issues'),
      left('reads'),
      left('looks'),
      SETTLED_MS,
      now,
      now + LONGEST_WAIT_MS,
      limit,
    );
    return rows.toArray().map(threadOf);
  }

  know({ id, readTo }: Pick<NotedThread, 'id' | 'readTo'>, kind: ThreadKind, at: number): void {
    const replace = 'INSERT OR REPLACE INTO known_threads VALUES (?, ?, ?, ?)';
    this.#sql.exec(replace, id, KIND_NUMBERS[kind], readTo, at);
    if (readTo !== null) this.#sql.exec('DELETE FROM unread_threads WHERE id = ?', id);
  }

  /**
   * Notes when the thread was examined. If that was within seconds of its change, it is due once
   * more, because the same second may have brought another change.
   */
  examined({ id }: NotedThread, at: number): void {
    this.#sql.exec('UPDATE threads SET examined_at = ?, failures = 0 WHERE id = ?', at, id);
  }

  failed({ id, failures }: NotedThread, now: number): void {
    const dueAt = dueAgainAt(failures, now, 0);
    this.#sql.exec('UPDATE threads SET failures = failures + 1, due_at = ? WHERE id = ?', dueAt, id);
  }

  postponed({ id }: NotedThread, until: number): void {
    this.#sql.exec('UPDATE threads SET due_at = ? WHERE id = ?', until, id);
  }

  /** Takes one of this hour's calls; answers false if they are used up. */
  take(kind: SpentKind, now: number): boolean {
    const next = this.#afterOneMore(kind, now);
    if (next !== null) this.#kv.put(SPENT_KEY, next);
    return next !== null;
  }

  #afterOneMore(kind: SpentKind, now: number): SpentCalls | null {
    return afterOneMore(this.#kv.get<SpentCalls>(SPENT_KEY) ?? null, kind, now);
  }
}
