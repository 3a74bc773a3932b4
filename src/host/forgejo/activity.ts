/** How Forgejo and Gitea are asked for what others do to the bot's pull requests. */
import type { FeedThread } from '../code-host.ts';
import { type ActivityDialect, pullRequestThread } from '../rest/activity.ts';
import { type AnsweredReview, isSent } from './answers.ts';
import { pagesOf, PULL } from './calls.ts';
import { readConversation } from './conversation.ts';
import { FORGEJO_READS } from './reads.ts';

/** The server does not say how often its feed may be read. */
const POLL_INTERVAL_MS = 60_000;

type AnsweredEntry = Parameters<typeof pullRequestThread>[0];

export const FORGEJO_ACTIVITY: ActivityDialect = {
  ...FORGEJO_READS,

  /** There is no condition that would save reading it. */
  async feed(octokit, since, _ifModifiedSince, wantsMore) {
    const query = { all: true, since, 'subject-type': 'Pull' };
    const threads: FeedThread[] = [];
    for await (const page of pagesOf<AnsweredEntry>(octokit, 'GET /notifications', query)) {
      // It does not say why the bot is told.
      const shown = page.flatMap((entry) => pullRequestThread(entry, 'Pull', false));
      threads.push(...shown);
      if (!wantsMore(shown)) break;
    }
    return { threads, lastModified: null, pollIntervalMs: POLL_INTERVAL_MS };
  },

  /** They cannot be asked for from a moment on. */
  async reviews(octokit, place) {
    const reviews: AnsweredReview[] = [];
    for await (const page of pagesOf<AnsweredReview>(octokit, `GET ${PULL}/reviews`, { ...place })) {
      reviews.push(...page.filter(isSent));
    }
    return reviews;
  },

  conversation: readConversation,
};
