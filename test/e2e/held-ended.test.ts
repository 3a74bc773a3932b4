/**
 * What ends a held push while it is published, or after nobody knows how far that came: a rollback, panic, a withdrawal,
 * a maintainer who was faster than the answer.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from './support/contribution.ts';
import { ALWAYS } from './support/failing-host.ts';
import { held, heldAs, type HeldContribution, heldWith, pageOf, pass } from './support/held.ts';
import { Operator, OPERATOR } from './support/operator.ts';
import { useTestBed } from './support/test-bed.ts';

const bed = useTestBed({ env: OPERATOR });
const operator = new Operator(bed);

/** Begins to publish a held push, and goes on when the host gets such a request, which it answers late. */
async function publishing({ path }: { readonly path: RegExp }): Promise<{ readonly passing: Promise<void> }> {
  bed.sandbox.faults.inject({ method: 'POST', path, delayMs: 2_500 });
  const before = bed.host.requests.length;
  const passing = pass(bed);
  await expect
    .poll(() =>
      bed.host.requests.slice(before).some((request) => request.method === 'POST' && path.test(request.path)),
    )
    .toBe(true);
  return { passing };
}

/** It is open, and nobody knows. */
async function openedUnheard(): Promise<HeldContribution> {
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  const cut = { during: 'answer', afterBytes: 0 } as const;
  bed.sandbox.faults.inject({ method: 'POST', path: /\/pulls$/, times: ALWAYS, cut });
  bed.sandbox.faults.inject({ method: 'GET', path: /\/pulls\b/, times: ALWAYS, answer: { status: 503 } });
  const pushed = await contribution.clone.push('-o', 'wait', 'origin', 'HEAD:topic');
  bed.sandbox.faults.clear();
  expect(pushed.stderr).not.toContain('public yet');
  expect(await bed.host.onlyPull(contribution.upstream)).toMatchObject({ state: 'open' });
  return { ...contribution, ...heldWith(pushed) };
}

it('a rollback stops one that is being sent', async () => {
  const { upstream, hash } = await held(bed);
  const { passing } = await publishing({ path: /git-receive-pack$/ });
  await operator.rollBack();
  expect(await pageOf(bed, hash)).toMatch(/^200 Discarded: /);
  await passing;
  expect(await bed.host.pulls(upstream)).toEqual([]);
  expect(await pageOf(bed, hash)).toMatch(/^200 Discarded: /);
});

it('a rollback of a flood, which spares single clients, leaves it alone', async () => {
  const { hash } = await held(bed);
  expect((await operator.rollBack({ comments: true, issues: true, spare_single: true })).status).toBe(200);
  expect(await pageOf(bed, hash)).toContain('Held');
});

it('a rollback discards it before the host has answered for anything else', async () => {
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  await expectAccepted(bed, contribution, await contribution.clone.push());
  const { hash } = await held(bed);
  bed.sandbox.faults.inject({ method: 'PATCH', path: /\/pulls\/\d+$/, times: ALWAYS, delayMs: 5_000 });
  let hasEnded = false;
  const rollback = operator.rollBack().finally(() => (hasEnded = true));
  await expect.poll(() => pageOf(bed, hash), { timeout: 15_000 }).toMatch(/^200 Discarded: /);
  expect(hasEnded).toBe(false);
  expect(await rollback).toMatchObject({ status: 200, body: { closed: 1, failed: 0 } });
  bed.sandbox.faults.clear();
});

it('panic stops one whose fork is being made, and it is published when that is over', async () => {
  const { upstream } = await held(bed);
  const { passing } = await publishing({ path: /\/forks$/ });
  expect((await operator.setPanic(true)).status).toBe(200);
  // Isolates ask again after two seconds.
  await passing;
  expect(await bed.host.pulls(upstream)).toEqual([]);
  expect((await operator.setPanic(false)).status).toBe(200);
  await expect.poll(async () => (await pass(bed), bed.host.pulls(upstream))).toHaveLength(1);
});

it('one that names a pull request that was closed before opens another', async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit();
  const { banner, pull } = await expectAccepted(bed, contribution, await clone.push());
  bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number: pull.number });
  await clone.commit({ message: 'More\n' });
  heldAs(await clone.push('-o', `pr-hash=${banner.prHash}`, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
  await expect.poll(async () => (await pass(bed), bed.host.pulls(upstream))).toHaveLength(2);
});

describe('a pull request whose answer was lost, held with "wait",', () => {
  it('is not opened again if the maintainer has closed it meanwhile', async () => {
    const { upstream, hash } = await openedUnheard();
    const { number } = await bed.host.onlyPull(upstream);
    bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number });
    await expect.poll(async () => (await pass(bed), pageOf(bed, hash))).not.toContain('Held');
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it('is given up also while the host does not answer, and closed when it does', async () => {
    const { upstream, clone, hash, ...options } = await openedUnheard();
    const withdraw = [...options.withdraw, 'origin', 'HEAD:topic'];
    bed.sandbox.faults.inject({ method: 'GET', path: /\/pulls\b/, times: ALWAYS, answer: { status: 503 } });
    expect((await clone.push(...withdraw)).stderr).toContain('Withdraw it again later to be sure.');
    bed.sandbox.faults.clear();
    expect(await pageOf(bed, hash)).toMatch(/^200 Cancelled: /);
    expect((await clone.push(...withdraw)).stderr).toContain('Your pull request is withdrawn.');
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
  });

  it('is closed if its person gives it up', async () => {
    const { upstream, clone, withdraw } = await openedUnheard();
    const pushed = await clone.push(...withdraw, 'origin', 'HEAD:topic');
    expect(pushed.stderr).toContain('Your pull request is withdrawn.');
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
    expect(await bed.host.workBranches(upstream)).toEqual([]);
  });
});
