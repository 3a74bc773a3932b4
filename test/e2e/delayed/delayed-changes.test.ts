/**
 * Changes that come while a push waits: it is judged again, and its page says what to do. The
 * service is ended and started again meanwhile, so it knows nothing of upstream any more.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { delayed, delayedAs, pageOf, pass, press, published } from '../support/delayed.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { Reviewer } from '../support/review.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: OPERATOR });
const operator = new Operator(bed);

async function passAnew(): Promise<void> {
  await bed.restart();
  await pass(bed);
}

async function delayedUpdate() {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit();
  const { banner, pull } = await expectAccepted(bed, contribution, await clone.push());
  await clone.commit({ message: 'More\n' });
  const named = ['-o', `pr-hash=${banner.prHash}`, '-o', 'delay=1h'];
  return { ...contribution, pull, name: delayedAs(await clone.push(...named, 'origin', 'HEAD:topic')) };
}

describe('a delayed push is not published, and its page says why,', exhaustive, () => {
  it('when the repository has closed itself to this service', async () => {
    const { upstream, name } = await delayed(bed);
    await upstream.grow({ files: { '.gitveil.yml': 'accept: false\n' } });
    await passAnew();
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(await pageOf(bed, name)).toMatch(/^200 Failed\n.*not accepted by the repository/s);
  });

  it('when the repository asks for a sign-off since', async () => {
    const { upstream, name } = await delayed(bed);
    await upstream.grow({ files: { '.gitveil.yml': 'sign_off: required\n' } });
    await passAnew();
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(await pageOf(bed, name)).toMatch(/^200 Failed\n.*a sign-off is required/s);
  });

  it('when upstream no longer has what it stands on', async () => {
    const { upstream, name } = await delayed(bed);
    await upstream.git('update-ref', '-d', 'refs/heads/main');
    await upstream.grow({ count: 2 });
    await passAnew();
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(await pageOf(bed, name)).toMatch(/Run "git fetch", rebase your work, then push again/);
  });

  it('when upstream has replaced its history, and kept the old one under another name', async () => {
    const { upstream, name } = await delayed(bed);
    await upstream.git('update-ref', 'refs/tags/old', 'refs/heads/main');
    await upstream.git('update-ref', '-d', 'refs/heads/main');
    await upstream.grow({ count: 2 });
    await passAnew();
    expect(bed.host.requestsFor(upstream, 'POST', /\/forks$/)).toEqual([]);
    expect(await pageOf(bed, name)).toMatch(/^200 Failed\n.*no history in common/s);
  });

  it('when the branch that it is for is gone', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'next', from: upstream.defaultBranch });
    await clone.git('fetch', 'origin');
    await clone.commit();
    const name = delayedAs(await clone.push('-o', 'delay=1h', '-o', 'base=next', 'origin', 'HEAD:topic'));
    await upstream.git('update-ref', '-d', 'refs/heads/next');
    await passAnew();
    expect(await pageOf(bed, name)).toMatch(/has no branch "next" any more/);
  });

  it('when the pull request that it updates is closed, whatever the repository asks for by now', async () => {
    const { upstream, pull, name } = await delayedUpdate();
    await upstream.grow({ files: { '.gitveil.yml': 'ai_disclosure: required\n' } });
    bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number: pull.number });
    await passAnew();
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
    expect(await pageOf(bed, name)).toMatch(/merged or closed while your change waited/);
  });
});

describe('a delayed push', exhaustive, () => {
  it('goes to the repository under its new name', async () => {
    const { upstream } = await delayed(bed);
    const renamed = bed.renameUpstream(upstream, `${upstream.name}-renamed`);
    await passAnew();
    expect(await bed.host.onlyPull(renamed)).toMatchObject({ state: 'open' });
  });

  it('waits while the operator has stopped pushes', async () => {
    const { upstream, name } = await delayed(bed);
    await operator.setPanic(true);
    await pass(bed);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(await pageOf(bed, name)).toMatch(/^200 Delayed\n/);
    await operator.setPanic(false);
    await expect.poll(async () => (await pass(bed), (await bed.host.pulls(upstream)).length)).toBe(1);
  });
});

it('a delayed push waits for an operator who has wanted to see pushes only since', exhaustive, async () => {
  const { upstream, name } = await delayed(bed);
  await bed.restart(undefined, { REVIEW: 'all' });
  await pass(bed);
  expect(await pageOf(bed, name)).toContain('The operator of this service looks at it');
  await expect
    .poll(async () => (await operator.alerts()).map(({ title }) => title))
    .toContain('Pushes wait for you');
  expect(await bed.host.pulls(upstream)).toEqual([]);
  const reviewer = new Reviewer(bed);
  await reviewer.open();
  await reviewer.decide('publish', name);
  await published(bed, name);
  await bed.restart();
});

describe('a delayed update', exhaustive, () => {
  it('shows on the page of its pull request what it has added and dropped', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit({ message: 'First\n' });
    await clone.commit({ message: 'Second\n' });
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    await clone.git('reset', '--quiet', '--hard', 'HEAD~1');
    await clone.commit({ message: 'Third\n' });
    const named = ['-o', `pr-hash=${banner.prHash}`, '-o', 'delay=1h'];
    const name = delayedAs(await clone.push(...named, 'origin', 'HEAD:topic'));
    await bed.restart();
    await published(bed, name);
    const page = await fetch(`${bed.service.url}/v1/pr/${banner.prHash}`, {
      headers: { Accept: 'text/html' },
    });
    expect(await page.text()).toContain('Updated: 1 commit added, 1 dropped');
  });

  it('arrives although its base has another name by now, to which the host has moved the pull request', async () => {
    const { upstream, pull, name } = await delayedUpdate();
    await upstream.git('branch', '-m', upstream.defaultBranch, 'trunk');
    await bed.host.call('PATCH', `/repos/${upstream.fullName}/pulls/${pull.number}`, { base: 'trunk' });
    await bed.restart();
    await published(bed, name);
    const updated = await bed.host.onlyPull(upstream);
    expect(updated).toMatchObject({ base: 'trunk', state: 'open' });
    expect(updated.headSha).not.toBe(pull.headSha);
  });

  it('is tried again if the host once does not show its pull request, whatever the repository asks for', async () => {
    const { upstream, pull, name } = await delayedUpdate();
    await upstream.grow({ files: { '.gitveil.yml': 'ai_disclosure: required\n' } });
    await bed.restart();
    const missing = { status: 404, body: { message: 'Not Found' } };
    bed.sandbox.faults.inject({ method: 'GET', path: /\/pulls\/\d+$/, answer: missing });
    bed.sandbox.faults.inject({ method: 'GET', path: /\/pulls$/, answer: { status: 200, body: [] } });
    // A run would end only after the five seconds' pause that follows.
    await press(bed, name, 'publish');
    await expect.poll(() => pageOf(bed, name)).toMatch(/^200 Delayed\n[^]*tries again by itself\./);
    await published(bed, name);
    expect((await bed.host.onlyPull(upstream)).headSha).not.toBe(pull.headSha);
  });
});
