/** Promises of every host about news of the bot's pull requests (`ActivityHost`). */
import type { Conversation } from '../../../src/host/code-host.ts';
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
      const { repository, name, head, number, pullRequest } = await world().proposed();
      // Its branch names it, or the host's own number.
      const named = pullRequest.id === undefined ? { branch: head.branch } : { id: pullRequest.id };
      const open = { number, authorId: id, ...named, mergedAt: null, closedAt: null };
      expect(await activity.pullRequest(name, number)).toMatchObject(open);
      await repository.merge(number);
      const merged = await activity.pullRequest(name, number);
      expect(merged).toMatchObject({ authorId: id, ...named });
      expect(Date.parse(merged?.mergedAt ?? '')).toBeGreaterThan(0);
      expect(Date.parse(merged?.closedAt ?? '')).toBeGreaterThan(0);
      expect(await activity.pullRequest(name, 4711)).toBeNull();
    });

    it('of what was said have comments and reviews, none of them twice', async () => {
      const { activity } = world();
      const { repository, name, number } = await world().proposed();
      await repository.comment(number, 'A remark');
      await repository.review(number, 'A review');
      const { remarks } = (await activity.remarks(name, number, Date.now() - HOUR_MS))!;
      expect(remarks.map(({ key, text }) => [key.replace(/\d+/, '1'), text])).toEqual([
        ['comment:1', 'A remark'],
        ['review:1', 'A review'],
      ]);
      expect(remarks.every(({ authorId, url, at }) => authorId !== null && url !== '' && at !== '')).toBe(
        true,
      );
      const nothing = { remarks: [], readTo: null, lines: [] };
      expect(await activity.remarks(name, number, Date.now() + HOUR_MS)).toEqual(nothing);
    });

    it('of what was said have remarks on lines apart, each with its author', async () => {
      const { activity } = world();
      const { repository, name, number, head } = await world().proposed();
      await repository.remark(number, `${head.branch}.txt`, 'About a line');
      const { remarks, lines } = (await activity.remarks(name, number, Date.now() - HOUR_MS))!;
      expect(remarks.map(({ key }) => key.replace(/\d+/, '1'))).toEqual(['review:1']);
      expect(lines).toMatchObject([
        { text: 'About a line', comment: { in: 'line', by: { login: name.owner } } },
      ]);
    });

    it('of what was said have all reviews, also where a page holds only some of them', async () => {
      const { activity, host } = world();
      const { repository, name, number } = await world().proposed();
      for (let count = 0; count <= host.pageSize; count++) await repository.review(number, 'A review');
      const { remarks } = (await activity.remarks(name, number, Date.now() - HOUR_MS))!;
      expect(new Set(remarks.map(({ key }) => key)).size).toBe(host.pageSize + 1);
    });
  });

  describe('a list of open threads', () => {
    it('has issues and pull requests, the newest first, and not what is closed', async () => {
      const { activity, threads } = world();
      const { repository, name, number } = await world().proposed();
      const issue = { title: 'An issue', body: 'About something', labels: [] };
      const opened = await threads.createIssue(name, issue);
      const closed = await threads.createIssue(name, issue);
      await threads.closeIssue(name, closed.number, null);
      const listed = await activity.newestThreads(name);
      const openedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
      expect(listed).toEqual([
        { number: opened.number, title: 'An issue', isPullRequest: false, openedAt },
        { number, title: 'A title', isPullRequest: true, openedAt },
      ]);
      expect(await activity.newestThreads({ ...repository.name, name: 'nothing' })).toBeNull();
    });

    it('has what an account has opened there, since a moment', async () => {
      const { activity, repositories, threads } = world();
      const { repository, name, number } = await world().proposed();
      const issue = { title: 'An issue', body: 'About something', labels: [] };
      const opened = await threads.createIssue(name, issue);
      const { login } = await repositories.account();
      const touched = await activity.touchedBy(name, login, Date.now() - HOUR_MS);
      const kinds = new Map(touched.map((thread) => [thread.number, thread.isIssue]));
      expect(kinds).toEqual(
        new Map([
          [number, false],
          [opened.number, true],
        ]),
      );
      expect(touched.every(({ updatedAt }) => Math.abs(Date.now() - updatedAt) < HOUR_MS)).toBe(true);
      expect(await activity.touchedBy(name, login, Date.now() + HOUR_MS)).toEqual([]);
      expect(await activity.touchedBy(name, repository.name.owner, 0)).toEqual([]);
      expect(await activity.touchedBy({ ...name, name: 'nothing' }, login, 0)).toEqual([]);
    });

    it('is the beginning of a long one, for one page', async () => {
      const { repository, number } = await world().withIssue();
      for (let count = 1; count <= 34; count++)
        await world().threads.createIssue(repository.name, {
          title: `Issue ${count}`,
          body: 'x',
          labels: [],
        });
      const listed = await world().activity.newestThreads(repository.name);
      const length = Math.min(30, world().host.pageSize);
      const newest = Array.from({ length }, (_, index) => number + 34 - index);
      expect(listed?.map((thread) => thread.number)).toEqual(newest);
    });
  });

  describe('a conversation', () => {
    it('of a pull request has its description, comments, reviews and remarks, the newest first', async () => {
      const { repository, name, number, head } = await world().proposed();
      await repository.comment(number, 'A comment');
      await repository.review(number, 'A review');
      await repository.remark(number, `${head.branch}.txt`, 'A remark');
      const said = (await world().activity.conversation(name, number)) as Conversation | null;
      expect(said).toMatchObject({ title: 'A title', state: 'open', isLocked: false });
      const byText = (text: string) => said?.comments.find((comment) => comment.text === text);
      expect(said?.comments).toHaveLength(3);
      expect(byText('A comment')).toMatchObject({ author: name.owner, path: null });
      expect(byText('A review')).toMatchObject({ author: name.owner, path: null });
      expect(byText('A remark')).toMatchObject({ author: name.owner, path: `${head.branch}.txt` });
      const description = { text: 'A body\n\n---\n*by the bot*', author: world().host.botLogin };
      expect(said).toMatchObject({ description, hasEarlier: false });
      const times = said?.comments.map(({ at }) => Date.parse(at)) ?? [];
      expect(times).toEqual(times.toSorted((a, b) => b - a));
      await repository.merge(number);
      expect(await world().activity.conversation(name, number)).toMatchObject({ state: 'merged' });
    });

    it('of an issue says that it is locked, and one that is missing is null', async () => {
      const { repository, number } = await world().withIssue();
      await repository.lock(number);
      const said = (await world().activity.conversation(repository.name, number)) as Conversation | null;
      expect(said).toMatchObject({ title: 'An issue', state: 'open', isLocked: true });
      expect(said).toMatchObject({ description: { text: 'About something' }, comments: [] });
      expect(await world().activity.conversation(repository.name, 4711)).toBeNull();
      const nowhere = { ...repository.name, name: 'nothing' };
      expect(await world().activity.conversation(nowhere, 1)).toBeNull();
    });

    it('that is long has its description and the newest comments, for a few calls', async () => {
      const { repository, number } = await world().withIssue();
      for (let count = 1; count <= 203; count++) await repository.comment(number, `Comment ${count}`);
      const said = (await world().activity.conversation(repository.name, number)) as Conversation | null;
      const newest = Array.from({ length: 50 }, (_, index) => `Comment ${203 - index}`);
      expect(said?.comments.map(({ text }) => text)).toEqual(newest);
      expect(said).toMatchObject({ description: { text: 'About something' }, hasEarlier: true });
    });
  });
}
