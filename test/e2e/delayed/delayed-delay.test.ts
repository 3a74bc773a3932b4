/** Pushes that are published at a chosen time, with `-o delay`. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import {
  delayed,
  delayedAs,
  HOUR_MS,
  MINUTE_MS,
  pageOf,
  pass,
  press,
  published,
  publishedAs,
} from '../support/delayed.ts';
import { prPage } from '../support/pr-page.ts';
import { remoteLines, statusTable } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

describe('a push with a delay', () => {
  it('is accepted, and nothing of it is at the host before its time', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const before = Date.now();
    const pushed = await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    const name = delayedAs(pushed);
    expect(statusTable(pushed)).toEqual([' * [new branch]      HEAD -> topic']);
    expect(
      remoteLines(pushed).find((line) => line.startsWith('Delayed: it will be published between ')),
    ).toBeDefined();
    // A run publishes what is due within its minute, and the first moment of the hour may be the
    // one that was drawn.
    await bed.service.runScheduled(before + HOUR_MS - MINUTE_MS);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(bed.host.forkPath(upstream)).toBeNull();
    expect(await pageOf(bed, name)).toMatch(/^200 Delayed\n/);
  });

  it('is published when its time has come, and its page tells hash, key and address', async () => {
    const { upstream, clone, name } = await delayed(bed);
    const page = await published(bed, name);
    const pull = await bed.host.onlyPull(upstream);
    const { prHash, key } = publishedAs(page);
    expect(pull).toMatchObject({ state: 'open', head: `${bed.sandbox.botLogin}:anon-${prHash}` });
    expect(page).toContain(pull.url);
    await clone.push(
      '-o',
      'withdraw',
      '-o',
      `pr-hash=${prHash}`,
      '-o',
      `pr-key=${key}`,
      'origin',
      'HEAD:topic',
    );
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
  });

  it('is published at once by the button of its page, and once if that is pressed twice', async () => {
    const { upstream, name } = await delayed(bed);
    await Promise.all([press(bed, name, 'publish'), press(bed, name, 'publish')]);
    await expect.poll(() => pageOf(bed, name)).toContain('/pull/');
    await press(bed, name, 'publish');
    await pass(bed);
    await bed.host.onlyPull(upstream);
  });

  it('of several megabytes arrives whole', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit({ files: { 'large.bin': randomBytes(3 * 1024 * 1024) }, message: 'Large\n' });
    await clone.commit({ message: 'And small\n' });
    await published(bed, delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic')));
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'open' });
  });

  it('is only shown by a preview, which says that it asks', async () => {
    const { upstream, clone, name } = await delayed(bed);
    const pushed = await clone.push('-o', 'preview', '-o', 'delay=1h', 'origin', 'HEAD:topic');
    expect(statusTable(pushed)[0]).toContain('preview: nothing was published');
    expect(remoteLines(pushed).join('\n')).toContain('A preview asks the code host');
    expect(remoteLines(pushed)[1]).toMatch(/^Without -o preview, it will be published between .* UTC and /);
    expect(await pageOf(bed, name)).toMatch(/^200 Delayed\n/);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });
});

describe('an update with a delay', () => {
  it('is published when its time has come, and no other page tells of it before', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    await clone.commit({ message: 'More\n' });
    const before = await bed.host.onlyPull(upstream);
    const requests = bed.host.requests.length;
    const name = delayedAs(
      await clone.push('-o', `pr-hash=${banner.prHash}`, '-o', 'delay=1h', 'origin', 'HEAD:topic'),
    );
    const asked = bed.host.requests.slice(requests).map(({ method, path }) => `${method} ${path}`);
    expect(asked.filter((request) => request.includes(banner.prHash))).toEqual([]);
    expect((await bed.host.onlyPull(upstream)).headSha).toBe(before.headSha);
    expect(await prPage(bed, banner.prHash)).not.toMatch(/delay/i);
    const page = await published(bed, name);
    expect(page).toContain(before.url);
    expect((await bed.host.onlyPull(upstream)).headSha).not.toBe(before.headSha);
  });

  it('that changes its texts without the key is refused at once', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    await clone.commit({ message: 'More\n' });
    const named = ['-o', `pr-hash=${banner.prHash}`, '-o', 'title=Other'];
    const pushed = await clone.push(...named, '-o', 'delay=1h', 'origin', 'HEAD:topic');
    expect(statusTable(pushed)[0]).toContain('the pr-key is missing');
  });

  it('gives way to a newer one, which is published at once, and says so', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    const named = ['-o', `pr-hash=${banner.prHash}`] as const;
    await clone.commit({ message: 'Delayed\n' });
    const name = delayedAs(await clone.push(...named, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
    await clone.git('reset', '--quiet', '--hard', 'HEAD~1');
    await clone.commit({ message: 'Newer\n' });
    await expectAccepted(bed, contribution, await clone.push(...named, 'origin', '+HEAD:topic'));
    const { headSha } = await bed.host.onlyPull(upstream);
    await expect
      .poll(async () => (await pass(bed), pageOf(bed, name)))
      .toMatch(/^200 Failed\n[^]*another push to this pull request came first/);
    expect((await bed.host.onlyPull(upstream)).headSha).toBe(headSha);
  });

  it(
    'goes on top of what it stands on, although that was published after it was pushed',
    exhaustive,
    async () => {
      const contribution = await contribute(bed);
      const { clone, upstream } = contribution;
      await clone.commit();
      const { banner } = await expectAccepted(bed, contribution, await clone.push());
      const named = ['-o', `pr-hash=${banner.prHash}`] as const;
      await clone.commit({ message: 'Second\n' });
      const second = await clone.idOf('HEAD');
      await clone.commit({ message: 'Third\n' });
      const name = delayedAs(await clone.push(...named, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
      expect((await clone.push(...named, 'origin', `${second}:refs/heads/topic`)).code).toBe(0);
      const { headSha } = await bed.host.onlyPull(upstream);
      await published(bed, name);
      expect((await bed.host.onlyPull(upstream)).headSha).not.toBe(headSha);
    },
  );
});

describe('whoever asks for a release', () => {
  it('without the seal of the service learns nothing', async () => {
    const { name } = await delayed(bed);
    const body = JSON.stringify({ name, lease: 'a'.repeat(32), seal: 'b'.repeat(64), now: 0 });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${bed.service.url}/v1/delayed`, { method: 'POST', headers, body });
    expect(answer.status).toBe(404);
    expect(await pageOf(bed, name)).toMatch(/^200 Delayed\n/);
  });
});

describe('what the host did not take of an update', exhaustive, () => {
  it('is told on its page', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    const named = ['-o', `pr-hash=${banner.prHash}`, '-o', `pr-key=${banner.prKey}`, '-o', 'title=Other'];
    await clone.commit({ message: 'More\n' });
    const name = delayedAs(await clone.push(...named, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
    const answer = { status: 422, body: { message: 'Validation Failed', errors: [], status: '422' } };
    bed.sandbox.faults.inject({ method: 'PATCH', path: /\/pulls\/\d+$/, times: 10, answer });
    expect(await published(bed, name)).toContain('Title, description or base could not be changed');
    bed.sandbox.faults.clear();
  });
});

it(
  'with the hash of a pull request in another repository, it opens one here, says so at once, and leaves the other alone',
  exhaustive,
  async () => {
    const other = await contribute(bed);
    await other.clone.commit();
    const first = await expectAccepted(bed, other, await other.clone.push());
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const named = ['-o', `pr-hash=${first.banner.prHash}`, '-o', 'delay=1h'];
    const pushed = await clone.push(...named, 'origin', 'HEAD:topic');
    expect(remoteLines(pushed)).toContain(
      `The service has recorded no pull request of ${upstream.fullName} with that pr-hash.`,
    );
    const page = await published(bed, delayedAs(pushed));
    expect(publishedAs(page).prHash).not.toBe(first.banner.prHash);
    expect(page).toContain(
      `No pull request of ${upstream.fullName} has that pr-hash, so this would open a NEW one.`,
    );
    await bed.host.onlyPull(upstream);
    expect((await bed.host.onlyPull(other.upstream)).headSha).toBe(first.pull.headSha);
  },
);
