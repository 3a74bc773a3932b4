/**
 * Pushes of more than one branch, and of tags. One branch is taken. What lies inside it is refused
 * by name; what does not would bring commits along that nothing makes anonymous, so then the whole
 * push is refused before a byte leaves.
 */
import { expect } from 'vitest';
import type { ClientRun } from '../support/client.ts';
import { Contributor } from '../support/contributor.ts';
import { type Act, type Story, TOPIC, withTopic } from './story.ts';

const TAG_REASON = /tags are not accepted/;

/**
 * A push of which a part was taken: the client does not report success, and the rest is refused by
 * name.
 */
async function expectPartlyTaken(
  at: Contributor,
  pushed: ClientRun,
  refused: RegExp,
  tip: string,
): Promise<void> {
  expect(pushed.isOk, pushed.output).toBe(false);
  expect(pushed.output).toMatch(refused);
  await at.expectAccepted({ ...pushed, isOk: true }, tip);
  expect(await at.bed.host.pulls(at.upstream)).toHaveLength(1);
}

const oneAfterTheOther: Act = async (bed, client) => {
  const at = await Contributor.start(bed, client);
  for (const branch of ['part', 'all']) {
    await at.switchTo(branch);
    await at.commit();
    await at.expectAccepted(await at.push([`refs/heads/${branch}:refs/heads/${branch}`]));
  }
  expect(await bed.host.pulls(at.upstream)).toHaveLength(2);
};

export const severalRefs: readonly Story[] = [
  {
    name: 'two branches, the second inside the first',
    async act(bed, client) {
      const at = await Contributor.start(bed, client);
      await at.switchTo('part');
      await at.commit();
      await at.switchTo('all');
      await at.commit();
      const pushed = await at.push(['refs/heads/all:refs/heads/all', 'refs/heads/part:refs/heads/part']);
      await expectPartlyTaken(at, pushed, /refs\/heads\/part|part -> part/, 'all');
      expect(pushed.output).toMatch(/one branch per push/);
    },
    needs: { 'several-refs': { name: 'it pushes one after the other', act: oneAfterTheOther } },
  },
  {
    name: 'two branches with commits of their own',
    needs: { 'several-refs': null },
    async act(bed, client) {
      const at = await Contributor.start(bed, client);
      await at.switchTo('first');
      await at.commit();
      await at.switchTo('main');
      await at.switchTo('second');
      await at.commit();
      const both = ['refs/heads/first:refs/heads/first', 'refs/heads/second:refs/heads/second'];
      await at.expectRefused(await at.push(both), /git push .*first/);
      await at.expectAccepted(await at.push(both.slice(0, 1)), 'first');
    },
  },
  {
    name: 'branch and a tag on it',
    needs: { 'several-refs': null },
    async act(bed, client) {
      const at = await withTopic(bed, client);
      await at.tag('v1');
      const pushed = await at.push([TOPIC, 'refs/tags/v1:refs/tags/v1']);
      await expectPartlyTaken(at, pushed, /v1/, 'topic');
      expect(pushed.output).toMatch(TAG_REASON);
    },
  },
  {
    name: 'branch and a tag elsewhere',
    needs: { 'several-refs': null },
    async act(bed, client) {
      const at = await withTopic(bed, client);
      await at.switchTo('main');
      await at.switchTo('other');
      await at.commit();
      await at.tag('v1');
      await at.expectRefused(await at.push([TOPIC, 'refs/tags/v1:refs/tags/v1']), /\btags?\b/);
    },
  },
  {
    name: 'tag alone',
    async act(bed, client) {
      const at = await withTopic(bed, client);
      await at.tag('v1');
      await at.expectRefused(await at.push(['refs/tags/v1:refs/tags/v1']), TAG_REASON);
    },
  },
];
