/**
 * Jujutsu, which has bookmarks in place of branches and makes commits of whatever is in the work
 * tree. It pushes by the Git that is installed, and wants a recent one. Not built here: it takes a
 * quarter of an hour.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Person, PERSON_ZONE } from '../../e2e/support/person.ts';
import { neutralEnvironment, run } from '../../e2e/support/run.ts';
import type { ClientRun, GitClient, Prepared } from '../support/client.ts';

const ZONE = PERSON_ZONE.replace(/..$/, ':$&');
const ZONE_SECONDS = Number(PERSON_ZONE.slice(1, 3)) * 3600 + Number(PERSON_ZONE.slice(3)) * 60;

/** By itself jj leaves files of more than 1 MiB out. */
const ALLOW_LARGE_FILES = '--config=snapshot.max-new-file-size=0';

/** Runs jj with what it can be told of the person by its environment. */
export async function jj(person: Person, cwd: string, ...args: string[]): Promise<ClientRun> {
  const time = new Date((person.nextDate() + ZONE_SECONDS) * 1000).toISOString().slice(0, 19);
  const env = neutralEnvironment({
    HOME: person.home,
    JJ_USER: person.authorName,
    JJ_EMAIL: person.authorEmail,
    JJ_TIMESTAMP: `${time}${ZONE}`,
  });
  const { code, stdout, stderr } = await run('jj', args, { cwd, env });
  return { isOk: code === 0, output: `${stdout.toString()}${stderr}` };
}

/** One command after the other, as long as they succeed. */
async function inTurn(...steps: (() => Promise<ClientRun>)[]): Promise<ClientRun> {
  let output = '';
  for (const step of steps) {
    const done = await step();
    output += done.output;
    if (!done.isOk) return { isOk: false, output };
  }
  return { isOk: true, output };
}

/** The bookmark that goes along with the commits of a clone, as jj has no current one. */
const current = new Map<string, string>();
const bookmarkOf = (folder: string): string => current.get(folder) ?? 'main';

/** `-b`, `-t` or `--named`, for `refs/heads/<name>:refs/heads/<other>` and the like. */
function pushArgs(refspec: string): string[] {
  const [source = '', target = ''] = refspec
    .split(':')
    .map((ref) => ref.replace(/^refs\/(heads|tags)\//, ''));
  if (refspec.includes('refs/tags/')) return ['--tag', target];
  return source === '' || source === target ? ['--bookmark', target] : ['--named', `${target}=${source}`];
}

const client: Omit<GitClient, 'version'> = {
  name: 'jj',
  cannot: {
    'same-branch-again': 'it awaits the bookmark where it was pushed to',
    'refs/for': 'it pushes bookmarks and tags alone',
  },
  clone: (person, url, folder, depth) =>
    jj(person, person.home, 'git', 'clone', ...(depth === null ? [] : [`--depth=${depth}`]), url, folder),
  fetch: (person, folder) => jj(person, folder, 'git', 'fetch'),
  async switchTo(person, folder, branch) {
    const known = await jj(person, folder, 'bookmark', 'list', '--template=name ++ "\n"');
    current.set(folder, branch);
    return known.output.split('\n').includes(branch)
      ? jj(person, folder, 'new', branch)
      : jj(person, folder, 'bookmark', 'create', branch, '--revision=@-');
  },
  async commit(person, folder, { count = 1, message = 'Change something' }) {
    const bookmark = bookmarkOf(folder);
    let last: ClientRun = { isOk: true, output: '' };
    for (let index = 0; index < count && last.isOk; index++) {
      const line = count === 1 ? message : `${message} ${index + 1}`;
      appendFileSync(join(folder, `${bookmark}.log`), `${line}\n`);
      last = await jj(person, folder, 'commit', `--message=${line}`, ALLOW_LARGE_FILES);
    }
    return inTurn(
      () => Promise.resolve(last),
      () => jj(person, folder, 'bookmark', 'set', bookmark, '--revision=@-'),
    );
  },
  merge: (person, folder, branch) =>
    inTurn(
      () => jj(person, folder, 'new', bookmarkOf(folder), branch, `--message=Merge ${branch}`),
      () => jj(person, folder, 'bookmark', 'set', bookmarkOf(folder), '--revision=@'),
      () => jj(person, folder, 'new'),
    ),
  tag: (person, folder, name) => jj(person, folder, 'tag', 'set', name, '--revision=@-'),
  push: (person, folder, { refspecs, options = [] }) => {
    const deleted = refspecs
      .filter((refspec) => refspec.startsWith(':'))
      .flatMap((refspec) => pushArgs(refspec)[1] ?? []);
    const args = [...options.map((option) => `--option=${option}`), ...refspecs.flatMap(pushArgs)];
    return inTurn(
      ...deleted.map((bookmark) => () => jj(person, folder, 'bookmark', 'delete', bookmark)),
      () => jj(person, folder, 'git', 'push', ...args),
    );
  },
};

function versionOf(program: string): string {
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).replace(/^\D*/, '').trim();
}

function prepareJj(): Prepared {
  try {
    const version = versionOf('jj');
    const [major = 0, minor = 0] = versionOf('git').split('.').map(Number);
    if (major < 2 || (major === 2 && minor < 41)) {
      return { kind: 'missing', name: 'jj', reason: 'it wants Git 2.41 or newer' };
    }
    return { kind: 'ready', client: { ...client, version } };
  } catch {
    return { kind: 'missing', name: 'jj', reason: 'there is no jj on this machine' };
  }
}

export const jujutsu = prepareJj();
