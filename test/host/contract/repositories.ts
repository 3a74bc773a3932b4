/**
 * Promises of every host about repositories (`RepositoryHost`). One case for each row, and its
 * refusals.
 */
import { describe, expect, it } from 'vitest';
import { unique, type World } from './world.ts';

const MISSING = { owner: 'nobody-has-this-name', name: 'nothing' };

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
  });
}
