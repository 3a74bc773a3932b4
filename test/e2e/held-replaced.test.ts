/**
 * A held push whose person changes their mind after something has happened to it: it was tried already, names a pull
 * request that is closed, or belongs to one that is open. Whatever they are told is true, and the host hears nothing of it
 * before its time.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contribute, type Contribution, expectAccepted } from './support/contribution.ts';
import { ALWAYS } from './support/failing-host.ts';
import { held, heldAs, type HeldContribution, heldWith, pageOf, pass } from './support/held.ts';
import { useTestBed } from './support/test-bed.ts';

const bed = useTestBed();
const full = useTestBed({ env: { HELD_MB: '10' } });

/** The host opens a pull request, and says nothing of it until it is well again. */
async function unheard(action: () => Promise<unknown>, on = bed): Promise<void> {
  const cut = { during: 'answer', afterBytes: 0 } as const;
  on.sandbox.faults.inject({ method: 'POST', path: /\/pulls$/, times: ALWAYS, cut, delayMs: 500 });
  const before = on.host.requests.length;
  const acting = action();
  await expect
    .poll(() => on.host.requests.slice(before).map(({ method, path }) => `${method} ${path}`))
    .toContainEqual(expect.stringMatching(/^POST .*\/pulls$/));
  on.sandbox.faults.inject({ method: 'GET', path: /\/pulls\b/, times: ALWAYS, answer: { status: 503 } });
  await acting;
  on.sandbox.faults.clear();
}

async function expectWithdrawn({ clone, upstream, withdraw }: Omit<HeldContribution, 'hash'>): Promise<void> {
  expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'open' });
  const pushed = await clone.push(...withdraw, 'origin', 'HEAD:topic');
  expect(pushed.stderr).toContain('Your pull request is withdrawn.');
  expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
}

describe('a pull request that nobody has heard of is closed when its held push is given up', () => {
  it('after it was to be published at once', async () => {
    const contribution = await held(bed);
    await unheard(() => contribution.clone.push('-o', 'delay=0s', 'origin', 'HEAD:topic'));
    await expectWithdrawn(contribution);
  });

  it('after its time had come, and it was changed', async () => {
    const contribution = await held(bed);
    const { clone, hash } = contribution;
    await unheard(() => pass(bed));
    await clone.commit({ message: 'Better\n' });
    heldAs(await clone.push('-o', `pr-hash=${hash}`, 'origin', 'HEAD:topic'));
    await expectWithdrawn(contribution);
  });

  it('after the host did not take it, and it was put off', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit();
    let first = { hash: '', withdraw: [] as readonly string[] };
    await unheard(async () => (first = heldWith(await clone.push('-o', 'wait', 'origin', 'HEAD:topic'))));
    await clone.commit({ message: 'Better\n' });
    heldAs(await clone.push('-o', `pr-hash=${first.hash}`, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
    await expectWithdrawn({ ...contribution, ...first });
  });
});

it('what takes the place of one whose answer was lost arrives in its pull request', async () => {
  const { clone, upstream, hash } = await held(bed);
  await unheard(() => pass(bed));
  const { headSha } = await bed.host.onlyPull(upstream);
  await clone.commit({ message: 'Better\n' });
  heldAs(await clone.push('-o', `pr-hash=${hash}`, 'origin', 'HEAD:topic'));
  await expect.poll(async () => (await pass(bed), pageOf(bed, hash))).not.toContain('Held');
  expect((await bed.host.onlyPull(upstream)).headSha).not.toBe(headSha);
});

it('the host does not hear of the hash when the push that changes it is only shown', async () => {
  const { clone, hash } = await held(bed);
  await clone.commit({ message: 'Better\n' });
  const shown = await clone.push('-o', 'preview', '-o', `pr-hash=${hash}`, 'origin', 'HEAD:topic');
  expect(shown.stderr).toContain('preview: nothing was published');
  expect(bed.host.requests.filter(({ path }) => path.includes(hash))).toEqual([]);
});

it('one that names a pull request that was closed before opens another, also after it was changed', async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit();
  const { banner, pull } = await expectAccepted(bed, contribution, await clone.push());
  bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number: pull.number });
  const update = ['-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:topic'];
  await clone.commit({ message: 'More\n' });
  heldAs(await clone.push('-o', 'delay=1h', ...update));
  await clone.commit({ message: 'Better\n' });
  heldAs(await clone.push(...update));
  await expect.poll(async () => (await pass(bed), pageOf(bed, banner.prHash))).not.toContain('Held');
  expect(await bed.host.pulls(upstream)).toHaveLength(2);
});

it('the same commits as a new pull request are not taken for a held update', async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit();
  const { banner } = await expectAccepted(bed, contribution, await clone.push());
  await clone.commit({ message: 'More\n' });
  heldAs(await clone.push('-o', `pr-hash=${banner.prHash}`, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
  const hash = heldAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
  expect(hash).not.toBe(banner.prHash);
  expect(heldAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'))).toBe(hash);
  expect((await clone.push('-o', 'delay=0s', 'origin', 'HEAD:topic')).code).toBe(0);
  expect(await bed.host.pulls(upstream)).toHaveLength(2);
});

async function notHeld(): Promise<Contribution> {
  const contribution = await contribute(full);
  const { clone } = contribution;
  await clone.commit({ files: { 'large.bin': randomBytes(1_200_000) } });
  await unheard(async () => {
    const pushed = await clone.push('-o', 'wait', 'origin', 'HEAD:topic');
    expect(pushed.stderr).toContain('the service holds too many pushes');
  }, full);
  return contribution;
}

describe('a pull request that nobody has heard of, whose push could not be held,', () => {
  it('is found when it is pushed again', async () => {
    const contribution = await notHeld();
    await expectAccepted(full, contribution, await contribution.clone.push('origin', 'HEAD:topic'));
    await full.host.onlyPull(contribution.upstream);
  });

  it('is one of the five of an hour', async () => {
    const { clone, upstream } = await notHeld();
    for (let more = 0; more < 5; more++) {
      await clone.commit({ message: `More ${more}\n` });
      await clone.push('origin', `HEAD:topic${more}`);
    }
    expect(await full.host.pulls(upstream)).toHaveLength(5);
  });
});

it('a push whose answer was lost, and that is pushed again with a delay, has one pull request', async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit();
  await unheard(() => clone.push('origin', 'HEAD:topic'));
  const hash = heldAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
  await expect.poll(async () => (await pass(bed), pageOf(bed, hash))).not.toContain('Held');
  await bed.host.onlyPull(upstream);
});

it('a push whose answer was lost, and that is pushed again with a delay, is withdrawn', async () => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit();
  await unheard(() => clone.push('origin', 'HEAD:topic'));
  const { withdraw } = heldWith(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
  await expectWithdrawn({ ...contribution, withdraw });
});
