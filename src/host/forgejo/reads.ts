/** How Forgejo and Gitea are asked for what more than one interface reads. */
import { lookUpWith } from '../git/visibility.ts';
import { expectList, expectStatus } from '../rest/answer.ts';
import type { ReadDialect } from '../rest/reads.ts';
import {
  type AnsweredComment,
  type AnsweredPull,
  type AnsweredRepository,
  type AnsweredUser,
  toRepository,
  withBranch,
} from './answers.ts';
import { call, ISSUE, PULL } from './calls.ts';

export const FORGEJO_READS = {
  account: (octokit, limits) => call<AnsweredUser>(octokit, 'GET /user', { ...limits }),

  async pull(octokit, place) {
    const { data } = await call<AnsweredPull>(octokit, `GET ${PULL}`, { ...place });
    return withBranch(data);
  },

  /** All at once: this list has no pages. */
  async comments(octokit, place, since) {
    const route = `GET ${ISSUE}/comments`;
    const answer = await call<readonly AnsweredComment[]>(octokit, route, { ...place, since });
    // An answer of another shape must not pass for a thread without comments.
    expectStatus(answer, 200);
    return expectList(answer.data);
  },

  lookUp: (calls, name) =>
    lookUpWith(calls, name, async () => {
      const place = { owner: name.owner, repo: name.name };
      const { data } = await call<AnsweredRepository>(calls.octokit, 'GET /repos/{owner}/{repo}', place);
      return toRepository(data);
    }),
} satisfies ReadDialect;
