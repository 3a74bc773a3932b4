/** How GitHub is asked for what the bot writes on threads. */
import type { ThreadDialect } from '../rest/threads.ts';
import { GITHUB_READS } from './reads.ts';

export const GITHUB_THREADS: ThreadDialect = {
  ...GITHUB_READS,

  createComment: ({ octokit }, { index, ...place }, body) =>
    octokit.rest.issues.createComment({ ...place, issue_number: index, body }),

  createIssue: ({ octokit }, place, { title, body, labels }) =>
    octokit.rest.issues.create({ ...place, title, body, labels: [...labels] }),

  comment: ({ octokit }, { id, ...place }) => octokit.rest.issues.getComment({ ...place, comment_id: id }),

  editComment: ({ octokit }, { id, ...place }, body) =>
    octokit.rest.issues.updateComment({ ...place, comment_id: id, body }),

  deleteComment: ({ octokit }, { id, ...place }) =>
    octokit.rest.issues.deleteComment({ ...place, comment_id: id }),

  issue: ({ octokit }, { index, ...place }) => octokit.rest.issues.get({ ...place, issue_number: index }),

  closeIssue: ({ octokit }, { index, ...place }) =>
    octokit.rest.issues.update({ ...place, issue_number: index, state: 'closed' }),
};
