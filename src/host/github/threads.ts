/** How GitHub is asked for what the bot writes on threads. */
import { expectList, expectStatus } from '../rest/answer.ts';
import type { ThreadDialect } from '../rest/threads.ts';
import { lookUp } from './look-up.ts';

const COMMENTS_PER_PAGE = 100;

export const GITHUB_THREADS: ThreadDialect = {
  createComment: ({ octokit }, { index, ...place }, body) =>
    octokit.rest.issues.createComment({ ...place, issue_number: index, body }),

  createIssue: ({ octokit }, place, { title, body, labels }) =>
    octokit.rest.issues.create({ ...place, title, body, labels: [...labels] }),

  account: ({ octokit }, limits) => octokit.rest.users.getAuthenticated(limits),

  comments({ octokit }, { index, ...place }, since) {
    const query = { ...place, issue_number: index, since, per_page: COMMENTS_PER_PAGE };
    return octokit.paginate(octokit.rest.issues.listComments, query, (page) => {
      // A page of another shape is not to pass for a thread without comments.
      expectStatus(page, 200);
      return [...expectList(page.data)];
    });
  },

  comment: ({ octokit }, { id, ...place }) => octokit.rest.issues.getComment({ ...place, comment_id: id }),

  editComment: ({ octokit }, { id, ...place }, body) =>
    octokit.rest.issues.updateComment({ ...place, comment_id: id, body }),

  deleteComment: ({ octokit }, { id, ...place }) =>
    octokit.rest.issues.deleteComment({ ...place, comment_id: id }),

  issue: ({ octokit }, { index, ...place }) => octokit.rest.issues.get({ ...place, issue_number: index }),

  closeIssue: ({ octokit }, { index, ...place }) =>
    octokit.rest.issues.update({ ...place, issue_number: index, state: 'closed' }),

  lookUp,
};
