/** Git as it is installed on this machine, and an old one. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRun, Person } from '../../e2e/support/person.ts';
import { prepare } from '../support/cache.ts';
import type { ClientRun, GitClient } from '../support/client.ts';

function runOf({ code, stdout, stderr }: GitRun): ClientRun {
  return { isOk: code === 0, output: stdout + stderr };
}

function currentBranch(folder: string): string {
  return readFileSync(join(folder, '.git/HEAD'), 'utf8').trim().replace('ref: refs/heads/', '');
}

/** @param programFolder null: the program is in `PATH`. */
function gitClient(version: string, programFolder: string | null): GitClient {
  const env = programFolder === null ? {} : { PATH: `${programFolder}:${process.env['PATH']}` };
  const perform = async (person: Person, cwd: string, ...args: string[]): Promise<ClientRun> =>
    runOf(await person.git(cwd, args, { env }));
  return {
    name: 'git',
    version,
    cannot: {},
    clone: (person, url, folder, depth) =>
      perform(person, person.home, 'clone', ...(depth === null ? [] : [`--depth=${depth}`]), url, folder),
    fetch: (person, folder) => perform(person, folder, 'fetch'),
    async switchTo(person, folder, branch) {
      const exists = await perform(
        person,
        folder,
        'rev-parse',
        '--verify',
        '--quiet',
        `refs/heads/${branch}`,
      );
      return perform(person, folder, 'switch', ...(exists.isOk ? [] : ['--create']), branch);
    },
    async commit(person, folder, { count = 1, message = 'Change something' }) {
      let last: ClientRun = { isOk: true, output: '' };
      for (let index = 0; index < count && last.isOk; index++) {
        const line = count === 1 ? message : `${message} ${index + 1}`;
        appendFileSync(join(folder, `${currentBranch(folder)}.log`), `${line}\n`);
        const added = await perform(person, folder, 'add', '--all');
        last = added.isOk ? await perform(person, folder, 'commit', `--message=${line}`) : added;
      }
      return last;
    },
    merge: (person, folder, branch) =>
      perform(person, folder, 'merge', '--no-ff', `--message=Merge ${branch}`, branch),
    tag: (person, folder, name) => perform(person, folder, 'tag', '--annotate', `--message=${name}`, name),
    async push(person, folder, { refspecs, options = [] }) {
      const args = ['push', ...options.map((option) => `--push-option=${option}`), 'origin', ...refspecs];
      // A fetch is relayed with the name of the client in it; a push may not tell even that.
      return runOf(await person.git(folder, args, { env: { ...env, GIT_USER_AGENT: person.userAgent } }));
    },
  };
}

const installed = execFileSync('git', ['--version'], { encoding: 'utf8' }).trim().replace('git version ', '');
export const git = gitClient(installed, null);

const BULLSEYE = join(import.meta.dirname, 'bullseye.sh');

/**
 * The Git of Debian 11. Like all from 2.28 to 2.31, it sends `object-format` before the command of
 * a fetch.
 */
export const oldGit = await prepare({
  name: 'git 2.30',
  sources: [BULLSEYE],
  steps: (folder) => [['sh', BULLSEYE, folder]],
  client: (folder) => gitClient('2.30', join(folder, 'bin')),
});
