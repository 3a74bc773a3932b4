/** Pushes that are published at a chosen time, with `-o delay`. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from './support/contribution.ts';
import { HOUR_MS, held, heldAs, MINUTE_MS, pageOf, pass } from './support/held.ts';
import { remoteLines, statusTable } from './support/push-output.ts';
import { useTestBed } from './support/test-bed.ts';
import { packOf, pushBody, readPushAnswer, sendPush } from './support/wire.ts';

const bed = useTestBed();

describe('a push with a delay', () => {
  it('is accepted, and nothing of it is at the host before its time', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const pushed = await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    const hash = heldAs(pushed);
    expect(statusTable(pushed)).toEqual([' * [new branch]      HEAD -> topic']);
    expect(
      remoteLines(pushed).find((line) => line.startsWith('Held: it will be published between ')),
    ).toBeDefined();
    await bed.service.runScheduled(Date.now() + HOUR_MS - MINUTE_MS);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(bed.host.forkPath(upstream)).toBeNull();
    expect(await pageOf(bed, hash)).toMatch(/^200 Held: /);
  });

  it('is published when its time has come, and its page shows the pull request', async () => {
    const { upstream, hash } = await held(bed);
    await expect.poll(async () => (await pass(bed), (await bed.host.pulls(upstream)).length)).toBe(1);
    const pull = await bed.host.onlyPull(upstream);
    expect(pull).toMatchObject({ state: 'open', head: `${bed.sandbox.botLogin}:anon-${hash}` });
    await expect.poll(() => pageOf(bed, hash)).toContain(pull.url);
    expect(await pageOf(bed, hash)).not.toContain('Held');
  });

  it('is given up by a withdrawal', async () => {
    const { upstream, clone, hash, withdraw } = await held(bed);
    const pushed = await clone.push(...withdraw, 'origin', 'HEAD:topic');
    expect(remoteLines(pushed)).toContain('Your push was held, and is given up.');
    await pass(bed);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(await pageOf(bed, hash)).toMatch(/^200 Cancelled: /);
  });

  it('that is repeated answers with the same hold, and with delay=0s is published', async () => {
    const { upstream, clone, hash } = await held(bed);
    expect(heldAs(await clone.push('origin', 'HEAD:topic'))).toBe(hash);
    // Not even what is made before a push begins.
    expect(bed.host.forkPath(upstream)).toBeNull();
    expect(heldAs(await clone.push('-o', 'delay=2h', 'origin', 'HEAD:topic'))).toBe(hash);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    const { banner } = await expectAccepted(
      bed,
      { upstream, clone },
      await clone.push('-o', 'delay=0s', 'origin', 'HEAD:topic'),
    );
    expect(banner.prHash).toBe(hash);
    await pass(bed);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it('and is then released counts once among the pull requests of an hour', async () => {
    const { upstream, clone } = await held(bed);
    expect((await clone.push('-o', 'delay=0s', 'origin', 'HEAD:topic')).code).toBe(0);
    for (const branch of ['b', 'c', 'd', 'e']) {
      await clone.commit();
      expect((await clone.push('origin', `HEAD:${branch}`)).code).toBe(0);
    }
    await clone.commit();
    expect((await clone.push('origin', 'HEAD:f')).stderr).toContain('rate limit exceeded');
    expect(await bed.host.pulls(upstream)).toHaveLength(5);
  });

  it('of several megabytes arrives whole', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit({ files: { 'large.bin': randomBytes(3 * 1024 * 1024) }, message: 'Large\n' });
    await clone.commit({ message: 'And small\n' });
    heldAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
    await pass(bed);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'open' });
  });

  it('is replaced by a push that names its hash, and keeps its time', async () => {
    const { upstream, clone, hash } = await held(bed);
    await clone.commit({ message: 'Better\n' });
    expect(heldAs(await clone.push('-o', `pr-hash=${hash}`, 'origin', 'HEAD:topic'))).toBe(hash);
    await pass(bed);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'Better' });
  });

  it('is only shown by a preview, and stays as it is', async () => {
    const { upstream, clone, hash } = await held(bed);
    const pushed = await clone.push('-o', 'preview', 'origin', 'HEAD:topic');
    expect(statusTable(pushed)[0]).toContain('preview: nothing was published');
    expect(await pageOf(bed, hash)).toMatch(/^200 Held: /);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it.each(['30s', '8d', '1w', 'soon', '-1h', ''])('of "%s" is refused', async (delay) => {
    const { clone } = await contribute(bed);
    await clone.commit();
    const pushed = await clone.push('-o', `delay=${delay}`, 'origin', 'HEAD:topic');
    expect(statusTable(pushed)).toEqual([
      ' ! [remote rejected] HEAD -> topic (push rejected: delay must be a duration from 1m to 7d, such as 2h, or 0s for at once)',
    ]);
  });
});

describe('an update with a delay', () => {
  it('is published when its time has come', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    await clone.commit({ message: 'More\n' });
    const named = ['-o', `pr-hash=${banner.prHash}`] as const;
    const before = await bed.host.onlyPull(upstream);
    expect(heldAs(await clone.push(...named, '-o', 'delay=1h', 'origin', 'HEAD:topic'))).toBe(banner.prHash);
    expect(heldAs(await clone.push(...named, 'origin', 'HEAD:topic'))).toBe(banner.prHash);
    expect((await bed.host.onlyPull(upstream)).headSha).toBe(before.headSha);
    expect(await pageOf(bed, banner.prHash)).toMatch(
      /^An update is held\. Held: it will be published between /m,
    );
    await expect
      .poll(async () => (await pass(bed), (await bed.host.onlyPull(upstream)).headSha))
      .not.toBe(before.headSha);
    expect(await pageOf(bed, banner.prHash)).not.toContain('held');
  });

  it('gives way to a newer one, which is published at once', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    const named = ['-o', `pr-hash=${banner.prHash}`] as const;
    await clone.commit({ message: 'Held\n' });
    heldAs(await clone.push(...named, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
    await clone.commit({ message: 'Newer\n' });
    await expectAccepted(
      bed,
      contribution,
      await clone.push(...named, '-o', 'delay=0s', 'origin', 'HEAD:topic'),
    );
    const { headSha } = await bed.host.onlyPull(upstream);
    await pass(bed);
    expect((await bed.host.onlyPull(upstream)).headSha).toBe(headSha);
  });
});

// Git takes longer to begin than the service to give back.
describe('a push in the moment that the last one is answered', () => {
  it('goes on', async () => {
    const { upstream, clone } = await contribute(bed);
    const newId = await clone.commit();
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const push = async (...options: string[]) => {
      const body = pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], pack, options });
      return readPushAnswer(await sendPush(upstream.url, clone.person, body));
    };
    const accepted = ['unpack ok', 'ok refs/heads/topic'];
    const { progress, report } = await push('delay=1h');
    expect(report).toEqual(accepted);
    expect((await push('delay=0s')).report).toEqual(accepted);
    const [, hash] = /PR hash: +(\w+)/.exec(progress.join('\n')) as RegExpExecArray;
    for (const delay of ['1h', '2h', '0s']) {
      expect((await push(`pr-hash=${hash}`, `delay=${delay}`)).report).toEqual(accepted);
    }
    await bed.host.onlyPull(upstream);
  });
});

describe('the time', () => {
  it('is told to the minute, as a span as long as the delay', async () => {
    const { hash } = await held(bed);
    const page = await pageOf(bed, hash);
    const [from, to] = [...page.matchAll(/(\d{4}-\d\d-\d\d \d\d:\d\d) UTC/g)].map(([, time]) =>
      Date.parse(`${time}Z`),
    );
    expect((to as number) - (from as number)).toBe(HOUR_MS);
  });
});

describe('two of the same push at once', () => {
  it('are held as one', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const push = () => clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    const pushed = await Promise.all([push(), push()]);
    const hashes = new Set(pushed.filter(({ code }) => code === 0).map(heldAs));
    hashes.add(heldAs(await push()));
    expect(hashes.size).toBe(1);
    await expect.poll(async () => (await pass(bed), (await bed.host.pulls(upstream)).length)).toBe(1);
    await pass(bed);
    await bed.host.onlyPull(upstream);
  });
});

describe('whoever holds the same commits and releases them, again and again,', () => {
  it('opens five pull requests an hour', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    for (let time = 0; time < 7; time++) {
      for (const delay of ['1h', '0s']) await clone.push('-o', `delay=${delay}`, 'origin', 'HEAD:topic');
    }
    expect(await bed.host.pulls(upstream)).toHaveLength(5);
  });
});

describe('whoever asks for a release', () => {
  it('without the seal of the service learns nothing', async () => {
    const { hash } = await held(bed);
    const body = JSON.stringify({ prHash: hash, lease: 'a'.repeat(32), seal: 'b'.repeat(64), now: 0 });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${bed.service.url}/v1/held`, { method: 'POST', headers, body });
    expect(answer.status).toBe(404);
    expect(await pageOf(bed, hash)).toMatch(/^200 Held: /);
  });
});

describe('the same commits of two people', () => {
  it('are held as two: nobody learns of another’s', async () => {
    const { upstream, clone } = await contribute(bed);
    const newId = await clone.commit();
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const body = pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], pack, options: ['delay=1h'] });
    const [ada, bea] = [bed.person(), bed.person()];
    const hashOf = async (person: typeof ada) => {
      const { progress } = readPushAnswer(await sendPush(upstream.url, person, body));
      return /PR hash: +(\w+)/.exec(progress.join('\n'))?.[1];
    };
    const first = await hashOf(ada);
    expect(first).toBeDefined();
    expect(await hashOf(bea)).not.toBe(first);
    expect(await hashOf(ada)).toBe(first);
  });
});
