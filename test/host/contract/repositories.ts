/** What every host promises of repositories and forks (`RepositoryHost`). One case for each row, and its refusals. */
import { describe, expect, it } from 'vitest';
import type { ContractRepository } from './contract-host.ts';
import { unique, type World } from './world.ts';

const MISSING = { owner: 'nobody-has-this-name', name: 'nothing' };

const branchOf = async (repository: ContractRepository, name = 'main') => ({
  repository: repository.name,
  name,
  tip: await repository.upstream.tip(name),
});

export function repositoriesContract(world: () => World): void {
  describe('repositories', () => {
    it('the account is the bot’s', async () => {
      const account = await world().repositories.account();
      expect(account.login).toBe(world().host.botLogin);
      expect(account.id).toBeGreaterThan(0);
    });

    it('a repository is found, also under a former name; a private one is called so; another is missing', async () => {
      const { repositories, host } = world();
      const repository = await host.createRepository();
      const { name } = repository;
      const found = await repositories.repository(name);
      expect(found).toMatchObject({ ...name, isPrivate: false, isArchived: false });
      const newName = unique('renamed');
      await repository.rename(newName);
      expect(await repositories.repository(name)).toEqual({ ...found, name: newName });
      await expect(repositories.repository(MISSING)).rejects.toMatchObject({ code: 'missing' });
    });

    it('a file is read at the default branch’s tip; a folder is unreadable; none is missing', async () => {
      const { repositories, host } = world();
      const { name, upstream } = await host.createRepository();
      await upstream.grow({ files: { '.gitveil.yml': 'accept: true\n', 'folder/ä b.txt': 'x' } });
      const answer = await repositories.file(name, '.gitveil.yml');
      expect(answer.kind === 'file' && Buffer.from(answer.content).toString()).toBe('accept: true\n');
      expect(await repositories.file(name, 'folder/ä b.txt')).toMatchObject({ kind: 'file' });
      expect(await repositories.file(name, 'folder')).toEqual({ kind: 'unreadable' });
      expect(await repositories.file(name, 'nothing')).toEqual({ kind: 'missing' });
      expect(await repositories.file(MISSING, 'nothing')).toEqual({ kind: 'missing' });
    });

    it('a fork is made once, and has what upstream has', async () => {
      const { repositories, host } = world();
      const { repository, fork } = await world().forked();
      expect(fork.owner).toBe(host.botLogin);
      expect((await world().objectsOf(fork)).get('main')).toBe(await repository.upstream.tip());
      const again = await repositories.fork(await repositories.repository(repository.name));
      expect(again).toEqual(fork);
    });

    it('a fork has another name where the bot has a repository of that name', async () => {
      const { repositories, host } = world();
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
        await world().repositories.syncBranch(fork, branch);
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
      await world().repositories.syncBranch(fork, branch);
      expect((await world().objectsOf(fork)).get('main')).toBe(branch.tip);
    });

    it('are added where the fork lacks them, as often as one asks', async () => {
      const { repository, fork } = await world().forked();
      const ground = await repository.upstream.tip();
      await repository.upstream.grow({ branch: 'release/1.0', from: 'main', count: 2 });
      const branch = await branchOf(repository, 'release/1.0');
      for (let time = 0; time < 2; time++) {
        await world().repositories.addBranch(fork, branch, ground);
        expect((await world().objectsOf(fork)).get('release/1.0')).toBe(branch.tip);
      }
    });

    it('are deleted; one that is not there is refused or missing', async () => {
      const { repository, fork } = await world().forked();
      const branch = `anon/${unique('work')}`;
      await world().pushWork(repository, fork, branch);
      await world().repositories.deleteBranch(fork, branch);
      expect((await world().objectsOf(fork)).has(branch)).toBe(false);
      await expect(world().repositories.deleteBranch(fork, branch)).rejects.toSatisfy(
        (error: { code: string }) => error.code === 'missing' || error.code === 'refused',
      );
    });
  });
}
