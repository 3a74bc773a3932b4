/** How Forgejo and Gitea are asked for what the bot writes on threads. */
import { Recent } from '../../isolate/recent.ts';
import { fullName } from '../../repository-name.ts';
import { expectNumber } from '../rest/answer.ts';
import type { RestCalls } from '../rest/octokit.ts';
import type { RepositoryPlace, ThreadPlace } from '../rest/reads.ts';
import type { ThreadDialect } from '../rest/threads.ts';
import type { AnsweredComment } from './answers.ts';
import { call, ISSUE, pagesOf } from './calls.ts';
import { FORGEJO_READS } from './reads.ts';

const COMMENT = '/repos/{owner}/{repo}/issues/comments/{id}';
/** A repository with more labels has most of them for machines. */
const MAX_LABEL_PAGES = 10;
const MAX_KNOWN_THREADS = 1_000;

/** Threads that exist, or did when this isolate looked. */
const knownThreads = new Recent<true>({ most: MAX_KNOWN_THREADS });

export const FORGEJO_THREADS: ThreadDialect = {
  ...FORGEJO_READS,

  async createComment(calls, thread, body) {
    await expectThread(calls, thread);
    const route = `POST ${ISSUE}/comments`;
    return call<AnsweredComment>(calls.octokit, route, { ...thread, data: { body } });
  },

  async createIssue({ octokit }, place, { title, body, labels: names }) {
    const labels = names.length === 0 ? [] : await labelIds({ octokit }, place, names);
    // Labels by someone without push rights are dropped.
    const issue = { ...place, data: { title, body, labels } };
    return call<{ number: number; html_url: string }>(octokit, 'POST /repos/{owner}/{repo}/issues', issue);
  },

  comment: ({ octokit }, place) => call<AnsweredComment>(octokit, `GET ${COMMENT}`, { ...place }),

  editComment: ({ octokit }, place, body) =>
    call<AnsweredComment>(octokit, `PATCH ${COMMENT}`, { ...place, data: { body } }),

  deleteComment: ({ octokit }, place) => call(octokit, `DELETE ${COMMENT}`, { ...place }),

  issue: ({ octokit }, thread) => call<AnsweredComment>(octokit, `GET ${ISSUE}`, { ...thread }),

  closeIssue: ({ octokit }, thread) =>
    call<{ number: number; state: string }>(octokit, `PATCH ${ISSUE}`, {
      ...thread,
      data: { state: 'closed' },
    }),
};

/** A comment on a missing thread would be answered with 500, as if it might have been posted. */
async function expectThread(calls: RestCalls, thread: ThreadPlace): Promise<void> {
  const { owner, repo, index } = thread;
  const key = `${calls.apiUrl} ${fullName({ owner, name: repo })}#${index}`.toLowerCase();
  if (knownThreads.get(key) !== null) return;
  await FORGEJO_THREADS.issue(calls, thread);
  knownThreads.set(key, true);
}

/** Of the labels that the repository has. */
async function labelIds(
  { octokit }: Pick<RestCalls, 'octokit'>,
  place: RepositoryPlace,
  names: readonly string[],
): Promise<number[]> {
  const ids: number[] = [];
  let pages = 0;
  const route = 'GET /repos/{owner}/{repo}/labels';
  for await (const page of pagesOf<{ id: number; name: string }>(octokit, route, { ...place })) {
    ids.push(...page.filter(({ name }) => names.includes(name)).map(({ id }) => expectNumber(id)));
    if (ids.length >= names.length || (pages += 1) === MAX_LABEL_PAGES) break;
  }
  return ids;
}
