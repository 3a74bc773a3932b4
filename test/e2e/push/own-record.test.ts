/**
 * Records of the service about a pull request outweigh the host's lists, and the names of its
 * accounts.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { ALWAYS } from '../support/failing-host.ts';
import { FormClient } from '../support/form-client.ts';
import { prPage } from '../support/pr-page.ts';
import { bannerOf, remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();
const renamed = useOwnTestBed();

async function opened(on = bed) {
  const contribution = await contribute(on);
  const { clone } = contribution;
  await clone.commit({ files: { 'a.txt': 'one\n' } });
  const first = await expectAccepted(on, contribution, await clone.push('origin', 'HEAD:topic'));
  const { prHash, prKey } = first.banner;
  await expect.poll(() => prPage(on, prHash)).toMatch(/^200/);
  const options = ['-o', `pr-hash=${prHash}`, '-o', `pr-key=${prKey}`];
  const push = (...more: string[]) => clone.push('-f', ...options, ...more, 'origin', 'HEAD:topic');
  return { ...contribution, first, prHash, push };
}

/** The list of pull requests is behind, and shows none. */
function emptyList(): void {
  bed.sandbox.faults.inject({
    method: 'GET',
    path: /\/pulls$/,
    times: ALWAYS,
    answer: { status: 200, body: [] },
  });
}

describe('while the host’s list of pull requests is behind', exhaustive, () => {
  it('an update arrives in the pull request', async () => {
    const { clone, upstream, first, push } = await opened();
    await clone.commit();
    emptyList();
    const pushed = await push();
    bed.sandbox.faults.clear();
    expect(pushed.stderr).not.toContain('NEW pull request');
    const { pull } = await expectAccepted(bed, { upstream, clone }, pushed);
    expect(pull.number).toBe(first.pull.number);
    await bed.host.onlyPull(upstream);
  });

  it('a withdrawal closes it', async () => {
    const { upstream, push } = await opened();
    emptyList();
    const pushed = await push('-o', 'withdraw');
    bed.sandbox.faults.clear();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
  });

  it('the form of a change opens it', async () => {
    const { upstream, prHash } = await opened();
    emptyList();
    const client = new FormClient(bed.service.url, bed.person());
    const form = await client.get(`/v1/gh/${upstream.fullName}/change?path=a.txt&pr_hash=${prHash}`);
    bed.sandbox.faults.clear();
    expect([form.status, form.heading]).toEqual([200, 'Change a.txt']);
  });
});

describe('a recorded pull request that the host does not show', exhaustive, () => {
  it('is looked for in the list: another repository has taken its name, and its number', async () => {
    const { clone, upstream, first, push } = await opened();
    await clone.commit();
    const answer = { status: 404, body: { message: 'Not Found' } };
    bed.sandbox.faults.inject({ method: 'GET', path: /\/pulls\/\d+$/, answer });
    const { pull } = await expectAccepted(bed, { upstream, clone }, await push());
    expect(pull.number).toBe(first.pull.number);
  });

  it('is followed by a new one, which has a hash of its own', async () => {
    const { clone, upstream, prHash, push } = await opened();
    await clone.commit();
    const answer = { status: 404, body: { message: 'Not Found' } };
    bed.sandbox.faults.inject({ method: 'GET', path: /\/pulls\/\d+$/, answer });
    bed.sandbox.faults.inject({ method: 'GET', path: /\/pulls$/, answer: { status: 200, body: [] } });
    const pushed = await push();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(remoteLines(pushed)[0]).toMatch(
      /^No pull request of .* has that pr-hash, so this would open a NEW one\.$/,
    );
    expect(bannerOf(pushed).prHash).not.toBe(prHash);
    expect(await bed.host.pulls(upstream)).toHaveLength(2);
  });

  it('is not followed by a new one if the host does not answer', async () => {
    const { clone, upstream, push } = await opened();
    await clone.commit();
    bed.sandbox.faults.inject({
      method: 'GET',
      path: /\/pulls\/\d+$/,
      times: ALWAYS,
      answer: { status: 503 },
    });
    expect((await push()).code).toBe(1);
    bed.sandbox.faults.clear();
    await bed.host.onlyPull(upstream);
  });
});

it(
  'a bot that was renamed meanwhile updates and withdraws what it has opened before',
  exhaustive,
  async () => {
    const one = await opened(renamed);
    const two = await opened(renamed);
    renamed.sandbox.maintainer.renameBot('gitveil-bot2');
    // It knows nothing but what is stored.
    await renamed.restart();
    await one.clone.commit();
    const pushed = await one.push();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(bannerOf(pushed).prUrl).toBe(one.first.pull.url);
    const pull = await renamed.host.onlyPull(one.upstream);
    expect(pull.headSha).not.toBe(one.first.pull.headSha);
    const withdrawn = await two.push('-o', 'withdraw');
    expect(withdrawn.code, withdrawn.stderr).toBe(0);
    expect(await renamed.host.onlyPull(two.upstream)).toMatchObject({ state: 'closed' });
    expect(await renamed.host.workBranches(two.upstream)).toEqual([]);
  },
);

it(
  'a page names the bot as it was called lately, and a push asks the host for its name',
  exhaustive,
  async () => {
    const { upstream, clone } = await contribute(renamed);
    await upstream.grow({ files: { 'VOUCHED.td': 'alice\n' } });
    await clone.commit();
    const preview = async (to: typeof clone) =>
      (await to.push('-o', 'preview', 'origin', 'HEAD:topic')).stderr;
    const [, before] = /without (\S+):/.exec(await preview(clone)) ?? [];
    renamed.sandbox.maintainer.renameBot('gitveil-bot3');
    await renamed.restart();
    const page = await fetch(upstream.url, { headers: { Accept: 'text/html' } });
    expect(await page.text()).toContain(`without ${before}:`);
    const other = await contribute(renamed);
    await other.clone.commit();
    expect(await preview(other.clone)).toContain('gitveil-bot3');
  },
);
