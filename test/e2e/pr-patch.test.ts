/** GET /v1/pr/<hash>.patch: how a maintainer takes over a contribution, with their own sign-off. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { contribute } from './support/contribution.ts';
import { readHistory } from './support/objects.ts';
import { mustRun, neutralEnvironment } from './support/run.ts';
import { useTestBed } from './support/test-bed.ts';

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

it('is an mbox that `git am --signoff` takes: the author stays the bot, the known person signs off', async () => {
  const { clone, upstream, url } = await opened();
  const page = await (await fetch(url, { headers: { Accept: 'text/html' } })).text();
  expect(page).toContain(`>curl -fsSL ${url}.patch | git am --signoff</code>`);
  expect(await (await fetch(url)).text()).toContain(`  curl -fsSL ${url}.patch | git am --signoff`);
  const response = await fetch(`${url}.patch`);
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, max-age=60',
  });
  expect(headers).not.toHaveProperty('set-cookie');
  expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  const mbox = Buffer.from(await response.arrayBuffer());
  // Not a person of the bed, whose commits are secrets.
  const checkout = mkdtempSync(join(tmpdir(), 'gitveil-mona-'));
  const env = neutralEnvironment({
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_COMMITTER_NAME: 'Mona Maintainer',
    GIT_COMMITTER_EMAIL: 'mona@upstream.example',
  });
  const git = (args: string[], input = Buffer.alloc(0)) =>
    mustRun('git', args, { cwd: checkout, env, input });
  await git(['clone', '--quiet', upstream.path, '.']);
  await git(['am', '--quiet', '--signoff'], mbox);
  expect((await git(['rev-parse', 'HEAD^{tree}'])).toString().trim()).toBe(await clone.tree());
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
  rmSync(checkout, { recursive: true });
});

it('is not to be had of an unknown hash, and asks nobody', async () => {
  const before = bed.host.requests.length;
  const unknown = await fetch(`${bed.service.url}/v1/pr/ba9876543210.patch`);
  expect([unknown.status, await unknown.text()]).toEqual([
    404,
    expect.stringMatching(/^No such pull request/),
  ]);
  expect((await fetch(`${bed.service.url}/v1/pr/nothing.patch`)).status).toBe(404);
  expect(bed.host.requests).toHaveLength(before);
});

it('says what to do where the host makes none', async () => {
  const { upstream, url } = await opened();
  const tooLarge = { message: 'Sorry, the diff exceeded the maximum number of lines (20000)' };
  const answers = [
    [{ status: 406, body: tooLarge }, 502, /the diff exceeded.* git fetch \S+\/octo\/\S+ pull\/1\/head/],
    [{ status: 200, body: '<html>Maintenance' }, 502, /did not answer as expected.* git fetch/],
    [{ status: 404, body: { message: 'Not Found' } }, 404, /^No patch\. The code host no longer shows/],
  ] as const;
  for (const [answer, status, words] of answers) {
    bed.sandbox.faults.inject({
      method: 'GET',
      path: new RegExp(`${upstream.name}/pulls/\\d+$`),
      times: 9,
      answer,
    });
    const response = await fetch(`${url}.patch`);
    bed.sandbox.faults.clear();
    expect([response.status, await response.text()]).toEqual([status, expect.stringMatching(words)]);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  }
});

it('that is too long breaks off, so that a client knows', async () => {
  const { upstream, url } = await opened();
  const body = `From ${'x'.repeat(17 * 1024 * 1024)}`;
  const path = new RegExp(`${upstream.name}/pulls/\\d+$`);
  bed.sandbox.faults.inject({ method: 'GET', path, answer: { status: 200, body } });
  const response = await fetch(`${url}.patch`);
  expect(response.status).toBe(200);
  await expect(response.arrayBuffer()).rejects.toThrow();
  expect((await fetch(`${url}.patch`)).status).toBe(200);
});
