/** Cases for every ledger, wherever it is kept. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Ledger, PullRequestEntry } from '../../../src/stats/ledger.ts';

export function pullRequestEntry(number: number, createdAt: string, repo = 'hello'): PullRequestEntry {
  return {
    host: 'gh',
    owner: 'octo',
    repo,
    prUrl: `https://host.test/octo/${repo}/pull/${number}`,
    createdAt,
  };
}

const DAY_1 = '2026-11-01T10:00:00.000Z';
const DAY_2 = '2026-11-02T10:00:00.123Z';
const DAY_3 = '2026-11-03T10:00:00.000Z';

/** @param openEmpty called before each test. */
export function describeLedger(where: string, openEmpty: () => Promise<Ledger>): void {
  describe(`the ledger in ${where}`, () => {
    let ledger: Ledger;
    beforeEach(async () => {
      ledger = await openEmpty();
    });

    it('is empty at first', async () => {
      expect(await ledger.totals()).toEqual({ pullRequests: 0, lastCreatedAt: null });
      expect(await ledger.recentPullRequests(10)).toEqual([]);
      expect(await ledger.pullRequestCount({ host: 'gh', owner: 'octo', repo: 'hello' })).toBe(0);
      expect(await ledger.karma('0123abcd')).toBeNull();
    });

    it('counts an entry that is delivered twice once', async () => {
      await ledger.recordPullRequest(pullRequestEntry(1, DAY_1));
      await ledger.recordPullRequest(pullRequestEntry(1, DAY_2));
      expect(await ledger.totals()).toEqual({ pullRequests: 1, lastCreatedAt: DAY_1 });
      expect(await ledger.pullRequestCount({ host: 'gh', owner: 'octo', repo: 'hello' })).toBe(1);
    });

    it('orders by the time of opening, also what is delivered late', async () => {
      await ledger.recordPullRequest(pullRequestEntry(2, DAY_2));
      await ledger.recordPullRequest(pullRequestEntry(3, DAY_3));
      await ledger.recordPullRequest(pullRequestEntry(1, DAY_1));
      const id = expect.any(Number) as number;
      expect(await ledger.recentPullRequests(2)).toEqual([
        { id, ...pullRequestEntry(3, DAY_3) },
        { id, ...pullRequestEntry(2, DAY_2) },
      ]);
      expect((await ledger.totals()).lastCreatedAt).toBe(DAY_3);
    });

    it('counts a repository by its name in any case', async () => {
      await ledger.recordPullRequest(pullRequestEntry(1, DAY_1, 'Hello'));
      await ledger.recordPullRequest(pullRequestEntry(2, DAY_1, 'hello'));
      await ledger.recordPullRequest(pullRequestEntry(3, DAY_1, 'other'));
      expect(await ledger.pullRequestCount({ host: 'gh', owner: 'OCTO', repo: 'HELLO' })).toBe(2);
    });

    it('sets karma, and does not add to it', async () => {
      await ledger.setKarma('0123abcd', 3);
      expect(await ledger.karma('0123abcd')).toBe(3);
      await ledger.setKarma('0123abcd', 0);
      expect(await ledger.karma('0123abcd')).toBe(0);
    });
  });
}
