/** Commits by others, and of other pull requests. */
import { describe, expect, it, vi } from 'vitest';
import type { Ref } from '../../../../src/git/wire/ref-advertisement.ts';
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

describe('work on a commit that the default branch does not have', () => {
  const [main, wip, moved] = ['main', 'wip', 'moved'].map((oid) => ({
    name: `refs/heads/${oid === 'moved' ? 'main' : oid}`,
    oid,
  })) as [Ref, Ref, Ref];
  const tag = { name: 'refs/tags/v1', oid: 'tagged' };
  const held: Readonly<Record<string, readonly Ref[]>> = { 'on-wip': [wip], new: [wip, moved] };
  const on = (boundary: string, base = main, isBaseNamed = false) =>
    otherBranch({
      work: { boundary: new Set([boundary]) },
      pushed: { base, isBaseNamed },
      history: {
        has: (tip, oid) => tip === oid || `on-${tip}` === oid,
        branchesHolding: (oids) => [...oids].flatMap((oid) => held[oid] ?? []),
      },
      destination: {
        born: { repository: { owner: 'octo', name: 'hello' }, refs: [main, wip, tag], defaultBranch: main },
      },
      circumstances: { settings: { remoteUrl: () => 'https://veil.test/v1/gh/octo/hello' } },
    });

  it.each([
    ['that another branch has', 'on-wip', main, 'on its branch "wip"'],
    ['that ends another branch, which is its base therefore', 'wip', wip, 'on its branch "wip"'],
    ['that the branch has whose name is pushed', 'on-wip', wip, 'on its branch "wip"'],
    ['that only a tag has', 'tagged', main, 'as its tag "v1"'],
    ['that no listed branch has', 'old', main, 'elsewhere than on its branch "main"'],
  ])('warns of one %s', (_, boundary, base, where) => {
    expect(on(boundary, base)).toMatchObject([
      {
        severity: 'warn',
        code: 'other-branch',
        lines: [
          expect.stringContaining(`stands on ${boundary}, which upstream has ${where}.`),
          expect.stringContaining('somebody tests a guess'),
          '  git fetch https://veil.test/v1/gh/octo/hello main && git rebase --force-rebase FETCH_HEAD',
        ],
      },
    ]);
  });

  it('is no matter if the default branch has it, also since it was listed, or the base that is named', () => {
    expect([on('on-main'), on('new'), on('on-main', wip), on('on-wip', wip, true)]).toEqual([[], [], [], []]);
  });
});
