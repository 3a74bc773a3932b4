/** Deleting a branch with the pr-hash withdraws the pull request. */
import { describe, expect, it } from 'vitest';
import { prKeyOf } from '../../../src/secret/keyed-hash.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { ALWAYS } from '../support/failing-host.ts';
import { FormClient } from '../support/form-client.ts';
import { prPage } from '../support/pr-page.ts';
import { remoteLines, statusTable } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { topicTexts } from '../support/topic.ts';
import { exhaustive } from '../../support/exhaustive.ts';

/** With it, a test knows the key of a pull request that there is not. */
const SECRET = 'a secret that is long enough for this';
const bed = useOwnTestBed({ env: { IDENTITY_SECRET: SECRET } });

async function opened() {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit();
  const first = await expectAccepted(bed, contribution, await clone.push());
  const { prHash, prKey, branch } = first.banner;
  const options = ['-o', `pr-hash=${prHash}`, '-o', `pr-key=${prKey}`];
  const withdraw = () => clone.push(...options, 'origin', ':main');
  const on = { owner: upstream.owner, repo: upstream.name, number: first.pull.number };
  return { ...contribution, first, prHash, branch, options, withdraw, on };
}

describe('a withdrawal', () => {
  it('closes the pull request, removes its branch, and leaves upstream alone', exhaustive, async () => {
    const { upstream, withdraw, branch } = await opened();
    const tip = await upstream.tip();
    const before = bed.host.requests.length;
    const pushed = await withdraw();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(statusTable(pushed)).toEqual([' - [deleted]         main']);
    expect(remoteLines(pushed)).toContain('Your pull request is withdrawn.');
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
    expect(await bed.host.workBranches(upstream)).not.toContain(branch);
    expect(await upstream.tip()).toBe(tip);
    const writes = bed.host.requests.slice(before).filter(({ method }) => /DELETE|PATCH/.test(method));
    expect(writes.map(({ method }) => method)).toEqual(['DELETE', 'PATCH']);
  });

  it('asked for by an option pushes nothing, whatever ref the push names', exhaustive, async () => {
    const { upstream, clone, branch, options } = await opened();
    const before = bed.host.requestsFor(upstream, 'POST', /\/git-receive-pack$/).length;
    const pushed = await clone.push('-o', 'withdraw', ...options, 'origin', 'HEAD:refs/heads/withdraw');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(remoteLines(pushed)).toContain('Nothing was pushed, whatever Git says next.');
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
    expect(await bed.host.workBranches(upstream)).not.toContain(branch);
    expect(bed.host.requestsFor(upstream, 'POST', /\/git-receive-pack$/)).toHaveLength(before);
    expect(await clone.git('rev-parse', 'origin/main')).toBe(await upstream.tip());
  });

  it.each([
    [['withdraw'], 'withdraw needs pr-hash=<hash>, as the push that opened it has shown it'],
    [['withdraw', 'preview', 'pr-hash=0123456789ab'], 'a withdrawal has no preview: leave out preview'],
  ])('with the options %j is refused, and nothing is closed', async (options, reason) => {
    const { upstream, clone } = await opened();
    const words = options.flatMap((option) => ['-o', option]);
    const pushed = await clone.push(...words, 'origin', 'HEAD:refs/heads/topic');
    expect(statusTable(pushed)).toEqual([` ! [remote rejected] HEAD -> topic (push rejected: ${reason})`]);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'open' });
  });

  it('is told to the topic, once', async () => {
    const { withdraw, prHash, on } = await opened();
    const told = () => topicTexts(bed, prHash);
    await withdraw();
    await expect.poll(told).toHaveLength(2);
    // The feed leads to the same pull request again, and finds it closed.
    bed.sandbox.maintainer.comment(on, 'A pity.');
    await bed.service.runScheduled();
    await expect.poll(told).toHaveLength(3);
    expect((await told()).filter((message) => message.includes('was closed'))).toHaveLength(1);
  });

  it.each([
    ['the pull request', 'PATCH', /\/pulls\/\d+$/],
    ['the branch', 'DELETE', /\/git\/refs\//],
  ])(
    'that fails at %s is named, and works when it is pushed again',
    exhaustive,
    async (_what, method, path) => {
      const { upstream, clone, withdraw, branch } = await opened();
      bed.sandbox.faults.inject({ method, path, times: ALWAYS, answer: { status: 500 } });
      const failed = await withdraw();
      expect(statusTable(failed)).toEqual([
        ' ! [remote rejected] main (push rejected: the pull request could not be withdrawn completely)',
      ]);
      bed.sandbox.faults.clear();
      await clone.git('fetch', '--quiet');
      expect((await withdraw()).code).toBe(0);
      expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
      expect(await bed.host.workBranches(upstream)).not.toContain(branch);
    },
  );

  it(
    'of an archived repository removes the branch, and says that the pull request is open',
    exhaustive,
    async () => {
      const { upstream, withdraw, branch, first } = await opened();
      bed.sandbox.maintainer.archive(upstream.owner, upstream.name);
      const pushed = await withdraw();
      expect(pushed.code, pushed.stderr).toBe(0);
      expect(await bed.host.workBranches(upstream)).not.toContain(branch);
      expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'open' });
      const lines = remoteLines(pushed);
      expect(lines).toContain('Your pull request is still open.');
      expect(lines).toContain('Its branch is removed, but the code host does not close it:');
      expect(lines.join('\n')).toMatch(/Repository was archived so is read-only/);
      expect(lines).toContain(`  PR URL:   ${first.pull.url}`);
      expect(lines).not.toContain('Your pull request is withdrawn.');
    },
  );

  it(
    'of a repository that is gone is sent by the form that the page leads to, as Git pushes nothing there',
    exhaustive,
    async () => {
      const { clone, upstream, branch, prHash, first } = await opened();
      const page = `${bed.service.url}/v1/pr/${prHash}`;
      await expect.poll(async () => (await fetch(page)).status).toBe(200);
      const gone = new RegExp(`^(?:/api/v3/repos)?/${upstream.fullName}(?:\\.git)?(?:/|$)`);
      bed.sandbox.faults.inject({ path: gone, times: ALWAYS, answer: { status: 404, body: {} } });
      expect((await clone.push('-o', `pr-hash=${prHash}`, 'origin', ':main')).stderr).toContain(
        'does not exist',
      );
      const html = await (await fetch(page, { headers: { Accept: 'text/html' } })).text();
      const [, form = ''] = /href="([^"]*\/withdraw\?pr_hash=[^"]*)"/.exec(html) ?? [];
      const client = new FormClient(bed.service.url, bed.person());
      const { fields } = await client.get(form);
      const key = { pr_hash: prHash, pr_key: first.banner.prKey ?? '' };
      const answer = await client.post(form.split('?')[0] ?? '', { ...fields, ...key });
      bed.sandbox.faults.clear();
      expect([answer.status, answer.heading], answer.problem).toEqual([
        200,
        'Your pull request is gone from the code host',
      ]);
      expect(await bed.host.workBranches(upstream)).not.toContain(branch);
      expect(await prPage(bed, prHash)).toContain('Withdrawn');
    },
  );

  it('whose pull request the host has deleted removes the branch', exhaustive, async () => {
    const { upstream, withdraw, branch } = await opened();
    const answer = { status: 404, body: { message: 'Not Found' } };
    bed.sandbox.faults.inject({ path: /\/pulls\/\d+$/, times: ALWAYS, answer });
    bed.sandbox.faults.inject({ path: /\/pulls$/, times: ALWAYS, answer: { status: 200, body: [] } });
    const pushed = await withdraw();
    bed.sandbox.faults.clear();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(remoteLines(pushed)).toContain('Your pull request is gone from the code host.');
    expect(remoteLines(pushed)).toContain('Its branch is removed.');
    expect(await bed.host.workBranches(upstream)).not.toContain(branch);
  });

  it('of a fork that is gone, too, closes the pull request', exhaustive, async () => {
    const { upstream, withdraw } = await opened();
    await bed.sandbox.maintainer.deleteFork(bed.sandbox.botLogin, upstream.name);
    const pushed = await withdraw();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
  });

  it('is not done while Git shows the branch, though REST says that fork and branch are gone', async () => {
    const { upstream, withdraw, branch } = await opened();
    const answer = { status: 404, body: { message: 'Not Found' } };
    const fork = new RegExp(`/repos/${bed.sandbox.botLogin}/${upstream.name}(?:$|/git/refs/)`);
    for (const method of ['DELETE', 'GET'])
      bed.sandbox.faults.inject({ method, path: fork, times: method === 'GET' ? 2 : 1, answer });
    expect((await withdraw()).code).toBe(1);
    expect(await bed.host.workBranches(upstream)).toContain(branch);
    expect(await withdraw()).toMatchObject({ code: 0 });
    expect(await bed.host.workBranches(upstream)).not.toContain(branch);
  });

  it('can be repeated', exhaustive, async () => {
    const { clone, withdraw } = await opened();
    expect((await withdraw()).code).toBe(0);
    await clone.git('fetch', '--quiet');
    expect((await withdraw()).code).toBe(0);
  });

  it('of a merged pull request only removes the branch', exhaustive, async () => {
    const { upstream, withdraw, branch, on } = await opened();
    await bed.sandbox.maintainer.merge(on);
    const pushed = await withdraw();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(remoteLines(pushed)).toContain('Your pull request was already merged.');
    expect(remoteLines(pushed)).toContain('Its branch is removed.');
    expect(await bed.host.workBranches(upstream)).not.toContain(branch);
  });

  it('needs a pr-hash that this repository has', async () => {
    const { clone, upstream } = await opened();
    const unknown = ['-o', 'pr-hash=0123456789ab', '-o', `pr-key=${prKeyOf(SECRET, '0123456789ab')}`];
    expect(statusTable(await clone.push(...unknown, 'origin', ':main'))).toEqual([
      ' ! [remote rejected] main (push rejected: there is no such pull request)',
    ]);
    const deletion = await clone.push('origin', ':main');
    expect(statusTable(deletion)).toEqual([
      ' ! [remote rejected] main (nothing to delete: to withdraw a pull request, add -o pr-hash and -o pr-key)',
    ]);
    expect(remoteLines(deletion)).toContain(
      `  git push -o withdraw -o 'pr-hash=<hash>' -o 'pr-key=<key>' ${upstream.url} HEAD:refs/heads/withdraw`,
    );
    const without = await clone.push('-o', 'withdraw', '-o', 'pr-hash=0123456789ab', 'origin', 'HEAD:x');
    expect(remoteLines(without).join('\n')).toContain(
      `\nPush again with:\n  git push -o withdraw -o pr-hash=0123456789ab -o 'pr-key=<key>' ${upstream.url} HEAD:refs/heads/withdraw\n`,
    );
    const faulty = ['-o', 'withdraw', '-o', 'pr-hash=0123456789ab', '-o', 'pr-key=abc'];
    expect(statusTable(await clone.push(...faulty, 'origin', ':main'))).toEqual([
      expect.stringMatching(/main \(push rejected: pr-key must be 32 hexadecimal characters/),
    ]);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'open' });
  });
});
