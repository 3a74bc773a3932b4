/** What every host promises of news about the bot's pull requests (`ActivityHost`). */
import { describe, expect, it } from 'vitest';
import type { World } from './world.ts';

const HOUR_MS = 60 * 60 * 1000;

export function activityContract(world: () => World): void {
  describe('news', () => {
    it('of the account say who it is', async () => {
      expect(await world().activity.account()).toEqual(await world().repositories.account());
    });

    it('name a pull request that somebody comments on', async () => {
      const { activity } = world();
      const { repository, name, number } = await world().proposed();
      await repository.comment(number, 'Thank you');
      await expect
        .poll(async () => {
          const { threads } = await activity.feed(Date.now() - HOUR_MS, null, () => false);
          return threads?.find((thread) => thread.repository.name === name.name);
        })
        .toMatchObject({ repository: name, number });
      const { pollIntervalMs } = await activity.feed(Date.now() - HOUR_MS, null, () => false);
      expect(pollIntervalMs).toBeGreaterThanOrEqual(60_000);
    });

    it('of a pull request say whose it is, and how it stands', async () => {
      const { activity, repositories } = world();
      const { id } = await repositories.account();
      const { repository, name, fork, head, number } = await world().proposed();
      const open = { number, authorId: id, branch: head.branch, mergedAt: null, closedAt: null };
      expect(await activity.pullRequest(name, number)).toMatchObject(open);
      await repository.merge(number);
      await repositories.deleteBranch(fork, head.branch);
      const merged = await activity.pullRequest(name, number);
      expect(merged).toMatchObject({ authorId: id, branch: head.branch });
      expect(Date.parse(merged?.mergedAt ?? '')).toBeGreaterThan(0);
      expect(Date.parse(merged?.closedAt ?? '')).toBeGreaterThan(0);
      expect(await activity.pullRequest(name, 4711)).toBeNull();
    });

    it('of what was said have comments and reviews, none of them twice', async () => {
      const { activity } = world();
      const { repository, name, number } = await world().proposed();
      await repository.comment(number, 'A remark');
      await repository.review(number, 'A review');
      const remarks = await activity.remarks(name, number, Date.now() - HOUR_MS);
      expect(remarks?.map(({ key, text }) => [key.replace(/\d+/, '1'), text])).toEqual([
        ['comment:1', 'A remark'],
        ['review:1', 'A review'],
      ]);
      expect(remarks?.every(({ authorId, url, at }) => authorId !== null && url !== '' && at !== '')).toBe(
        true,
      );
      expect(await activity.remarks(name, number, Date.now() + HOUR_MS)).toEqual([]);
    });

    it('of what was said have all reviews, also where a page holds only some of them', async () => {
      const { activity, host } = world();
      const { repository, name, number } = await world().proposed();
      for (let count = 0; count <= host.pageSize; count++) await repository.review(number, 'A review');
      const remarks = await activity.remarks(name, number, Date.now() - HOUR_MS);
      expect(new Set(remarks?.map(({ key }) => key)).size).toBe(host.pageSize + 1);
    });
  });
}
