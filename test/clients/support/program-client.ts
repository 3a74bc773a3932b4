/**
 * Clients that are programs of ours around a library (`test/clients/<name>`). All of them have the
 * same command line, so that this one file drives them:
 *
 *   clone <url> <folder> [<depth>]      switch <folder> <branch>       merge <folder> <branch>
 *   fetch <folder>                      commit <folder> <count> <message>   tag <folder> <name>
 *   push <folder> [-o <option>]... <refspec>...
 *
 * The person is in the environment: identities as Git has them, `COMMIT_TIME` in seconds since 1970
 * (ten more for each further commit), `COMMIT_ZONE_MINUTES` east of Greenwich, and `HTTP_HEADERS`,
 * one a line, for every request.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Person, PERSON_ZONE } from '../../e2e/support/person.ts';
import { neutralEnvironment, run } from '../../e2e/support/run.ts';
import type { ClientRun, GitClient } from './client.ts';

export interface ClientProgram extends Pick<GitClient, 'name' | 'version' | 'cannot'> {
  /**
   * Program and first arguments.
   * @param home folder of the person, which some runtimes want to be told.
   */
  command(home: string): readonly string[];
}

const ZONE_MINUTES = Number(PERSON_ZONE.slice(1, 3)) * 60 + Number(PERSON_ZONE.slice(3));
/** More than the dates of one call of `commit`, so that none is used twice. */
const MAX_COMMITS = 60;

export function programClient(program: ClientProgram): GitClient {
  const { name, version, cannot } = program;
  const perform = async (person: Person, ...args: string[]): Promise<ClientRun> => {
    const home = homeOf(person);
    const [file = '', ...first] = program.command(home);
    const { code, stdout, stderr } = await run(file, [...first, ...args], {
      cwd: home,
      env: environmentOf(person, home),
    });
    return { isOk: code === 0, output: `${stdout.toString()}${stderr}` };
  };
  return {
    name,
    version,
    cannot,
    clone: (person, url, folder, depth) =>
      perform(person, 'clone', url, folder, ...(depth === null ? [] : [String(depth)])),
    fetch: (person, folder) => perform(person, 'fetch', folder),
    switchTo: (person, folder, branch) => perform(person, 'switch', folder, branch),
    commit: (person, folder, { count = 1, message = 'Change something' }) =>
      perform(person, 'commit', folder, String(count), message),
    merge: (person, folder, branch) => perform(person, 'merge', folder, branch),
    tag: (person, folder, tag) => perform(person, 'tag', folder, tag),
    push: (person, folder, { refspecs, options = [] }) =>
      perform(person, 'push', folder, ...options.flatMap((option) => ['-o', option]), ...refspecs),
  };
}

/**
 * A home folder with the person's configuration, in which the client is not called git: libraries
 * read it, too.
 */
function homeOf(person: Person): string {
  const home = join(person.home, 'library');
  if (!existsSync(home)) {
    const configuration = readFileSync(join(person.home, '.gitconfig'), 'utf8');
    mkdirSync(home);
    writeFileSync(join(home, '.gitconfig'), configuration.replace(/^userAgent = .*\n/m, ''));
  }
  return home;
}

function environmentOf(person: Person, home: string): NodeJS.ProcessEnv {
  const time = person.nextDate();
  for (let used = 1; used < MAX_COMMITS; used++) person.nextDate();
  return neutralEnvironment({
    HOME: home,
    GIT_AUTHOR_NAME: person.authorName,
    GIT_AUTHOR_EMAIL: person.authorEmail,
    GIT_COMMITTER_NAME: person.committerName,
    GIT_COMMITTER_EMAIL: person.committerEmail,
    COMMIT_TIME: String(time),
    COMMIT_ZONE_MINUTES: String(ZONE_MINUTES),
    HTTP_HEADERS: Object.entries(person.headers)
      .map(([header, value]) => `${header}: ${value}`)
      .join('\n'),
  });
}
