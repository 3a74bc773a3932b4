/** Deletes a repository, once it is clear that the caller may do that. */
import { rmSync } from 'node:fs';
import { mustRunGit } from './git-command.ts';
import type { Host } from './host.ts';
import type { Repository } from './records.ts';

/**
 * Deletes the repository. As on GitHub, the pull requests from its branches stay, with their
 * commits, which upstream keeps as `refs/pull/<number>/head`.
 */
export async function deleteRepository(host: Host, deleted: Repository): Promise<void> {
  for (const repository of host.store.records.repositories) {
    for (const { number, pull } of repository.issues) {
      if (pull?.headRepositoryId !== deleted.id) continue;
      const refspec = `+${pull.headSha}:refs/pull/${number}/head`;
      await mustRunGit(host.pathOf(repository), ['fetch', '--quiet', host.pathOf(deleted), refspec]);
    }
  }
  host.store.removeRepository(deleted);
  rmSync(host.pathOf(deleted), { recursive: true, force: true });
}
