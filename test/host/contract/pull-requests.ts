/** What every host promises of pull requests (`RepositoryHost`). */
import { describe, expect, it } from 'vitest';
import { unique, type World } from './world.ts';

export function pullRequestsContract(world: () => World): void {
  describe('a pull request', () => {
    it('is opened, and found by its branch alone', async () => {
      const { repositories } = world();
      const { name, fork, head, pullRequest } = await world().proposed();
      expect(pullRequest).toMatchObject({ isOpen: true, base: 'main', fork });
      expect(pullRequest.url).toContain(`/${name.owner}/${name.name}/pull`);
      expect(await repositories.findPullRequest(name, head)).toEqual(pullRequest);
      expect(await repositories.findPullRequest(name, { fork, branch: 'another' })).toBeNull();
    });

    it('is found by its number, with its branch, also when that is gone', async () => {
      const { repositories } = world();
      const { name, fork, head, number, pullRequest } = await world().proposed();
      expect(pullRequest.branch).toBe(head.branch);
      expect(await repositories.pullRequest(name, number)).toEqual(pullRequest);
      expect(await repositories.pullRequest(name, number + 1)).toBeNull();
      expect(await repositories.pullRequest({ ...name, name: 'nothing' }, number)).toBeNull();
      await repositories.closePullRequest(name, number);
      await repositories.deleteBranch(fork, head.branch);
      expect(await repositories.pullRequest(name, number)).toMatchObject({
        number,
        branch: head.branch,
        isOpen: false,
      });
    });

    it('that is there already is taken for the new one', async () => {
      const { name, head, pullRequest } = await world().proposed();
      const request = { head, isDraft: false, base: 'main', title: 'Again', body: '' };
      expect(await world().repositories.openPullRequest(name, request)).toEqual(pullRequest);
    });

    it('from a branch that does not exist is refused, and nothing is open', async () => {
      const { repository, fork } = await world().forked();
      const head = { fork, branch: unique('nothing') };
      const request = { head, isDraft: false, base: 'main', title: 'None', body: '' };
      await expect(world().repositories.openPullRequest(repository.name, request)).rejects.toSatisfy(
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
      const request = { head: { fork, branch }, isDraft: false, base: 'main', title: 'T', body: '' };
      const { url } = await world().repositories.openPullRequest(repository.name, request);
      expect(url).toContain(`/${name}/`);
    });

    it('gets another title, description and base', async () => {
      const { repository, name, head, number } = await world().proposed();
      await repository.upstream.grow({ branch: 'next', from: 'main' });
      const changes = { title: 'Another title', body: 'Another body', base: 'next' };
      await world().repositories.editPullRequest(name, number, changes);
      expect(await world().repositories.findPullRequest(name, head)).toMatchObject({ number, base: 'next' });
      expect(await world().host.textOf(name, number)).toBe('Another body');
    });

    it('is closed once; the one of a deleted branch is still found', async () => {
      const { repositories } = world();
      const { name, fork, head, number } = await world().proposed();
      const closed = await repositories.closePullRequest(name, number);
      expect(closed.kind === 'closed' && Date.parse(closed.at ?? '')).toBeGreaterThan(0);
      expect(await repositories.closePullRequest(name, number)).toEqual(closed);
      await repositories.deleteBranch(fork, head.branch);
      expect(await repositories.findPullRequest(name, head)).toMatchObject({ number, isOpen: false });
    });

    it('that was merged is not closed', async () => {
      const { repository, name, number } = await world().proposed();
      await repository.merge(number);
      expect(await world().repositories.closePullRequest(name, number)).toEqual({ kind: 'merged' });
    });

    it('tells which submodules it changes', async () => {
      const { repository, fork } = await world().forked();
      const oid = 'c0ffee'.padEnd(40, '1');
      const branch = unique('anon');
      const file = ['M 100644 inline one-line.txt', 'data 5', 'line', ''];
      await world().pushWork(repository, fork, branch, [`M 160000 ${oid} vendor/a module`, ...file]);
      const request = { head: { fork, branch }, isDraft: false, base: 'main', title: 'T', body: '' };
      const { number } = await world().repositories.openPullRequest(repository.name, request);
      expect(await world().repositories.changedSubmodules(repository.name, number)).toEqual([
        { path: 'vendor/a module', oid },
      ]);
    });
  });
}
