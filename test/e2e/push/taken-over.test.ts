/**
 * Everybody reads the hash of a pull request, and anybody can make a repository. With both, nobody
 * takes over the record of somebody else's pull request, its page or its withdrawal.
 */
import { expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';
import { openedOne } from '../shapes/updates.ts';
import type { Accepted, Contribution } from '../support/contribution.ts';
import { prPage } from '../support/pr-page.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { Upstream } from '../support/upstream.ts';

const bed = useOwnTestBed();
const MALLORY = 'mallory';

type Opened = Contribution & { readonly first: Accepted };

/** A repository of mallory's that has nothing but upstream's branch and the published commits. */
async function copiedBy({ upstream, first }: Opened): Promise<Upstream> {
  const copy = await bed.createUpstream({ owner: MALLORY, commits: 0 });
  await copy.git('fetch', '--quiet', upstream.path, 'main:main');
  await copy.git('fetch', '--quiet', first.forkPath, `${first.banner.branch}:${first.banner.branch}`);
  return copy;
}

/** A fork of upstream by mallory, which is in one network with the bot's. */
async function forkedBy({ upstream }: Opened): Promise<Upstream> {
  // Who owns something has an account.
  await bed.createUpstream({ owner: MALLORY });
  await bed.host.callAs(MALLORY, 'POST', `/repos/${upstream.fullName}/forks`);
  const path = bed.sandbox.repositoryPath(MALLORY, upstream.name);
  const facts = { owner: MALLORY, name: upstream.name, defaultBranch: 'main', path };
  const fork = new Upstream({ ...facts, url: bed.remoteUrl(MALLORY, upstream.name) });
  await expect.poll(() => fork.git('for-each-ref', 'refs/heads/main')).not.toBe('');
  bed.tripwire.addUpstream(fork);
  return fork;
}

/** Opens a pull request in it, as mallory, with the same number. */
async function proposeIn(own: Upstream, head: string, { first }: Opened): Promise<number> {
  const request = { title: 'Mine', head, base: 'main' };
  const pulls = `/repos/${own.fullName}/pulls`;
  const { number } = await bed.host.callAs<{ number: number }>(MALLORY, 'POST', pulls, request);
  expect(number).toBe(first.pull.number);
  return number;
}

/** Pushes the same work there, with the hash: whoever makes it again gets the published commits. */
async function pushTo(own: Upstream, { clone, first }: Opened) {
  return clone.push('-o', `pr-hash=${first.banner.prHash}`, own.url, 'HEAD:refs/heads/x');
}

/** The page shows the pull request, and its author withdraws it. */
async function expectStillTheirs({ upstream, clone, first }: Opened, own: Upstream): Promise<void> {
  const { prHash, prKey, prUrl } = first.banner;
  const page = await prPage(bed, prHash);
  expect(page).toContain(prUrl);
  expect(page).not.toContain(own.fullName);
  const options = ['withdraw', `pr-hash=${prHash}`, `pr-key=${prKey}`].flatMap((option) => ['-o', option]);
  const pushed = await clone.push(...options, 'origin', 'HEAD:refs/heads/withdraw');
  expect(pushed.code, pushed.stderr).toBe(0);
  expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
}

it('a pull request of somebody else with the same branch and number is not the recorded one', async () => {
  const opened = await openedOne(bed);
  const own = await copiedBy(opened);
  const number = await proposeIn(own, opened.first.banner.branch, opened);
  const pushed = await pushTo(own, opened);
  expect(pushed.stderr).toContain(`No pull request of ${own.fullName} has that pr-hash`);
  bed.sandbox.maintainer.close({ owner: MALLORY, repo: own.name, number });
  await expectStillTheirs(opened, own);
});

it('nor is one that proposes the bot’s own branch to a fork', exhaustive, async () => {
  const opened = await openedOne(bed);
  const { headSha } = opened.first.pull;
  const own = await forkedBy(opened);
  await proposeIn(own, `${bed.sandbox.botLogin}:${opened.first.banner.branch}`, opened);
  const pushed = await pushTo(own, opened);
  expect(pushed.stderr).toContain(`No pull request of ${own.fullName} has that pr-hash`);
  expect((await bed.host.onlyPull(opened.upstream)).headSha).toBe(headSha);
  await expectStillTheirs(opened, own);
});

it('the recorded one is updated after its repository was renamed', exhaustive, async () => {
  const { upstream, clone, first } = await openedOne(bed);
  const renamed = bed.renameUpstream(upstream, `${upstream.name}-renamed`);
  await clone.commit();
  const option = `pr-hash=${first.banner.prHash}`;
  const pushed = await clone.push('-o', option, renamed.url, 'HEAD:refs/heads/x');
  expect(pushed.code, pushed.stderr).toBe(0);
  const pull = await bed.host.onlyPull(renamed);
  expect(pull).toMatchObject({ number: first.pull.number, state: 'open' });
  expect(pull.headSha).not.toBe(first.pull.headSha);
  expect(await prPage(bed, first.banner.prHash)).toContain(pull.url);
});
