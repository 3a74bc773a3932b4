/**
 * Ends of a delayed push while it is published, or after nobody knows how far that came: a
 * rollback, panic, its person, a maintainer who was faster than the answer.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { ALWAYS } from '../support/failing-host.ts';
import {
  delayed,
  delayedAs,
  type DelayedContribution,
  pageOf,
  pass,
  press,
  published,
  publishedAs,
} from '../support/delayed.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { remoteLines, statusTable } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: OPERATOR });
const operator = new Operator(bed);

/**
 * Begins to publish a delayed push, and goes on when the host gets such a request.
 * @param begin default: a run.
 */
async function publishing({
  path,
  cut = false,
  begin = () => pass(bed),
}: {
  readonly path: RegExp;
  readonly cut?: boolean;
  readonly begin?: () => Promise<void>;
}): Promise<{ readonly passing: Promise<void>; readonly answer: () => void }> {
  const lost = { during: 'answer', afterBytes: 0 } as const;
  const { promise: until, resolve: answer } = Promise.withResolvers<void>();
  bed.sandbox.faults.inject({ method: 'POST', path, until, ...(cut && { times: ALWAYS, cut: lost }) });
  const before = bed.host.requests.length;
  const passing = begin();
  await expect
    .poll(() =>
      bed.host.requests.slice(before).some((request) => request.method === 'POST' && path.test(request.path)),
    )
    .toBe(true);
  return { passing, answer };
}

/**
 * Publishes by the button. Where that fails, a run of the scheduled handler would end only after
 * five seconds' pause.
 */
const pressed = (name: string) => async (): Promise<void> => void (await press(bed, name, 'publish'));

it('a rollback stops one that is being sent', exhaustive, async () => {
  const { upstream, name } = await delayed(bed);
  const { passing, answer } = await publishing({ path: /git-receive-pack$/ });
  await operator.rollBack();
  answer();
  await passing;
  await expect.poll(() => pageOf(bed, name)).toMatch(/^200 Discarded\n/);
  expect(await bed.host.pulls(upstream)).toEqual([]);
});

it('a rollback of a flood, which spares single clients, leaves it alone', exhaustive, async () => {
  const { name } = await delayed(bed);
  expect((await operator.rollBack({ comments: true, issues: true, spare_single: true })).status).toBe(200);
  expect(await pageOf(bed, name)).toContain('Delayed');
});

it('a rollback discards it before the host has answered for anything else', exhaustive, async () => {
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  await expectAccepted(bed, contribution, await contribution.clone.push());
  const { name } = await delayed(bed);
  const { promise: until, resolve: answer } = Promise.withResolvers<void>();
  bed.sandbox.faults.inject({ method: 'PATCH', path: /\/pulls\/\d+$/, times: ALWAYS, until });
  let hasEnded = false;
  const rollback = operator.rollBack().finally(() => (hasEnded = true));
  await expect.poll(() => pageOf(bed, name)).toMatch(/^200 Discarded\n/);
  expect(hasEnded).toBe(false);
  answer();
  expect(await rollback).toMatchObject({ status: 200, body: { closed: 1, failed: 0 } });
  bed.sandbox.faults.clear();
});

it(
  'panic stops one whose fork is being made, and it is published when that is over',
  exhaustive,
  async () => {
    const { upstream, name } = await delayed(bed);
    const { passing, answer } = await publishing({ path: /\/forks$/, begin: pressed(name) });
    expect((await operator.setPanic(true)).status).toBe(200);
    // Isolates ask again after two seconds.
    const shown = async () => (await fetch(upstream.url, { headers: { Accept: 'text/html' } })).text();
    await expect.poll(shown).toContain('Pushes are suspended');
    answer();
    await passing;
    await expect.poll(() => pageOf(bed, name)).toContain('SERVICE TEMPORARILY SUSPENDED');
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect((await operator.setPanic(false)).status).toBe(200);
    await expect.poll(async () => (await pass(bed), bed.host.pulls(upstream))).toHaveLength(1);
  },
);

/** A pull request that its person has withdrawn, and the option that names it. */
async function withdrawn() {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit();
  const { banner } = await expectAccepted(bed, contribution, await clone.push());
  const named = ['-o', `pr-hash=${banner.prHash}`];
  const key = ['-o', `pr-key=${banner.prKey}`];
  expect((await clone.push('-o', 'withdraw', ...named, ...key, 'origin', 'HEAD:topic')).code).toBe(0);
  return { ...contribution, named };
}

