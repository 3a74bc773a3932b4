/**
 * isomorphic-git, the Git of programs in browsers and in Node.js; a package of the project, so
 * always at hand.
 */
import * as fs from 'node:fs';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import * as isomorphicGit from 'isomorphic-git';
import http from 'isomorphic-git/http/node';
import { type Person, PERSON_ZONE } from '../../e2e/support/person.ts';
import type { ClientRun, GitClient } from '../support/client.ts';

/** As `Date.getTimezoneOffset` has it: minutes west of Greenwich. */
const ZONE_OFFSET = -(Number(PERSON_ZONE.slice(1, 3)) * 60 + Number(PERSON_ZONE.slice(3)));

/** Runs a verb; whatever it throws is what its user reads. */
async function told(verb: (say: (text: string) => void) => Promise<unknown>): Promise<ClientRun> {
  let said = '';
  try {
    await verb((text) => (said += text));
    return { isOk: true, output: remoteLines(said) };
  } catch (error) {
    const details = (error as { data?: { prettyDetails?: string } }).data?.prettyDetails ?? '';
    return { isOk: false, output: `${remoteLines(said)}${String(error)}\n${details}` };
  }
}

function remoteLines(said: string): string {
  return said.replaceAll(/^(?=.)/gm, 'remote: ');
}

function identities(person: Person) {
  const { authorName, authorEmail, committerName, committerEmail } = person;
  const at = () => ({ timestamp: person.nextDate(), timezoneOffset: ZONE_OFFSET });
  return {
    author: { name: authorName, email: authorEmail, ...at() },
    committer: { name: committerName, email: committerEmail, ...at() },
  };
}

async function branchOf(dir: string): Promise<string> {
  return (await isomorphicGit.currentBranch({ fs, dir })) ?? 'main';
}

async function addAll(dir: string): Promise<void> {
  for (const [filepath, , inWorkTree] of await isomorphicGit.statusMatrix({ fs, dir })) {
    if (inWorkTree === 2) await isomorphicGit.add({ fs, dir, filepath });
  }
}

export const client: GitClient = {
  name: 'isomorphic-git',
  version: isomorphicGit.version(),
  cannot: {
    'push-options': 'its push takes no options',
    'several-refs': 'it pushes one ref at a time',
  },
  clone: (person, url, dir, depth) =>
    told(() =>
      isomorphicGit.clone({
        fs,
        http,
        dir,
        url,
        headers: person.headers,
        ...(depth === null ? {} : { depth }),
      }),
    ),
  fetch: (person, dir) => told(() => isomorphicGit.fetch({ fs, http, dir, headers: person.headers })),
  switchTo: (_person, dir, ref) =>
    told(async () => {
      const branches = await isomorphicGit.listBranches({ fs, dir });
      if (!branches.includes(ref)) await isomorphicGit.branch({ fs, dir, ref });
      await isomorphicGit.checkout({ fs, dir, ref });
    }),
  commit: (person, dir, { count = 1, message = 'Change something' }) =>
    told(async () => {
      const log = join(dir, `${await branchOf(dir)}.log`);
      for (let index = 0; index < count; index++) {
        const line = count === 1 ? message : `${message} ${index + 1}`;
        appendFileSync(log, `${line}\n`);
        await addAll(dir);
        await isomorphicGit.commit({ fs, dir, message: `${line}\n`, ...identities(person) });
      }
    }),
  merge: (person, dir, theirs) =>
    told(async () => {
      const message = `Merge ${theirs}\n`;
      await isomorphicGit.merge({ fs, dir, theirs, fastForward: false, message, ...identities(person) });
      await isomorphicGit.checkout({ fs, dir, ref: await branchOf(dir) });
    }),
  tag: (person, dir, ref) =>
    told(() => {
      const { committer: tagger } = identities(person);
      return isomorphicGit.annotatedTag({ fs, dir, ref, message: `${ref}\n`, tagger });
    }),
  push: ({ headers }, dir, { refspecs: [refspec = ''] }) =>
    told((onMessage) => {
      const [ref = '', remoteRef = ''] = refspec.split(':');
      return isomorphicGit.push({ fs, http, dir, remote: 'origin', ref, remoteRef, headers, onMessage });
    }),
};
