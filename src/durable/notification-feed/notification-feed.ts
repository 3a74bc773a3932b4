/**
 * The notifications feed of the bot account at one code host, read every minute: one object, so that all runs share one
 * memory and two never overlap. What it finds goes to the pull requests' own objects, which tell each event once.
 */
import { DurableObject } from 'cloudflare:workers';
import { isWithin, systemClock } from '../../isolate/clock.ts';
import type { Env } from '../../env.ts';
import { CallsUsedUp, followPullRequests } from '../../events/follow.ts';
import type { ActivityCall } from '../../host/code-host.ts';
import { type ActivityHost, openActivity } from '../../host/open.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { hostFailureOf } from '../../host-error.ts';
import { loggerOf } from '../../log.ts';
import { count } from '../../metrics/tally.ts';
import { prHashWithId } from '../../stats/recorded-hashes.ts';
import { pullRequestOf } from '../../objects.ts';
import { type AccountNews, accountNews, reachHost } from '../host-access.ts';
import { SqlFeedMemory } from './feed-memory.ts';

/** Between two looks at the account. */
const PAUSE_MS = 60 * 60 * 1000;
const LOGIN_KEY = 'login';

export class NotificationFeed extends DurableObject<Env> {
  readonly #memory: SqlFeedMemory;
  readonly #account: AccountLook;
  #isRunning = false;
  #botId: number | null = null;
  #wereCallsUsedUp = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#memory = new SqlFeedMemory(ctx.storage);
    this.#account = new AccountLook(ctx.storage.kv);
  }

  /**
   * Passes the events on the host to the pull requests' objects. A failure is logged, and the next run retries.
   * @param hostKey the code host's. @param cronTime the scheduled time of the cron trigger, in milliseconds since 1970.
   */
  async run(hostKey: string, cronTime: number): Promise<void> {
    const reached = reachHost(this.env, hostKey);
    if (reached === null || reached.host.token === null || this.#isRunning) return;
    const activity = openActivity(reached.access, (call) => this.#takeCall(call));
    const logger = loggerOf(reached.config);
    this.#isRunning = true;
    try {
      await followPullRequests(
        {
          host: activity,
          memory: this.#memory,
          clock: systemClock,
          prHashWithId: (id) => prHashWithId(this.env.DB, hostKey, id),
          botId: async () => (this.#botId ??= (await activity.account()).id),
          tell: ({ prHash, number, events }, askedAt) =>
            pullRequestOf(this.env, prHash).tell(hostKey, events, systemClock.now(), { number, askedAt }),
        },
        cronTime,
      );
      this.#wereCallsUsedUp = false;
    } catch (error) {
      if (error instanceof CallsUsedUp) {
        // Once for all runs of the hour that find it so.
        if (!this.#wereCallsUsedUp) logger.warn('following pull requests has used up its calls of this hour');
        this.#wereCallsUsedUp = true;
      } else {
        const { status } = hostFailureOf(error);
        logger.warn('could not read what happened to the pull requests', {
          host: hostKey,
          error,
          ...(status !== null && { status }),
        });
      }
    }
    await this.#account
      .look(activity, accountNews(this.env, reached.host), cronTime)
      .catch((error: unknown) => {
        if (error instanceof CallsUsedUp) return;
        logger.warn('the bot account could not be looked at', { host: hostKey, error });
      });
    this.#isRunning = false;
  }

  /**
   * Makes the next run look at a thread on which a comment was posted through the service, because the feed never shows
   * what the bot itself did. If this call is lost, the comment is reported with the next event of the thread.
   */
  async noteComment(repository: RepositoryName, number: number): Promise<void> {
    const at = systemClock.now();
    const id = `${repository.owner}/${repository.name}#${number}`.toLowerCase();
    this.#memory.note([{ id, isByBot: false, repository, number, updatedAt: at }], at);
  }

  #takeCall(call: ActivityCall): void {
    if (!this.#memory.takeCall(systemClock.now())) throw new CallsUsedUp();
    count('gitveil_feed_requests_total', { call });
  }
}

/** The name of the object of a host's feed. */
export function feedName(hostKey: string): string {
  return `feed ${hostKey}`;
}

/**
 * What no answer to another call shows of the bot's account: that GitHub has flagged it, so that nobody else sees its pull
 * requests, and that its login has changed. Looked for once an hour.
 */
export class AccountLook {
  readonly #kv: SyncKvStorage;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isMissed = false;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** Rejects if the host does not answer; then it is looked again an hour later. */
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
    // The host may have been wrong once: the next run asks again.
    if (isHidden && !this.#isMissed) this.#lookedAt = Number.NEGATIVE_INFINITY;
    else await news.hidden(isHidden);
    this.#isMissed = isHidden;
  }
}
