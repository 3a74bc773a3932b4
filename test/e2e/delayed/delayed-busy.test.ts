/**
 * Pushes for which there is no room now, with `-o wait`: that is decided before anything is written
 * at the host. Each on a bed of its own kind of trouble.
 */
import { describe, expect, it } from 'vitest';
import { SECONDARY_LIMIT } from '../../../sandbox/known-answers.ts';
import { type Contribution, contribute } from '../support/contribution.ts';
import { ALWAYS } from '../support/failing-host.ts';
import { delayedAs, HOUR_MS, pageOf, pass, press, published } from '../support/delayed.ts';
import { bannerOf, remoteLines, statusTable } from '../support/push-output.ts';
import { type TestBed, useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

async function withCommit(on: TestBed): Promise<Contribution> {
  const contribution = await contribute(on);
  await contribution.clone.commit();
  return contribution;
}

const outage = (on: TestBed, path: RegExp) =>
  on.sandbox.faults.inject({ path, times: ALWAYS, answer: { status: 503 } });

describe('a push that the host does not take', exhaustive, () => {
  it('waits with "wait" if its repository cannot be looked up, and is published when it can', async () => {
    const contribution = await withCommit(bed);
    const { upstream, clone } = contribution;
    outage(bed, new RegExp(`/repos/${upstream.fullName}$`));
    const name = delayedAs(await clone.push('-o', 'wait', 'origin', 'HEAD:topic'));
    expect(await pageOf(bed, name)).toMatch(/^200 Delayed\nThere was no room for it/);
    // Its time is what was told first.
    const later = await clone.push('-o', 'delay=2d', 'origin', 'HEAD:topic');
    expect(remoteLines(later)).toContain('This push waits already.');
    expect(later.stderr).toContain('It keeps the time and the page that it was told first.');
    // A run would try again within its minute, and end only then.
    await press(bed, name, 'publish');
    await expect
      .poll(() => pageOf(bed, name))
      .toMatch(/It could not be published yet\. The service tries again by itself\./);
    expect(await pageOf(bed, name)).not.toContain('ush again');
    bed.sandbox.faults.clear();
    await published(bed, name);
    await bed.host.onlyPull(upstream);
  });

  it('is refused if sending the commits fails, also with "wait", as some may be there; a retry goes on', async () => {
    const { upstream, clone } = await withCommit(bed);
    bed.sandbox.faults.inject({
      method: 'POST',
      path: /git-receive-pack$/,
      times: ALWAYS,
      answer: { status: 503 },
    });
    const pushed = await clone.push('-o', 'wait', 'origin', 'HEAD:topic');
    expect(statusTable(pushed)[0]).toContain('push rejected: ');
    expect(remoteLines(pushed).join('\n')).toMatch(/[Pp]ush .*again/);
    await pass(bed);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    bed.sandbox.faults.clear();
    expect((await clone.push('-o', 'wait', 'origin', 'HEAD:topic')).code).toBe(0);
    await bed.host.onlyPull(upstream);
  });

  it('is opened once if only the answer was lost, and then pushed again with a delay', async () => {
    const { upstream, clone } = await withCommit(bed);
    const cut = { during: 'answer', afterBytes: 0 } as const;
    bed.sandbox.faults.inject({ method: 'POST', path: /\/pulls$/, times: ALWAYS, cut });
    bed.sandbox.faults.inject({ method: 'GET', path: /\/pulls\b/, times: ALWAYS, answer: { status: 503 } });
    expect((await clone.push('-o', 'wait', 'origin', 'HEAD:topic')).code).toBe(1);
    bed.sandbox.faults.clear();
    const delayedToo = await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    expect(statusTable(delayedToo)[0]).toContain('an earlier attempt has begun to publish this push');
    expect((await clone.push('origin', 'HEAD:topic')).code).toBe(0);
    await bed.host.onlyPull(upstream);
  });
});

describe('when a network has had its pull requests of an hour', exhaustive, () => {
  // No earlier run, which is hours ahead, can still be at work there.
  const full = useOwnTestBed();

  it('a push is refused without "wait", and waits with it', async () => {
    const { upstream, clone } = await withCommit(full);
    const hashes: string[] = [];
    for (let count = 0; count < 5; count++) {
      await clone.commit({ message: `Number ${count}\n` });
      hashes.push(bannerOf(await clone.push('origin', `HEAD:topic-${count}`)).prHash);
    }
    await clone.commit({ message: 'One more\n' });
    const pushed = await clone.push('origin', 'HEAD:more');
    expect(statusTable(pushed)[0]).toContain('rate limit exceeded');
    expect(remoteLines(pushed).join('\n')).toContain('Add -o wait, ');
    // Where it helps.
    const draft = await clone.push('-o', 'overwrite', '-o', 'draft', 'origin', 'HEAD:more');
    expect(draft.stderr).not.toContain('Add -o wait');
    const [prHash = ''] = hashes;
    const { number, url } = (await full.host.pulls(upstream)).find(({ head }) => head.includes(prHash))!;
    full.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number });
    await full.service.runScheduled();
    const ended = await clone.push('-o', `pr-hash=${prHash}`, 'origin', 'HEAD:more');
    expect(remoteLines(ended)).toContain(`${url} was closed, so this would open a NEW pull request.`);
    // What refuses a push that waits is told, as the limit does not.
    const double = await clone.push('-o', 'wait', 'origin', 'HEAD~1:refs/heads/double');
    expect(double.stderr).toContain('(push rejected: the same commits were proposed before)');
    const name = delayedAs(await clone.push('-o', 'wait', 'origin', 'HEAD:more'));
    // The hour is not over, whatever the clock of the cron trigger says. It says no more than that:
    // in two days, the push would end.
    await full.service.runScheduled(Date.now() + 12 * HOUR_MS);
    const page = await pageOf(full, name);
    expect(page).toMatch(/^200 Delayed\n[^]*rate limit exceeded/i);
    // It has not begun, and gets the date of the moment at which it does.
    expect(page).not.toContain('may be public');
    expect(await full.host.pulls(upstream)).toHaveLength(5);
  });
});

