/** Promises of a host where pull requests come from the bot's forks (`ForkHost`). */
import { describe, expect, it } from 'vitest';
import type { ContractRepository } from './contract-host.ts';
import { unique, type World } from './world.ts';

const branchOf = async (repository: ContractRepository, name = 'main') => ({
  repository: repository.name,
  name,
  tip: await repository.upstream.tip(name),
});

export function forksContract(world: () => World): void {
  describe('a fork', () => {
    it('is made once, and has what upstream has', async () => {
      const { forks: repositories, host } = world();
      const { repository, fork } = await world().forked();
      expect(fork.owner).toBe(host.botLogin);
      expect((await world().objectsOf(fork)).get('main')).toBe(await repository.upstream.tip());
      const again = await repositories.fork(await repositories.repository(repository.name));
      expect(again).toEqual(fork);
    });

    it('has another name where the bot has a repository of that name', async () => {
      const { forks: repositories, host } = world();
      const one = await host.createRepository();
      const other = await host.createRepository({ owner: 'other', name: one.name.name });
      const first = await repositories.fork(await repositories.repository(one.name));
      const second = await repositories.fork(await repositories.repository(other.name));
      expect(second).not.toEqual(first);
      expect((await world().objectsOf(second)).get('main')).toBe(await other.upstream.tip());
      expect(await repositories.fork(await repositories.repository(other.name))).toEqual(second);
    });
  });

  describe('branches of the fork', () => {
    it('follow upstream, as often as one asks', async () => {
      const { repository, fork } = await world().forked();
      await repository.upstream.grow({ count: 3 });
      const branch = await branchOf(repository);
      for (let time = 0; time < 2; time++) {
        await world().forks.syncBranch(fork, branch);
        expect((await world().objectsOf(fork)).get('main')).toBe(branch.tip);
      }
    });

    it.each([
      ['some commits', 'main~2'],
      ['its whole history', null],
    ])('follow an upstream that has replaced %s', async (_, from) => {
      const { repository, fork } = await world().forked();
      const { upstream } = repository;
      const kept = from === null ? null : await upstream.git('rev-parse', from);
      await upstream.grow({ count: 2, from: kept });
      const branch = await branchOf(repository);
      await world().forks.syncBranch(fork, branch);
      expect((await world().objectsOf(fork)).get('main')).toBe(branch.tip);
    });

    it('are added where the fork lacks them, as often as one asks', async () => {
      const { repository, fork } = await world().forked();
      const boundary = await repository.upstream.tip();
      await repository.upstream.grow({ branch: 'release/1.0', from: 'main', count: 2 });
      const branch = await branchOf(repository, 'release/1.0');
      for (let time = 0; time < 2; time++) {
        await world().forks.addBranch(fork, branch, boundary);
        expect((await world().objectsOf(fork)).get('release/1.0')).toBe(branch.tip);
      }
    });

    it('are deleted; one that is not there is refused or missing', async () => {
      const { repository, fork } = await world().forked();
      const branch = `anon/${unique('work')}`;
      await world().pushWork(repository, fork, branch);
      await world().forks.deleteBranch(fork, branch);
      expect((await world().objectsOf(fork)).has(branch)).toBe(false);
      await expect(world().forks.deleteBranch(fork, branch)).rejects.toSatisfy(
        (error: { code: string }) => error.code === 'missing' || error.code === 'refused',
      );
    });
  });

  describe('a pull request from a fork', () => {
    it('that is there already is taken for the new one', async () => {
      const { name, head, pullRequest } = await world().proposed();
      const request = { head, isDraft: false, base: 'main', title: 'Again', body: '' };
      expect(await world().forks.openPullRequest(name, request)).toEqual(pullRequest);
    });

    it('from a branch that does not exist is refused, and nothing is open', async () => {
      const { repository } = await world().forked();
      const head = { owner: world().host.botLogin, branch: unique('nothing') };
      const request = { head, isDraft: false, base: 'main', title: 'None', body: '' };
      await expect(world().forks.openPullRequest(repository.name, request)).rejects.toSatisfy(
        (error: { code: string }) => error.code === 'missing' || error.code === 'refused',
      );
      expect(await world().repositories.findPullRequest(repository.name, head)).toBeNull();
    });

    it('is opened under the present name of a renamed repository', async () => {
      const { repository, fork } = await world().forked();
      const branch = unique('anon');
      await world().pushWork(repository, fork, branch);
      const name = unique('renamed');
      await repository.rename(name);
      const head = { owner: fork.owner, branch };
      const request = { head, isDraft: false, base: 'main', title: 'T', body: '' };
      const { url } = await world().forks.openPullRequest(repository.name, request);
      expect(url).toContain(`/${name}/`);
    });

    it('is found when its branch is gone, and its source is then the branch that was', async () => {
      const { forks } = world();
      const { name, head, number, pullRequest } = await world().proposed();
      const refName = `refs/heads/${head.branch}`;
      expect(pullRequest.source?.refName).toBe(refName);
      await forks.closePullRequest(name, number, null);
      await forks.deleteBranch(pullRequest.source?.repository ?? name, head.branch);
      const place = { owner: name.owner, repo: name.name, number };
      for (const recorded of [place, null]) {
        expect(await forks.findPullRequest(name, head, recorded)).toMatchObject({ number, isOpen: false });
      }
      expect(await world().activity.pullRequest(name, number)).toMatchObject({ branch: head.branch });
    });
  });
}
