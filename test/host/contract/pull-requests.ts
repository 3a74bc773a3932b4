/** Promises of every host about pull requests (`RepositoryHost`). */
import { describe, expect, it } from 'vitest';
import type { World } from './world.ts';

export function pullRequestsContract(world: () => World): void {
  describe('a pull request', () => {
    it('is opened, and found by its head alone', async () => {
      const { repositories } = world();
      const { name, head, pullRequest } = await world().proposed();
      expect(pullRequest).toMatchObject({ isOpen: true, base: 'main' });
      expect(pullRequest.url).toContain(`/${name.owner}/${name.name}/pull`);
      expect(await repositories.findPullRequest(name, head)).toEqual(pullRequest);
      expect(await repositories.findPullRequest(name, { ...head, branch: 'another' })).toBeNull();
    });

    it('is found by its number, if that is of its head', async () => {
      const { repositories } = world();
      const { name, head, number, pullRequest } = await world().proposed();
      const place = { owner: name.owner, repo: name.name, number };
      expect(await repositories.findPullRequest(name, head, place)).toEqual(pullRequest);
      for (const recorded of [
        { ...place, number: number + 1 },
        { ...place, repo: 'nothing' },
      ]) {
        expect(await repositories.findPullRequest(name, head, recorded)).toEqual(pullRequest);
        const other = { ...head, branch: 'another' };
        if (recorded.number !== number)
          expect(await repositories.findPullRequest(name, other, recorded)).toBeNull();
      }
    });

    it('is found only in the repository that was recorded, by the number of that', async () => {
      const { repositories } = world();
      const { name, head, number, pullRequest } = await world().proposed();
      const { id: repositoryId } = await repositories.repository(name);
      const place = { owner: name.owner, repo: 'renamed-since', number };
      const { id } = pullRequest;
      const recorded = { ...place, ...(id !== undefined && { id }) };
      const found = await repositories.findPullRequest(name, head, { ...recorded, repositoryId });
      expect(found).toEqual(pullRequest);
      const elsewhere = { ...recorded, repositoryId: repositoryId + 1 };
      expect(await repositories.findPullRequest(name, head, elsewhere)).toBeNull();
    });

    it('has its commits where its source says', async () => {
      const { transport } = world();
      const { pullRequest, repository } = await world().proposed();
      const { repository: name, refName } = pullRequest.source ?? expect.fail('it has no source');
      const { refs } = await transport.listRefs(name, [refName], 'bot');
      expect(refs).toMatchObject([{ name: refName }]);
      expect(refs[0]?.oid).not.toBe(await repository.upstream.tip());
    });

    it('gets another title, description and base', async () => {
      const { repository, name, head, number } = await world().proposed();
      await repository.upstream.grow({ branch: 'next', from: 'main' });
      const changes = { title: 'Another title', body: 'Another body', base: 'next' };
      await world().repositories.editPullRequest(name, number, changes, null);
      expect(await world().repositories.findPullRequest(name, head)).toMatchObject({ number, base: 'next' });
      expect(await world().host.textOf(name, number)).toBe('Another body');
    });

    it('is closed once, and still found', async () => {
      const { repositories } = world();
      const { name, head, number } = await world().proposed();
      const closed = await repositories.closePullRequest(name, number, null);
      expect(closed.kind === 'closed' && Date.parse(closed.at ?? '')).toBeGreaterThan(0);
      expect(await repositories.closePullRequest(name, number, null)).toEqual(closed);
      expect(await repositories.findPullRequest(name, head)).toMatchObject({ number, isOpen: false });
    });

    it('that was merged is not closed', async () => {
      const { repository, name, head, number } = await world().proposed();
      await repository.merge(number);
      expect(await world().repositories.findPullRequest(name, head)).toMatchObject({ isMerged: true });
      expect(await world().repositories.closePullRequest(name, number, null)).toEqual({ kind: 'merged' });
    });
  });
}
