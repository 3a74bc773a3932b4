/** Pushes that the code host does not take now, with `-o wait`. Each on a bed of its own kind of trouble. */
import { describe, expect, it } from 'vitest';
import { SECONDARY_LIMIT } from '../../sandbox/known-answers.ts';
import { type Contribution, contribute } from './support/contribution.ts';
import { ALWAYS } from './support/failing-host.ts';
import { heldAs, pageOf, pass } from './support/held.ts';
import { remoteLines, statusTable } from './support/push-output.ts';
import { type TestBed, useTestBed } from './support/test-bed.ts';

const bed = useTestBed();

async function withCommit(on: TestBed): Promise<Contribution> {
  const contribution = await contribute(on);
  await contribution.clone.commit();
  return contribution;
}

/** Looks until the pull request is there, and counts the pull requests. */
async function untilOpen(on: TestBed, { upstream }: Contribution): Promise<void> {
  await expect.poll(async () => (await pass(on), (await on.host.pulls(upstream)).length)).toBe(1);
  await pass(on);
  await on.host.onlyPull(upstream);
}

describe('a push that the host does not take', () => {
  it.each([
    ['when it forks', 'POST', /\/forks$/],
    ['when it is sent the commits', 'POST', /git-receive-pack$/],
    ['when the pull request is opened', 'POST', /\/pulls$/],
  ])('%s is held with "wait", and published when it does', async (_, method, path) => {
    const contribution = await withCommit(bed);
    bed.sandbox.faults.inject({ method, path, times: ALWAYS, answer: { status: 503 } });
    const hash = heldAs(await contribution.clone.push('-o', 'wait', 'origin', 'HEAD:topic'));
    expect(await pageOf(bed, hash)).toMatch(/^200 Held: .*the code host does not accept it now/s);
    await pass(bed);
    expect(await pageOf(bed, hash)).toMatch(/It could not be published yet\. The service tries again\./);
    bed.sandbox.faults.clear();
    await untilOpen(bed, contribution);
    expect(await bed.host.onlyPull(contribution.upstream)).toMatchObject({
      head: expect.stringContaining(hash),
    });
  });

  it('is published once if only the answer was lost', async () => {
    const contribution = await withCommit(bed);
    const cut = { during: 'answer', afterBytes: 0 } as const;
    bed.sandbox.faults.inject({ method: 'POST', path: /\/pulls$/, times: ALWAYS, cut });
    bed.sandbox.faults.inject({ method: 'GET', path: /\/pulls\b/, times: ALWAYS, answer: { status: 503 } });
    const hash = heldAs(await contribution.clone.push('-o', 'wait', 'origin', 'HEAD:topic'));
    bed.sandbox.faults.clear();
    await bed.host.onlyPull(contribution.upstream);
    await expect.poll(async () => (await pass(bed), await pageOf(bed, hash))).not.toContain('Held');
    await bed.host.onlyPull(contribution.upstream);
  });

  it('is refused without "wait", which the answer names', async () => {
    const { upstream, clone } = await withCommit(bed);
    bed.sandbox.faults.inject({ method: 'POST', path: /\/pulls$/, times: ALWAYS, answer: { status: 503 } });
    const pushed = await clone.push('origin', 'HEAD:topic');
    expect(statusTable(pushed)).toEqual([
      ' ! [remote rejected] HEAD -> topic (push rejected: the pull request could not be opened)',
    ]);
    expect(remoteLines(pushed)).toContain(
      'Add -o wait, and the service publishes it as soon as the host accepts it.',
    );
    await pass(bed);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('for good is refused, also with "wait"', async () => {
    const { clone } = await withCommit(bed);
    const answer = { status: 422, body: JSON.stringify({ message: 'Validation Failed' }) };
    bed.sandbox.faults.inject({ method: 'POST', path: /\/pulls$/, times: ALWAYS, answer });
    expect((await clone.push('-o', 'wait', 'origin', 'HEAD:topic')).code).toBe(1);
  });
});

describe('with WHEN_BUSY=hold', () => {
  const patient = useTestBed({ env: { WHEN_BUSY: 'hold' } });

  it('every such push is held', async () => {
    const contribution = await withCommit(patient);
    patient.sandbox.faults.inject({
      method: 'POST',
      path: /\/pulls$/,
      times: ALWAYS,
      answer: { status: 503 },
    });
    heldAs(await contribution.clone.push('origin', 'HEAD:topic'));
    patient.sandbox.faults.clear();
    await untilOpen(patient, contribution);
  });
});

describe('when the account may create nothing more', () => {
  const poor = useTestBed({ env: { LIMIT_CREATIONS: '2/1h' } });

  it('a push is held with "wait", and refused without', async () => {
    const first = await withCommit(poor);
    expect((await first.clone.push('origin', 'HEAD:topic')).code).toBe(0);
    const { clone } = await withCommit(poor);
    const pushed = await clone.push('origin', 'HEAD:topic');
    expect(statusTable(pushed)[0]).toContain('the bot account has little left');
    expect(remoteLines(pushed).join('\n')).toContain('-o wait');
    heldAs(await clone.push('-o', 'wait', 'origin', 'HEAD:topic'));
  });
});

describe('when the host asks to wait', () => {
  const slow = useTestBed();

  it('a push is held with "wait", and not refused at the door', async () => {
    const contribution = await withCommit(slow);
    slow.sandbox.faults.inject({ method: 'POST', path: /\/forks$/, answer: SECONDARY_LIMIT });
    heldAs(await contribution.clone.push('-o', 'wait', 'origin', 'HEAD:topic'));
  });
});