describe('with WHEN_BUSY=wait', exhaustive, () => {
  const patient = useOwnTestBed({ env: { WHEN_BUSY: 'wait' } });

  it('every such push waits', async () => {
    const { clone, upstream } = await withCommit(patient);
    outage(patient, new RegExp(`/repos/${upstream.fullName}$`));
    const name = delayedAs(await clone.push('origin', 'HEAD:topic'));
    patient.sandbox.faults.clear();
    await published(patient, name);
    await patient.host.onlyPull(upstream);
  });
});

describe('when the account may create nothing more', exhaustive, () => {
  const poor = useOwnTestBed({ env: { LIMIT_CREATIONS: '2/1h' } });

  it('a push waits with "wait", and is refused without', async () => {
    const first = await withCommit(poor);
    expect((await first.clone.push('origin', 'HEAD:topic')).code).toBe(0);
    const { clone } = await withCommit(poor);
    const pushed = await clone.push('origin', 'HEAD:topic');
    expect(statusTable(pushed)[0]).toContain('the bot account has little left');
    expect(remoteLines(pushed).join('\n')).toContain('-o wait');
    delayedAs(await clone.push('-o', 'wait', 'origin', 'HEAD:topic'));
  });
});

describe('when the host asks to wait', exhaustive, () => {
  const slow = useOwnTestBed();

  it('a push waits with "wait", and is not refused at the door; one with a delay is not either', async () => {
    const first = await withCommit(slow);
    slow.sandbox.faults.inject({ method: 'POST', path: /\/forks$/, answer: SECONDARY_LIMIT });
    expect((await first.clone.push('origin', 'HEAD:topic')).code).toBe(1);
    const { clone } = await withCommit(slow);
    expect((await clone.push('origin', 'HEAD:topic')).stderr).toMatch(/asks to wait.*Add -o wait, /s);
    delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
    await clone.commit({ message: 'Another\n' });
    delayedAs(await clone.push('-o', 'wait', 'origin', 'HEAD:other'));
  });
});
