/** Commits by others, and of other pull requests. */
import { expect, it, vi } from 'vitest';
import type { Place } from '../../../../src/push/judge/questions.ts';
import {
  borrowedCommits,
  droppedCommits,
  otherAuthors,
  otherBranch,
} from '../../../../src/push/judge/rules/authors.ts';
import { codesOf, knownPush } from '../../../support/known-push.ts';

const ADA = { author: 'Ada <ada@x.example> 1 +0000' };
const BOB = { author: 'Bob <bob@x.example> 1 +0000' };
const BOT = { author: 'bot <bot@x.example> 1 +0000' };

it('warns of commits by others than the newest one’s author and the bot', () => {
  expect(otherAuthors(knownPush({ commits: [BOT, ADA] }))).toEqual([]);
  expect(otherAuthors(knownPush({ commits: [BOB, BOT, ADA] }))).toMatchObject([
    { severity: 'warn', lines: [expect.stringMatching(/^1 of 3 commits is by another author\./)] },
  ]);
});

it('warns of commits that another pull request has, and not of those of its own', async () => {
  const push = knownPush({ commits: [BOB, ADA] });
  const [first] = push.work.commits;
  const refs = new Map([[first!.oid, 'refs/pull/7/head']]);
  const place = { ask: { advertised: async () => refs } } as unknown as Place;
  expect(await borrowedCommits({ ...push, place })).toMatchObject([
    { severity: 'warn', lines: [expect.stringContaining('1 of the 2 commits is of octo/hello#7')] },
  ]);
  const named = { pullRequest: { number: 7 } } as unknown as typeof push.destination.named;
  const update = { ...push, place, destination: { ...push.destination, named } };
  expect(await borrowedCommits(update)).toEqual([]);
});

it('warns of commits that an update drops, though it was asked for, and though nobody shows them', () => {
  expect(droppedCommits([])).toEqual([]);
  expect(droppedCommits(['0123456789ab Fix the typo', 'and more'])).toMatchObject([
    { severity: 'warn', lines: [expect.stringMatching(/:$/), '  0123456789ab Fix the typo', '  and more'] },
  ]);
  expect(droppedCommits(null)).toMatchObject([
    { severity: 'warn', lines: [expect.stringContaining('does not show them')] },
  ]);
});

it('says that the host did not answer, and asks nothing about one author or a delayed push', async () => {
  const advertised = vi.fn(async () => null);
  const place = { ask: { advertised } } as unknown as Place;
  expect(codesOf(await borrowedCommits({ ...knownPush({ commits: [BOB, ADA] }), place }))).toEqual([
    'say borrowed',
  ]);
  advertised.mockClear();
  expect(await borrowedCommits({ ...knownPush({ commits: [ADA] }), place })).toEqual([]);
  expect(await borrowedCommits(knownPush({ commits: [BOB, ADA] }))).toEqual([]);
  expect(advertised).not.toHaveBeenCalled();
});

it('warns of work on a commit that only another branch of upstream has', () => {
  const [main, wip] = ['main', 'wip'].map((name) => ({ name: `refs/heads/${name}`, oid: name }));
  const on = (boundary: string) =>
    otherBranch({
      work: { boundary: new Set([boundary]) },
      pushed: { base: main! },
      history: {
        has: (tip, oid) => tip === 'main' && oid === 'on-main',
        branchesHolding: (oids) => (oids.has('on-wip') ? [wip!] : []),
      },
      destination: { born: { repository: { owner: 'octo', name: 'hello' }, defaultBranch: main! } },
      circumstances: { settings: { remoteUrl: () => 'https://veil.test/v1/gh/octo/hello' } },
    });
  expect([on('on-main'), on('unknown')]).toEqual([[], []]);
  expect(on('on-wip')).toMatchObject([
    {
      severity: 'warn',
      code: 'other-branch',
      lines: [
        expect.stringContaining('stands on on-wip, which upstream has on its branch "wip"'),
        expect.stringContaining('somebody tests a guess'),
        '  git fetch https://veil.test/v1/gh/octo/hello main && git rebase --force-rebase FETCH_HEAD',
      ],
    },
  ]);
});
