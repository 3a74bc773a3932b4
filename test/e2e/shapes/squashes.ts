/** Squashed pushes: one commit in place of all. */
import { expect } from 'vitest';
import { contribute } from '../support/contribution.ts';
import { readHistory } from '../support/objects.ts';
import type { Shapes } from './shape.ts';

export const SQUASHES: Shapes = {
  'takes its words from the options': async (bed) => {
    const { clone, upstream } = await contribute(bed);
    for (const message of ['One\n', 'Two\n\nNotes.\n']) await clone.commit({ message });
    const options = ['-o', 'squash', '-o', 'title=All of it', '-o', 'description=At once.'];
    expect((await clone.push(...options, 'origin', 'HEAD:topic')).code).toBe(0);
    const { headSha } = await bed.host.onlyPull(upstream);
    const [commit] = await readHistory(bed.host.forkPath(upstream) as string, headSha, '^main');
    expect(commit?.message.toString()).toBe('All of it\n\nAt once.\n');
  },

  'names no commit that it has swallowed, in its message or in the pull request': async (bed) => {
    const { clone, upstream } = await contribute(bed);
    const one = await clone.commit({ message: 'One\n' });
    await clone.commit({ message: `Two\n\nWithout ${one.slice(0, 9)}.\n` });
    const options = ['-o', 'squash', '-o', `title=Not ${one.slice(0, 7)}`];
    const pushed = await clone.push(...options, 'origin', 'HEAD:topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    const { headSha, title, body } = await bed.host.onlyPull(upstream);
    expect({ title, body }).toEqual({ title: 'Not 0000000', body: 'Without 000000000.' });
    const [commit] = await readHistory(bed.host.forkPath(upstream) as string, headSha, '^main');
    expect(commit?.message.toString()).toBe('Not 0000000\n\nWithout 000000000.\n');
  },
};
