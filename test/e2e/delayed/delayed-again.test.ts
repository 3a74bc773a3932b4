/** The same push again while it waits, and after: it is found by what is pushed, from wherever. */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { delayed, delayedAs, nameIn, pageOf, pass, press, published } from '../support/delayed.ts';
import { remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, readPushAnswer, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

const timesIn = (text: string): string[] => text.match(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g) ?? [];

describe('a delayed push that is pushed again', () => {
  it('answers with the same page, and with another delay it is moved, which is said', async () => {
    const { clone, name } = await delayed(bed);
    const times = timesIn(await pageOf(bed, name));
    const moved = await clone.push('-o', 'delay=3d', 'origin', 'HEAD:topic');
    expect(delayedAs(moved)).toBe(name);
    expect(remoteLines(moved)).toContain('You have pushed this before. It is published at another time now.');
    const after = timesIn(await pageOf(bed, name));
    expect(after).not.toEqual(times);
    expect(remoteLines(moved).join('\n')).toContain(after[0]);
  });

  it('with other words keeps its own, and says how to change them', exhaustive, async () => {
    const { upstream, clone, name } = await delayed(bed);
    const pushed = await clone.push('-o', 'delay=1h', '-o', 'title=Other', 'origin', 'HEAD:topic');
    expect(delayedAs(pushed)).toBe(name);
    expect(remoteLines(pushed).join('\n')).toContain('give it up, then push again');
    await published(bed, name);
    expect((await bed.host.onlyPull(upstream)).title).not.toBe('Other');
  });

  it('from another network is found, too', async () => {
    const { upstream, clone } = await contribute(bed);
    const newId = await clone.commit();
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const body = pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], pack, options: ['delay=1h'] });
    const names = new Set<string>();
    for (const person of [bed.person(), bed.person()]) {
      names.add(nameIn(readPushAnswer(await sendPush(upstream.url, person, body)).progress.join('\n')));
    }
    expect(names.size).toBe(1);
  });

  it('and was given up waits anew', async () => {
    const { upstream, clone, name } = await delayed(bed);
    await press(bed, name, 'give-up');
    const again = delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
    expect(again).not.toBe(name);
    await published(bed, again);
    await bed.host.onlyPull(upstream);
  });

  it('after it was published answers with its pull request', exhaustive, async () => {
    const { upstream, clone, name } = await delayed(bed);
    await published(bed, name);
    const pushed = await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    expect(pushed.code).toBe(0);
    expect(remoteLines(pushed).join('\n')).toContain((await bed.host.onlyPull(upstream)).url);
    await pass(bed);
    await bed.host.onlyPull(upstream);
  });

  it(
    'without a delay is published at once, and the one that waits opens no second pull request',
    exhaustive,
    async () => {
      const { upstream, clone, name } = await delayed(bed);
      const { pull } = await expectAccepted(
        bed,
        { upstream, clone },
        await clone.push('origin', 'HEAD:topic'),
      );
      await expect
        .poll(async () => (await pass(bed), pageOf(bed, name)))
        .toMatch(/^200 Failed\n[^]*the same commits were proposed before/);
      expect(await pageOf(bed, name)).toContain(pull.url);
      await bed.host.onlyPull(upstream);
    },
  );

  it(
    'without a delay, and was withdrawn or closed then, does not come again by itself',
    exhaustive,
    async () => {
      const { upstream, clone, name } = await delayed(bed);
      const { banner } = await expectAccepted(
        bed,
        { upstream, clone },
        await clone.push('origin', 'HEAD:topic'),
      );
      const named = ['-o', `pr-hash=${banner.prHash}`, '-o', `pr-key=${banner.prKey}`];
      expect((await clone.push('-o', 'withdraw', ...named, 'origin', 'HEAD:topic')).code).toBe(0);
      await expect
        .poll(async () => (await pass(bed), pageOf(bed, name)))
        .toMatch(/^200 Failed\n[^]*the same commits were proposed before/);
      await bed.host.onlyPull(upstream);
    },
  );

  it('with a time that cannot be kept is refused: it is not published sooner than was said', async () => {
    const { clone, name } = await delayed(bed, {}, ['-o', 'delay=7d']);
    await bed.service.runScheduled();
    const times = timesIn(await pageOf(bed, name));
    expect(times).toHaveLength(2);
    const moved = await clone.push('-o', 'delay=7d', 'origin', 'HEAD:topic');
    expect(delayedAs(moved)).toBe(name);
  });

  it('twice at once waits once', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const push = () => clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    const pushed = await Promise.all([push(), push()]);
    const names = new Set(pushed.filter(({ code }) => code === 0).map(delayedAs));
    names.add(delayedAs(await push()));
    expect(names.size).toBe(1);
    await published(bed, [...names][0] as string);
    await pass(bed);
    await bed.host.onlyPull(upstream);
  });
});

describe('whoever lets the same commits wait and publishes them, again and again,', () => {
  it('opens one pull request', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    for (let time = 0; time < 3; time++) {
      const pushed = await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
      const name = nameIn(pushed.stderr);
      await press(bed, name, 'publish');
      await expect.poll(() => pageOf(bed, name)).toContain('/pull/');
    }
    await bed.host.onlyPull(upstream);
  });
});
