/** A plan of commits that mention and replace nothing, made without giving way to others. */
import type { NewCommit } from '../../src/git/objects/found-commits.ts';
import { type Plan, PlannedCommits } from '../../src/git/objects/planned-commits.ts';

export function planned(pushed: readonly NewCommit[]): Plan {
  const commits = new PlannedCommits();
  const numbers = new Map(pushed.map(({ oid }, number) => [oid, number]));
  for (const { commit } of pushed) {
    const parents = commit.parents.map((parent) => numbers.get(parent) ?? parent);
    commits.push({ ...commit, parents, message: { bytes: commit.message, mentions: [] } });
  }
  return {
    commits,
    messages: pushed.map(({ commit }) => commit.message),
    planText: (bytes) => ({ bytes, mentions: [] }),
  };
}
