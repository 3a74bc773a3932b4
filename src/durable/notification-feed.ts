/**
 * The bot account's notifications feed, read every minute: one object, so that all runs share one memory and two
 * never overlap. What it finds goes to the pull requests' own objects, which tell each event once.
 */
import { DurableObject } from 'cloudflare:workers';
import { systemClock } from '../clock.ts';
import { parseConfig } from '../config.ts';
import type { Env } from '../env.ts';
import { followPullRequests } from '../events/follow.ts';
import { GitHubActivity } from '../host/github-activity.ts';
import { failureStatus } from '../host/request-failure.ts';
import { createLogger } from '../log.ts';
import { HttpClient } from '../outgoing/http-client.ts';
import { openRestAccess } from './host-access.ts';
import { SqlFeedMemory } from './notification-feed/feed-memory.ts';

export class NotificationFeed extends DurableObject<Env> {
  readonly #memory: SqlFeedMemory;
  #isRunning = false;
  #botLogin: string | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#memory = new SqlFeedMemory(ctx.storage.sql);
  }

  /**
   * Passes the events on the host to the pull requests' objects. A failure is logged, and the next run retries.
   * @param cronTime the scheduled time of the cron trigger, in milliseconds since 1970.
   */
  async run(cronTime: number): Promise<void> {
    const result = parseConfig({ ...this.env });
    if (result.kind === 'invalid' || result.config.hostingToken === null || this.#isRunning) return;
    const { logFormat, outgoingFetchHosts } = result.config;
    const http = new HttpClient(outgoingFetchHosts);
    const host = new GitHubActivity(openRestAccess(this.env, result.config, http));
    this.#isRunning = true;
    try {
      await followPullRequests(
        {
          host,
          memory: this.#memory,
          clock: systemClock,
          botLogin: async () => (this.#botLogin ??= await host.botLogin()),
          tell: ({ prHash, number, events }, askedAt) =>
            this.env.PULL_REQUESTS.get(this.env.PULL_REQUESTS.idFromName(prHash)).tell(
              events,
              systemClock.now(),
              { number, askedAt },
            ),
        },
        cronTime,
      );
    } catch (error) {
      const status = failureStatus(error);
      const logger = createLogger(logFormat, (line) => console.log(line));
      logger.warn('could not read what became of the pull requests', {
        error,
        ...(status !== undefined && { status }),
      });
    } finally {
      this.#isRunning = false;
    }
  }
}
