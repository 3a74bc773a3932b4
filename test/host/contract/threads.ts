/** Promises of every host about comments and issues (`ThreadHost`). */
import { describe, expect, it } from 'vitest';
import { HostError } from '../../../src/words/host-error.ts';
import { unique, type World } from './world.ts';

const TEXT = 'A comment\n\n---\nanon-12345678 · karma (1) · [report](https://veil.example/)';
const DAY_MS = 24 * 60 * 60 * 1000;

export function threadsContract(world: () => World): void {
  describe('a comment', () => {
    it('is posted on an issue, and found among the bot’s own', async () => {
      const { threads } = world();
      const { repository, number } = await world().withIssue();
      await repository.comment(number, 'Not the bot’s');
      const posted = await threads.createComment(repository.name, number, TEXT);
      expect(posted.url).toContain(String(number));
      const since = Date.now() - DAY_MS;
      expect(await threads.ownComments(repository.name, number, since)).toEqual([{ ...posted, text: TEXT }]);
      expect(await threads.ownComments(repository.name, number, Date.now() + DAY_MS)).toEqual([]);
    });

    it('is posted on a pull request, and under the present name of a renamed repository', async () => {
      const { repository, name, number } = await world().proposed();
      await world().threads.createComment(name, number, TEXT);
      const newName = unique('renamed');
      await repository.rename(newName);
      const posted = await world().threads.createComment(name, number, TEXT);
      expect(posted.url).toContain(`/${newName}/`);
    });

    it.each(['issue', 'repository'])('on a missing %s is definitely not there', async (what) => {
      const { name } = await world().host.createRepository();
      const missing = what === 'issue' ? name : { ...name, name: 'nothing' };
      const error = await world()
        .threads.createComment(missing, 4711, TEXT)
        .catch((caught: unknown) => caught as HostError);
      expect(error).toBeInstanceOf(HostError);
      expect((error as HostError).failure).toMatchObject({ effect: 'none', status: 404 });
    });

    it('is edited and deleted; one that is gone is no error', async () => {
      const { threads } = world();
      const { repository, number } = await world().withIssue();
      const { id } = await threads.createComment(repository.name, number, TEXT);
      await threads.editComment(repository.name, id, () => null, null);
      await threads.editComment(repository.name, id, (text) => text.replace('karma (1)', 'karma (0)'), null);
      const [changed] = await threads.ownComments(repository.name, number, Date.now() - DAY_MS);
      expect(changed?.text).toBe(TEXT.replace('karma (1)', 'karma (0)'));
      for (let time = 0; time < 2; time++) await threads.deleteComment(repository.name, id, null);
      expect(await threads.ownComments(repository.name, number, Date.now() - DAY_MS)).toEqual([]);
      await threads.editComment(repository.name, id, () => 'never written', null);
    });
  });

  describe('an issue', () => {
    it('is opened; labels that the bot may not set, or that do not exist, are left out', async () => {
      const { name } = await world().host.createRepository();
      const issue = {
        title: 'A title',
        body: 'A body\n\n---\n*by the bot*',
        labels: ['bug', 'no such label'],
      };
      const posted = await world().threads.createIssue(name, issue);
      expect(posted.url).toContain(`/issues/${posted.number}`);
      expect(await world().host.textOf(name, posted.number)).toBe(issue.body);
    });

    it('is closed, also twice; one that is gone is no error', async () => {
      const { threads, host, activity } = world();
      const { name } = await host.createRepository();
      const { number } = await threads.createIssue(name, { title: 'T', body: 'B', labels: [] });
      for (let time = 0; time < 2; time++) await threads.closeIssue(name, number, null);
      expect(await activity.conversation(name, number)).toMatchObject({ state: 'closed' });
      await threads.closeIssue(name, 4711, null);
    });

    it('in a missing repository is refused', async () => {
      const { name } = await world().host.createRepository();
      const issue = { title: 'T', body: 'B', labels: ['bug'] };
      const create = world().threads.createIssue({ ...name, name: 'nothing' }, issue);
      const error = await create.catch((caught: unknown) => caught as HostError);
      expect((error as HostError).failure).toMatchObject({ effect: 'none', status: 404 });
    });
  });
}
