/**
 * Messages that judging tells apart: their bytes, their encodings, and the commits that they
 * mention.
 */
import { expect } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { readHistory } from '../support/objects.ts';
import { bannerOf } from '../support/push-output.ts';
import type { TestBed } from '../support/test-bed.ts';
import type { Shapes } from './shape.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** A commit's message is kept byte for byte, and becomes this title and this body. */
export async function keepsMessage(
  bed: TestBed,
  message: string | Buffer,
  title: string,
  body: string,
): Promise<void> {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  // `git commit` itself would repair some of them.
  const [tree, parent] = [await clone.tree(), await clone.git('rev-parse', 'HEAD')];
  const tip = await clone.commitObject({ tree, parents: [parent], message });
  const pushed = await clone.push('origin', `${tip}:refs/heads/topic`);
  const { pull } = await expectAccepted(bed, contribution, pushed, { tip });
  expect([pull.title, pull.body ?? '']).toEqual([title, body]);
}

export const MESSAGES: Shapes = {
  'in Latin-1 keeps its bytes and its encoding header, and is decoded for the pull request': async (bed) => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.git('config', 'i18n.commitEncoding', 'ISO-8859-1');
    await clone.commit({ message: latin1('Größe ändern\n\nMit Öl.\n') });
    const { pull, commits } = await expectAccepted(bed, contribution, await clone.push());
    expect(commits[0]?.headers).toContainEqual(['encoding', 'ISO-8859-1']);
    expect(commits[0]?.message.equals(latin1('Größe ändern\n\nMit Öl.\n'))).toBe(true);
    expect([pull.title, pull.body]).toEqual(['Größe ändern', 'Mit Öl.']);
  },

  'of 200 KB is cut in the pull request, not in the commit': async (bed) => {
    const contribution = await contribute(bed);
    const message = `Title\n\n${'A line of text that is repeated.\n'.repeat(6_500)}`;
    await contribution.clone.commit({ message });
    const { pull, commits } = await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(pull.body?.length).toBeLessThanOrEqual(65_536);
    expect(commits[0]?.message.length).toBe(message.length);
  },
};

export const MENTIONS: Shapes = {
  'by `git revert` names the new commit, and nothing else of it changes': async (bed) => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    const oid = await clone.commit({ message: 'A mistake\n' });
    await clone.git('revert', '--no-edit', 'HEAD');
    const pushed = await clone.push();
    expect(pushed.code, pushed.stderr).toBe(0);
    const [mistake, revert] = await readHistory(
      bed.host.forkPath(upstream) as string,
      '^main',
      bannerOf(pushed).branch,
    );
    expect(revert?.message.toString()).toBe(`Revert "A mistake"\n\nThis reverts commit ${mistake?.oid}.\n`);
    expect(mistake?.oid).not.toBe(oid);
    const pull = await bed.host.onlyPull(upstream);
    expect(pull.body).toBe(`This reverts commit ${mistake?.oid}.`);
  },

  'in an abbreviation, a title or a description names the new commit': async (bed) => {
    const { clone, upstream } = await contribute(bed);
    const oid = await clone.commit({ message: 'One\n' });
    await clone.commit({ message: `Two, after ${oid.slice(0, 8)}\n` });
    const options = ['-o', `title=After ${oid.slice(0, 7)}`, '-o', `description=See ${oid}`];
    const pushed = await clone.push(...options, 'origin', 'HEAD:topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    const [one, two] = await readHistory(
      bed.host.forkPath(upstream) as string,
      '^main',
      bannerOf(pushed).branch,
    );
    expect(two?.message.toString()).toBe(`Two, after ${one?.oid.slice(0, 8)}\n`);
    const pull = await bed.host.onlyPull(upstream);
    expect(pull).toMatchObject({ title: `After ${one?.oid.slice(0, 7)}`, body: `See ${one?.oid}` });
  },
};
