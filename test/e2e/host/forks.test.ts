/** `npm run forks`: which of the bot's forks it lists and deletes. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ownEnvironment } from '../../local/programs.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { TEST_HEADER } from '../support/tripwire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();
const PROGRAM = join(import.meta.dirname, '../../../local/operator/forks.ts');

/**
 * As an operator runs it. The tripwire watches the service's requests only, so these carry its
 * header.
 */
function forks(...words: string[]): Promise<{ stdout: string; stderr: string; code: number }> {
  const mark = `const ask = fetch; globalThis.fetch = (url, { headers, ...more }) =>
    ask(url, { ...more, headers: { ...headers, '${TEST_HEADER}': '1' } });`;
  const program = ['--import', `data:text/javascript,${encodeURIComponent(mark)}`, PROGRAM, ...words];
  const env = {
    ...ownEnvironment(),
    HOSTING_URL: bed.sandbox.url,
    HOSTING_API_URL: bed.sandbox.apiUrl,
    HOSTING_TOKEN: bed.sandbox.botToken,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, program, { env }, (error, stdout, stderr) =>
      resolve({ stdout, stderr, code: error === null ? 0 : Number(error.code) }),
    );
  });
}

async function opened() {
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  const { pull } = await expectAccepted(bed, contribution, await contribution.clone.push());
  const { owner, name: repo } = contribution.upstream;
  return { ...contribution, issue: { owner, repo, number: pull.number } };
}

it('lists and deletes those that no open pull request needs, and no others', exhaustive, async () => {
  const open = await opened();
  const closed = await opened();
  const { upstream } = closed;
  bed.sandbox.maintainer.close(closed.issue);
  const fork = `${bed.sandbox.botLogin}/${upstream.name}`;

  expect(await forks()).toEqual({
    stdout: expect.stringMatching(/^0 forks at 127\.0\.0\.1:\d+ that no open pull request needs\./),
    stderr: '',
    code: 0,
  });
  const listed = await forks('--older-than', '0');
  expect(listed.stdout).toMatch(
    new RegExp(`^${fork}  \\(fork of octo/${upstream.name}, unused since [-0-9]{10}\\)\n1 fork at `),
  );
  expect(bed.host.forkPath(upstream)).not.toBeNull();

  expect((await forks('--older-than', '0', '--delete')).stdout).toContain(`deleted  ${fork}`);
  expect(bed.host.forkPath(upstream)).toBeNull();
  expect(bed.host.forkPath(open.upstream)).not.toBeNull();

  // The next push makes a new one.
  await closed.clone.commit();
  await expectAccepted(bed, closed, await closed.clone.push('origin', 'HEAD:again'));
});

it('deletes nothing while the host does not list all open pull requests', exhaustive, async () => {
  const { upstream, issue } = await opened();
  bed.sandbox.maintainer.close(issue);
  const answer = { status: 200, body: { total_count: 1, incomplete_results: true, items: [] } };
  bed.sandbox.faults.inject({ method: 'GET', path: /\/search\/issues/, answer });
  const { stdout, stderr } = await forks('--older-than', '0', '--delete');
  expect([stdout, stderr]).toEqual(['', expect.stringContaining('could not list all open pull requests')]);
  expect(bed.host.forkPath(upstream)).not.toBeNull();
});

it('says what the token lacks', exhaustive, async () => {
  const { issue } = await opened();
  bed.sandbox.maintainer.close(issue);
  const body = { message: 'Must have admin rights to Repository.' };
  bed.sandbox.faults.inject({ method: 'DELETE', path: /\/repos\//, answer: { status: 403, body } });
  const { stderr, code } = await forks('--older-than', '0', '--delete');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^gitveil: DELETE \/repos\/\S+: 403 Must have admin rights to Repository\.\n$/);
});
