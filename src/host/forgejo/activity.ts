/** How Forgejo and Gitea are asked for what others do to the bot's pull requests. */
import type { FeedThread } from '../code-host.ts';
import { type ActivityDialect, pullRequestThread } from '../rest/activity.ts';
import { expectList } from '../rest/answer.ts';
import {
  type AnsweredComment,
  type AnsweredPull,
  type AnsweredReview,
  type AnsweredUser,
  isSent,
} from './answers.ts';
import { call, lookUp, pagesOf } from './calls.ts';
import { readConversation } from './conversation.ts';

/** The server does not say how often its feed may be read. */
const POLL_INTERVAL_MS = 60_000;
const PULL = '/repos/{owner}/{repo}/pulls/{index}';

type AnsweredEntry = Parameters<typeof pullRequestThread>[0];

export const FORGEJO_ACTIVITY: ActivityDialect = {
  account: (octokit) => call<AnsweredUser>(octokit, 'GET /user'),

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

  async pull(octokit, place) {
    const { data } = await call<AnsweredPull>(octokit, `GET ${PULL}`, { ...place });
    return { ...data, branch: data.head.label };
  },

  /** All at once: this list has no pages. */
  async comments(octokit, place, since) {
    const route = 'GET /repos/{owner}/{repo}/issues/{index}/comments';
    const { data } = await call<readonly AnsweredComment[]>(octokit, route, { ...place, since });
    // An answer of another shape must not pass for a thread without comments.
    return expectList(data);
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
  lookUp,
};