describe('one that names a pull request that the service knows to be closed', exhaustive, () => {
  it('opens another, whose page shows hash and key', async () => {
    const { clone, upstream, named } = await withdrawn();
    await clone.commit({ message: 'More\n' });
    const name = delayedAs(await clone.push(...named, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
    const { prHash } = publishedAs(await published(bed, name));
    const [, another] = await bed.host.pulls(upstream);
    expect(another).toMatchObject({ state: 'open', head: `${bed.sandbox.botLogin}:anon-${prHash}` });
  });

  it('opens one other, whoever pushes the same again, by whichever hash', async () => {
    const { clone, upstream, named } = await withdrawn();
    await clone.commit({ message: 'More\n' });
    const again = () => clone.push(...named, '-o', 'delay=1h', 'origin', 'HEAD:topic');
    const { prHash } = publishedAs(await published(bed, delayedAs(await again())));
    const [, another] = await bed.host.pulls(upstream);
    expect(remoteLines(await again()).join('\n')).toContain(another?.url);
    const live = remoteLines(await clone.push(...named, '-o', 'preview', 'origin', 'HEAD:topic')).join('\n');
    expect(live).toContain(`SECOND pull request. Your 2 commits are already in ${another?.url}.`);
    expect(live).toContain(`git push -o pr-hash=${prHash} `);
    expect(remoteLines(await clone.push(...named, 'origin', 'HEAD:topic')).join('\n')).toContain(prHash);
  });

  it('is refused at once if that would disturb too many people, as a push without a delay is', async () => {
    const { clone, named } = await withdrawn();
    const people = Array.from({ length: 6 }, (_, index) => `@someone${index}`).join(' ');
    await clone.commit({ message: `Help\n\n${people}\n` });
    for (const options of [named, [...named, '-o', 'delay=1h']]) {
      const pushed = await clone.push(...options, 'origin', 'HEAD:topic');
      expect(statusTable(pushed)[0]).toContain('would disturb too many people');
    }
  });

  it.each(['closed by the maintainer', 'given up', 'rolled back'])(
    'opens no third, and leaves none open, if the answer was lost and it was then %s',
    async (how) => {
      const { clone, upstream, named } = await withdrawn();
      await clone.commit({ message: 'More\n' });
      const name = delayedAs(await clone.push(...named, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
      await openUnheard(name);
      const states = async () => (await bed.host.pulls(upstream)).map(({ state }) => state);
      expect(await states()).toEqual(['closed', 'open']);
      if (how === 'given up') await press(bed, name, 'give-up');
      else if (how === 'rolled back') await operator.rollBack();
      else bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number: 2 });
      await expect.poll(async () => (await pass(bed), pageOf(bed, name))).not.toMatch(/^200 Delayed/);
      expect(await states()).toEqual(['closed', 'closed']);
    },
  );
});

/** Opens the pull request of what waits, and hears no answer. */
async function openUnheard(name: string): Promise<void> {
  const { passing, answer } = await publishing({ path: /\/pulls$/, cut: true, begin: pressed(name) });
  bed.sandbox.faults.inject({ method: 'GET', path: /\/pulls\b/, times: ALWAYS, answer: { status: 503 } });
  answer();
  await passing;
  await expect.poll(() => pageOf(bed, name)).toContain('The service tries again by itself.');
  bed.sandbox.faults.clear();
}

/** It is open, and nobody knows. */
async function openedUnheard(...options: string[]): Promise<DelayedContribution> {
  const contribution = await delayed(bed, {}, ['-o', 'delay=1h', ...options]);
  const { owner, name: repo } = contribution.upstream;
  bed.sandbox.maintainer.openIssue(owner, repo, 'A bug', 'It crashes.');
  await openUnheard(contribution.name);
  expect(await bed.host.onlyPull(contribution.upstream)).toMatchObject({ state: 'open' });
  expect(await pageOf(bed, contribution.name)).not.toContain('Nothing of it is public yet');
  return contribution;
}

describe('a pull request whose answer was lost', exhaustive, () => {
  it('is found when it is tried again', async () => {
    const { upstream, name } = await openedUnheard();
    await published(bed, name);
    await bed.host.onlyPull(upstream);
  });

  it('is not opened again if the maintainer has closed it meanwhile', async () => {
    const { upstream, name } = await openedUnheard();
    const { number } = await bed.host.onlyPull(upstream);
    bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number });
    await published(bed, name);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it('is found, too, if the maintainer has merged it meanwhile, which has closed its issue', async () => {
    const { upstream, name } = await openedUnheard('-o', 'issue=1');
    const place = { owner: upstream.owner, repo: upstream.name };
    const { number } = await bed.host.onlyPull(upstream);
    for (const each of [number, 1]) bed.sandbox.maintainer.close({ ...place, number: each });
    await published(bed, name);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it('is published, whatever the repository accepts by now, and wherever its base has gone', async () => {
    const { upstream, name } = await openedUnheard();
    await upstream.grow({ files: { '.gitveil.yml': 'accept: false\n' } });
    await upstream.git('branch', '-m', upstream.defaultBranch, 'trunk');
    await bed.restart();
    await published(bed, name);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'open' });
  });

  it('is closed if its person has opened another meanwhile, also if that does not succeed at first', async () => {
    const { upstream, clone, name } = await openedUnheard();
    // By another name: the same push would make it wait for a moment.
    expect((await clone.push('origin', 'HEAD:other')).code).toBe(0);
    const failing = { times: ALWAYS, answer: { status: 503 } };
    bed.sandbox.faults.inject({ method: 'DELETE', path: /\/refs\//, ...failing });
    bed.sandbox.faults.inject({ method: 'PATCH', path: /\/pulls\/\d+$/, ...failing });
    await expect
      .poll(async () => (await pass(bed), pageOf(bed, name)))
      .toMatch(/^200 Delayed\n[^]*could not be withdrawn completely/);
    bed.sandbox.faults.clear();
    await expect.poll(async () => (await pass(bed), pageOf(bed, name))).toMatch(/^200 Failed\n/);
    const states = (await bed.host.pulls(upstream)).map(({ state }) => state);
    expect(states).toEqual(['closed', 'open']);
  });

  it('is closed if its person gives it up, and its branch is removed', async () => {
    const { upstream, name } = await openedUnheard();
    expect(await press(bed, name, 'give-up')).toMatch(/^200 Given up\n/);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
    expect(await bed.host.workBranches(upstream)).toEqual([]);
  });

  it('waits if it cannot be closed now, and is closed when that is asked again', async () => {
    const { upstream, name } = await openedUnheard();
    bed.sandbox.faults.inject({ method: 'GET', path: /\/pulls\b/, times: ALWAYS, answer: { status: 503 } });
    expect(await press(bed, name, 'give-up')).not.toMatch(/^200 Given up\n/);
    bed.sandbox.faults.clear();
    await expect.poll(() => press(bed, name, 'give-up')).toMatch(/^200 Given up\n/);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
  });
});
