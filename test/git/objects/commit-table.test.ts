/** A listed history in few arrays answers as one of objects would. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ListedCommit, SEVERAL_TIPS } from '../../../src/git/objects/commit-table.ts';
import { oidNumber, tableOf } from '../../support/objects.ts';
import { runs } from '../../support/runs.ts';
import { exhaustive } from '../../support/exhaustive.ts';

/** Commits 0 to n, each with parents of higher numbers, some of which are missing. */
const histories = fc.array(
  fc.record({ parents: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }), committedAt: fc.nat(50) }),
  { maxLength: 30 },
);

function commitsOf(history: readonly { parents: readonly number[]; committedAt: number }[]): ListedCommit[] {
  return history.map(({ parents, committedAt }, index) => ({
    oid: oidNumber(index),
    parents: parents.map((distance) => oidNumber(index + distance)),
    committedAt,
  }));
}

function reached(tip: string, commits: readonly ListedCommit[]): Set<string> {
  const found = new Set<string>();
  const visit = (oid: string): void => {
    const commit = commits.find((listed) => listed.oid === oid);
    if (commit === undefined || found.has(oid)) return;
    found.add(oid);
    commit.parents.forEach(visit);
  };
  visit(tip);
  return found;
}

describe('CommitTable', () => {
  it('answers as objects would, in whatever order the commits come', () => {
    fc.assert(
      fc.property(histories, fc.boolean(), (history, isReversed) => {
        const commits = commitsOf(history);
        const table = tableOf(isReversed ? commits.toReversed() : commits);
        expect(table.size).toBe(commits.length);
        expect(table.newestAt).toBe(Math.max(...commits.map(({ committedAt }) => committedAt)));
        expect(table.oldestAt).toBe(Math.min(...commits.map(({ committedAt }) => committedAt)));
        const dates = new Map(commits.map(({ oid, committedAt }) => [oid, committedAt]));
        const newestFirst = table.newestFirst();
        expect(newestFirst.toSorted()).toEqual([...dates.keys()].toSorted());
        expect(newestFirst.map((oid) => dates.get(oid))).toEqual(
          [...dates.values()].toSorted((a, b) => b - a),
        );
        const parents = new Set(commits.flatMap((commit) => commit.parents));
        expect([...table.missingParents()].toSorted()).toEqual(
          [...parents].filter((oid) => !dates.has(oid)).toSorted(),
        );
        const [first, second] = [oidNumber(0), oidNumber(2)].map((tip) => reached(tip, commits));
        const indexOf = (oid: string) => (first?.has(oid) ? (second?.has(oid) ? SEVERAL_TIPS : 0) : 1);
        expect(table.reachedFrom([oidNumber(0), oidNumber(2)])).toEqual(
          new Map([...(second ?? []), ...(first ?? [])].map((oid) => [oid, indexOf(oid)])),
        );
      }),
      runs(35),
    );
  });

  it('leaves out a commit that comes twice', () => {
    const commit = { oid: oidNumber(1), parents: [oidNumber(2)], committedAt: 5 };
    const table = tableOf([commit, { ...commit, committedAt: 6 }]);
    expect([table.size, table.newestAt]).toEqual([1, 5]);
  });

  it('walks a line deeper than any stack', exhaustive, () => {
    const commits = commitsOf(Array.from({ length: 30_000 }, () => ({ parents: [1], committedAt: 0 })));
    expect(tableOf(commits).reachedFrom([oidNumber(0)]).size).toBe(30_000);
  });
});
