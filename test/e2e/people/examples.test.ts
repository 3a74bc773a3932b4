/** The scripts of examples/, as a newcomer runs them. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isInstalled } from '../../support/is-installed.ts';
import { contribute } from '../support/contribution.ts';
import { useTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';

const bed = useTestBed();
const lacksItsPrograms = !['curl', 'jq', 'openssl'].every(isInstalled);

/** Answers what it prints. */
async function run(script: string, ...args: string[]): Promise<string> {
  const person = bed.person();
  const file = join(import.meta.dirname, '../../../examples', script);
  return (await person.mustRun('bash', person.home, [file, ...args])).toString();
}

it.each(['pull-request.sh', 'comment.sh', 'issue.sh', 'patch.sh'])(
  '%s says without arguments how it is called',
  async (script) => {
    await expect(run(script)).rejects.toThrow(`usage: ${script} <service> <owner>/<repo>`);
  },
);

it('pull-request.sh opens a pull request and updates it', async () => {
  const upstream = await bed.createUpstream();
  const printed = await run('pull-request.sh', bed.service.url, `${upstream.owner}/${upstream.name}`);
  const [pull, ...more] = await bed.host.pulls(upstream);
  expect(more).toEqual([]);
  expect(pull).toMatchObject({ state: 'open', title: 'Greet in the morning' });
  const [, page = ''] = /^Follow it: (.*)$/m.exec(printed) ?? [];
  const shown = async () => (await fetch(page, { headers: { Accept: 'text/plain' } })).text();
  await expect.poll(shown).toContain('Updated: 1 commit added');
});

it.skipIf(!isInstalled('curl')).each(['bundle', 'patch'])('patch.sh sends a %s', async (door) => {
  const { upstream, person, clone } = await contribute(bed);
  await clone.commit({ message: 'Sent in a file\n' });
  await clone.git('remote', 'set-head', 'origin', 'main');
  const file = join(import.meta.dirname, '../../../examples/patch.sh');
  const args = [file, bed.service.url, upstream.fullName, door];
  const printed = (await person.mustRun('bash', clone.path, args)).toString();
  const pull = await bed.host.onlyPull(upstream);
  expect(pull).toMatchObject({ state: 'open', title: 'Sent in a file' });
  expect(printed).toContain(`PR URL:   ${pull.url}`);
});

/** The texts that reached the host for a thread or a repository. */
const posted = (upstream: Upstream, path: RegExp): string[] =>
  bed.host.requestsFor(upstream, 'POST', path).map(({ body }) => body.toString());

it.skipIf(lacksItsPrograms)('comment.sh comments, and replies under the same pseudonym', async () => {
  const upstream = await bed.createUpstream();
  bed.sandbox.maintainer.openIssue(upstream.owner, upstream.name, 'It breaks', '');
  const printed = await run('comment.sh', bed.service.url, `${upstream.owner}/${upstream.name}`, '1');
  expect(printed.match(/^Posted: http/gm)).toHaveLength(2);
  const comments = posted(upstream, /\/issues\/1\/comments$/);
  expect(comments[1]).toContain('A restart helps.');
  expect(new Set(comments.map((text) => /anon-[0-9a-f]{8}/.exec(text)?.[0])).size).toBe(1);
});

it.skipIf(lacksItsPrograms)('issue.sh opens an issue, whatever its text has', async () => {
  const upstream = await bed.createUpstream();
  const text = 'So:\n"quoted" & \\ $HOME';
  const repository = `${upstream.owner}/${upstream.name}`;
  const printed = await run('issue.sh', bed.service.url, repository, 'It "breaks"', text);
  expect(printed).toMatch(/^Opened: http\S+\/issues\/1\nYour token there: \S+$/m);
  const [issue = '{}'] = posted(upstream, /\/issues$/);
  expect(JSON.parse(issue)).toMatchObject({ title: 'It "breaks"', body: expect.stringContaining(text) });
});
