/**
 * How a maintainer takes over a contribution, with a sign-off of their own: the command on its
 * page, as it stands.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { contribute } from '../support/contribution.ts';
import { readHistory } from '../support/objects.ts';
import { mustRun, neutralEnvironment } from '../support/run.ts';
import { useTestBed } from '../support/test-bed.ts';
import { TEST_HEADER } from '../support/tripwire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();
const LINE = 'Signed-off-by: gitveil-bot <anonymous@gitveil.invalid>';

/** A pull request of two commits, whose page is there. */
async function opened() {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit({ message: 'One\n\nGrüße.\n', files: { 'one.txt': 'größer\n' } });
  await clone.commit({ message: 'Two\n', files: { 'sub/two.bin': Uint8Array.of(0, 255, 1) } });
  const pushed = await clone.push('-o', 'sign-off', 'origin', 'HEAD:topic');
  expect(pushed.code, pushed.stderr).toBe(0);
  const hash = /PR hash: {2}(\w+)/.exec(pushed.stderr)?.[1] ?? '';
  const url = `${bed.service.url}/v1/pr/${hash}`;
  await expect.poll(async () => (await fetch(url)).status).toBe(200);
  return { ...contribution, url, hash };
}

it('can be adopted: the author stays the bot, the known person signs off', exhaustive, async () => {
  const { clone, upstream, url } = await opened();
  const text = await (await fetch(url)).text();
  const command = /^ {2}(curl .*)$/m.exec(text)?.[1] ?? '';
  expect(command).toMatch(/^curl -fsSL \S+\/pull\/1\.patch \| git am --signoff$/);
  const page = await (await fetch(url, { headers: { Accept: 'text/html' } })).text();
  expect(page.replaceAll('<wbr>', '')).toContain(`>${command}</code>`);
  // Not a person of the bed, whose commits are secrets.
  const checkout = mkdtempSync(join(tmpdir(), 'gitveil-mona-'));
  // The maintainer's curl asks the host, not the service.
  const home = mkdtempSync(join(tmpdir(), 'gitveil-mona-'));
  writeFileSync(join(home, '.curlrc'), `header = "${TEST_HEADER}: 1"\n`);
  const env = neutralEnvironment({
    CURL_HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_COMMITTER_NAME: 'Mona Maintainer',
    GIT_COMMITTER_EMAIL: 'mona@upstream.example',
  });
  const git = (...args: string[]) => mustRun('git', args, { cwd: checkout, env });
  await git('clone', '--quiet', upstream.path, '.');
  await mustRun('sh', ['-c', command], { cwd: checkout, env });
  expect((await git('rev-parse', 'HEAD^{tree}')).toString().trim()).toBe(await clone.tree());
  const commits = await readHistory(checkout, 'HEAD', '^origin/main');
  const own = 'Signed-off-by: Mona Maintainer <mona@upstream.example>';
  expect(commits.map(({ message }) => message.toString())).toEqual([
    `One\n\nGrüße.\n\n${LINE}\n${own}\n`,
    `Two\n\n${LINE}\n${own}\n`,
  ]);
  for (const { author, committer } of commits) {
    expect(author).toMatch(/^gitveil-bot <anonymous@gitveil\.invalid> /);
    expect(committer).toContain('mona@upstream.example');
  }
  for (const folder of [checkout, home]) rmSync(folder, { recursive: true });
});
