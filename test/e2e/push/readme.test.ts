/**
 * Every command of README.md, as it stands there, by a person who only fills in what is in angle
 * brackets. The two commands at its top are run by test/local/first-minute.ts and `.ci/run`; those
 * of Cloudflare need an account, and test/local/deploy.test.ts runs them against a stand-in.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../../support/is-installed.ts';
import { useTestBed } from '../support/test-bed.ts';
import type { Person } from '../support/person.ts';
import type { Upstream } from '../support/upstream.ts';

const README = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
const BLOCKS = [...README.matchAll(/^```sh\n(.*?)^```/gms)].map(([, lines = '']) =>
  lines.trimEnd().split('\n'),
);
/** Commands within sentences, on one line. */
const INLINE = [...README.matchAll(/`((?:git push|git clone|curl|npm|npx) [^`]+)`/g)].map(
  ([, command = '']) => command.replaceAll(/\s+/g, ' '),
);

const bed = useTestBed();
let person: Person;
let upstream: Upstream;

/** Only what is in angle brackets is filled in. */
function filled(command: string, more: Readonly<Record<string, string>> = {}): string {
  const values = { service: bed.service.url, owner: upstream.owner, repo: upstream.name, ...more };
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`<${name}>`, value), command);
}

/** In a shell of the person's. Answers what it prints. */
async function typed(folder: string, command: string): Promise<string> {
  expect(command).not.toMatch(/<\w+>/);
  return (await person.mustRun('sh', folder, ['-c', `${command} 2>&1`])).toString();
}

beforeAll(async () => {
  person = bed.person();
  upstream = await bed.createUpstream();
});

it('has four blocks of commands, and no others that nobody has tried', () => {
  expect(BLOCKS.map(([first = '']) => first.split(' ')[0])).toEqual(['npm', 'git', 'git', 'curl']);
  expect(INLINE).toEqual([
    'npm start',
    'npm start',
    expect.stringMatching(/^git push <service>\S+ my-change$/),
    expect.stringMatching(/^git push -o pr-hash=<hash> <service>/),
    expect.stringMatching(/^git push -o withdraw -o pr-hash=<hash> -o pr-key=<key> <service>/),
    'npx wrangler login && npm run deploy',
    'npx wrangler secret put HOSTING_TOKEN',
  ]);
});

describe('with Git', () => {
  let clone: string;
  let printed: string;

  it('clones, commits and pushes', async () => {
    clone = person.home;
    for (const line of BLOCKS[1] ?? []) {
      if (line.startsWith('cd ')) {
        clone = join(clone, filled(line.slice('cd '.length)));
        continue;
      }
      if (line.startsWith('# Change a file')) {
        await typed(clone, 'git ls-files | head -n 1 | while read -r file; do echo more >> "$file"; done');
      }
      // Git would open an editor for the message.
      printed = await typed(clone, `GIT_EDITOR='sh -c "echo Say more > \\$1" -' ${filled(line)}`);
    }
    expect(printed).toContain('Your pull request is open.');
  });

  it('updates with the hash, and withdraws with hash and key', async () => {
    const [, hash = ''] = /PR hash: +(\S+)/.exec(printed) ?? [];
    const [, key = ''] = /[Kk]ey: +(\S+)/.exec(printed) ?? [];
    await typed(clone, 'echo still more > another.txt; git add . && git commit --quiet -m "Say still more"');
    const [update = '', withdraw = ''] = INLINE.filter((command) => command.includes('<hash>'));
    expect(await typed(clone, filled(update, { hash }))).toContain('Your pull request has been updated.');
    await typed(clone, filled(withdraw, { hash, key }));
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed']);
  });

  it('pushes from a clone that was there before', async () => {
    const there = await person.clone(upstream.url);
    await there.git('switch', '--quiet', '-c', 'my-branch');
    await there.commit();
    await there.git('branch', 'my-change');
    const push = INLINE.find((command) => command.startsWith('git push <service>')) ?? '';
    expect(await typed(there.path, filled(push))).toContain('Your pull request is open.');
  });
});

it.skipIf(!isInstalled('curl')).each(['bundle', 'patch'])('sends a %s with curl', async (door) => {
  const line = BLOCKS[2]?.find((command) => command.endsWith(`/${door}`)) ?? '';
  const clone = await person.clone(upstream.url);
  await clone.git('switch', '--quiet', '-c', `a-${door}`);
  await clone.commit();
  expect(await typed(clone.path, filled(line))).toContain('Your pull request is open.');
});

it.skipIf(!isInstalled('curl'))('comments and opens an issue with curl', async () => {
  for (let number = 1; number <= 7; number++) {
    bed.sandbox.maintainer.openIssue(upstream.owner, upstream.name, `Issue ${number}`, '');
  }
  const [comment = '', issue = ''] = (BLOCKS[3] ?? []).map((line) =>
    filled(line).replace('curl', 'curl --silent'),
  );
  expect(JSON.parse(await typed(person.home, comment))).toMatchObject({
    karma: 1,
    user_token: expect.any(String),
  });
  expect(JSON.parse(await typed(person.home, issue))).toMatchObject({ karma: 0, number: expect.any(Number) });
});
