/**
 * Messages about a pull request, which its outbox keeps until they are delivered.
 * Proved by test/durable/pull-request/pull-request.test.ts.
 */
import type { Config } from '../../config/config.ts';
import type { Env } from '../../env.ts';
import type { HostEvent } from '../../events/host-event.ts';
import { publicService, publishNotification, pullRequestTopic } from '../../notify/ntfy.ts';
import { guardOf } from '../../objects.ts';
import type { HttpClient } from '../../outgoing/http-client.ts';
import { recordOpened } from '../../stats/statistics.ts';
import { pullRequestPath } from '../../words/pr-hash.ts';
import { TRACKED_MS } from '../guard/rollback.ts';
import type { Waiting } from '../outbox.ts';
import type { PullRequestRecord } from './record.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * How long to try to deliver a message. News is of no use after a week; a wrong count stays for
 * ever; a rollback closes nothing that is not tracked.
 */
export const MESSAGE_LIFE_MS = {
  notification: 7 * DAY_MS,
  statistics: 365 * DAY_MS,
  tracking: TRACKED_MS,
  introduction: DAY_MS,
} as const;
/**
 * The most notifications that wait. Beyond that, the oldest one is dropped, of comments first.
 * While a topic is out of reach, a flood of comments must not fill the stored value.
 */
export const MAX_NOTIFICATIONS = 200;

/** An event of which a topic tells (contract, section 6). */
export type OutboxEvent = 'opened' | 'updated' | 'commented' | 'merged' | 'closed';

export interface OutboxEntry extends Waiting {
  readonly kind: keyof typeof MESSAGE_LIFE_MS;
  readonly event: OutboxEvent;
  /**
   * The address of the pull request that the statistics are to count; empty: the recorded one.
   * Notifications need none.
   */
  readonly url: string;
  /** For statistics: the hashes of the commits that opened it (src/stats/recorded-hashes.ts). */
  readonly works?: readonly string[];
  /** For an introduction: the host's number of the repository, as long as nobody has asked. */
  repositoryId?: number | null;
  /** For an introduction: the host is asked for it, or was by an object that was reset then. */
  isBegun?: boolean;
}

/** The words with which the topic is told of an event. */
export const TOLD_AS: Readonly<Record<HostEvent['kind'], OutboxEvent>> = {
  commented: 'commented',
  reviewed: 'commented',
  approved: 'commented',
  'changes-requested': 'commented',
  merged: 'merged',
  closed: 'closed',
  withdrawn: 'closed',
};

/** Finds the notification that has to go, because too many wait; undefined: none. */
export function surplusOf(outbox: readonly OutboxEntry[]): OutboxEntry | undefined {
  const notifications = outbox.filter(({ kind }) => kind === 'notification');
  if (notifications.length <= MAX_NOTIFICATIONS) return undefined;
  return notifications.find(({ event }) => event === 'commented') ?? notifications[0];
}

/** Delivers a message, but no introduction. Rejects if the receiver does not take it. */
export async function deliverMessage(
  env: Env,
  config: Config,
  http: HttpClient,
  record: PullRequestRecord,
  entry: OutboxEntry,
): Promise<void> {
  const { prHash, host, owner, repo, number, url, id, app = null } = record;
  if (entry.kind === 'notification') {
    // Do not link to the code host: the first visitors there are likely to be the author.
    const page = config.serviceUrl + pullRequestPath(prHash);
    const words = entry.event === 'commented' ? 'commented on' : entry.event;
    await publishNotification(http, publicService(config), {
      topic: pullRequestTopic(prHash),
      title: `${owner}/${repo}: pull request ${entry.event}`,
      message: `Your anonymous pull request was ${words}: ${page}`,
      click: page,
    });
  } else if (entry.kind === 'tracking') {
    const tracked = { kind: 'pull-request', prHash, host, owner, repo, number, url, app } as const;
    await guardOf(env).track(tracked, null, entry.at);
  } else {
    const { at: openedAt, works } = entry;
    const known = { ...(id !== undefined && { id }), ...(works !== undefined && { works }) };
    const opened = { prHash, host, owner, repo, url: entry.url || url, openedAt, ...known };
    await recordOpened(env, config, http, opened);
  }
}
