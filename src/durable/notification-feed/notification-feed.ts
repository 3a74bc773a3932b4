/**
 * The notifications feed of the bot account at one code host, read every minute: one object, so that all runs share one
 * memory and two never overlap. What it finds goes to the pull requests' own objects, which tell each event once.
 */
import { DurableObject } from 'cloudflare:workers';
import { systemClock } from '../../isolate/clock.ts';
import { hostWithKey } from '../../config/hosts.ts';
import { configOf, openHttp } from '../../configured.ts';
import type { Env } from '../../env.ts';
import { CallsUsedUp, followPullRequests } from '../../events/follow.ts';
import type { ActivityCall } from '../../host/code-host.ts';
import { openActivity } from '../../host/open.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { hostFailureOf } from '../../host-error.ts';
import { loggerOf } from '../../log.ts';
import { count } from '../../metrics/tally.ts';
import { prHashWithId } from '../../stats/recorded-hashes.ts';
import { pullRequestOf } from '../../objects.ts';
import { accountNews, openHostAccess } from '../host-access.ts';
import { AccountLook } from './account-look.ts';
import { SqlFeedMemory } from './feed-memory.ts';

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
    const result = configOf(this.env);
    if (result.kind === 'invalid' || this.#isRunning) return;
    const host = hostWithKey(result.config, hostKey);
    if (host === undefined || host.token === null) return;
    const { config } = result;
    const access = openHostAccess(this.env, config, host, openHttp(config));
    const activity = openActivity(access, (call) => this.#takeCall(call));
    const logger = loggerOf(config);
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
    await this.#account.look(activity, accountNews(this.env, host), cronTime).catch((error: unknown) => {
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
