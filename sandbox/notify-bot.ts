/** Notifications of the bot's account, as GitHub makes them. */
import type { Host } from './host.ts';
import type { Comment, Issue, Repository } from './records.ts';

/**
 * Notifies the bot that someone else did something to its issue or pull request, or mentioned it
 * anywhere. As on GitHub, a thread has one entry, which becomes unread and moves to the top
 * again. The bot's own actions create none. The reason is the latest one, so the bot's own pull
 * requests may come as mentions
 * (https://docs.github.com/en/rest/activity/notifications#about-notification-reasons).
 */
export function notifyBot(
  host: Host,
  repository: Repository,
  issue: Issue,
  actor: string,
  comment: Comment | null,
): void {
  const isMentioned = comment?.body.includes(`@${host.bot.login}`) ?? false;
  if (actor === host.bot.login || (issue.author !== host.bot.login && !isMentioned)) return;
  const reason = isMentioned ? 'mention' : 'author';
  const latestCommentId = comment?.id ?? null;
  const { threads } = host.store.records;
  const known = threads.find(
    (thread) => thread.repositoryId === repository.id && thread.issueNumber === issue.number,
  );
  const updatedAt = host.store.timestamp();
  if (known) Object.assign(known, { reason, unread: true, updatedAt, latestCommentId });
  else {
    threads.push({
      id: host.store.nextId(),
      repositoryId: repository.id,
      issueNumber: issue.number,
      reason,
      unread: true,
      updatedAt,
      lastReadAt: null,
      latestCommentId,
    });
  }
  host.store.changed();
}
