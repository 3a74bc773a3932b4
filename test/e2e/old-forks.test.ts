/** What becomes of the bot's forks when nobody needs them any more: with the usual `FORK_LIFE`, 30 days. */
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted, expectListed } from './support/contribution.ts';
import { useTestBed } from './support/test-bed.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Of one target, openings count for an hour, by a clock that no test sets. Here they count for a moment. */
const env = { LIMIT_TARGET: '10000/1ms' };
const bed = useTestBed({ env });

/** Each test looks further into the future: what an earlier one has left is looked at in between. */
let day = 0;
async function pass(days: number, on = bed): Promise<void> {
  day += days;
  // A few forks a run.
  for (let run = 0; run < 5; run++) await on.service.runScheduled(Date.now() + day * DAY_MS);
}

async function opened(on = bed, wanted = {}) {
  const contribution = await contribute(on, wanted);
  await contribution.clone.commit();
  const accepted = await expectAccepted(on, contribution, await contribution.clone.push());
  await expectListed(on, accepted.pull);
  const { owner, name } = contribution.upstream;
  return { ...contribution, ...accepted, issue: { owner, repo: name, number: accepted.pull.number } };
}

async function pushMore(contribution: Contribution, branch: string) {
  await contribution.clone.commit();
  const pushed = await contribution.clone.push('origin', `HEAD:${branch}`);
  const accepted = await expectAccepted(bed, contribution, pushed);
  await expectListed(bed, accepted.pull);
  return accepted;
}

const deletions = (on = bed) =>
  on.host.requests.filter(({ method, path }) => method === 'DELETE' && !path.includes('/git/'));

describe('a fork', () => {
  it('is deleted 30 days after its last pull request was closed, and made anew by the next push', async () => {
    const contribution = await opened();
    const { upstream, issue } = contribution;
    bed.sandbox.maintainer.close(issue);
    await pass(29);
    expect(bed.host.forkPath(upstream)).not.toBeNull();
    await pass(2);
    expect(bed.host.forkPath(upstream)).toBeNull();
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed']);
    await pushMore(contribution, 'again');
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed', 'open']);
  });

  it('is deleted again after a pull request that was opened anew from its old branch', async () => {
    const contribution = await opened();
    const { upstream, clone, banner, issue } = contribution;
    bed.sandbox.maintainer.close(issue);
    await pass(31);
    expect(bed.host.forkPath(upstream)).toBeNull();
    await clone.commit();
    const pushed = await clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:more');
    const { pull } = await expectAccepted(bed, contribution, pushed);
    expect(pull.number).not.toBe(issue.number);
    await expectListed(bed, pull);
    bed.sandbox.maintainer.close({ ...issue, number: pull.number });
    await pass(31);
    expect(bed.host.forkPath(upstream)).toBeNull();
  });

  it('stays as long as a pull request is open, and its closing is noticed', async () => {
    const { upstream, issue } = await opened();
    await pass(31);
    await pass(31);
    expect(bed.host.forkPath(upstream)).not.toBeNull();
    await bed.sandbox.maintainer.merge(issue);
    await pass(31);
    expect(bed.host.forkPath(upstream)).toBeNull();
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed']);
  });

  it('stays if an older pull request is open', async () => {
    const contribution = await opened();
    const { upstream, issue } = contribution;
    const { pull } = await pushMore(contribution, 'second');
    bed.sandbox.maintainer.close({ ...issue, number: pull.number });
    await pass(31);
    expect(bed.host.forkPath(upstream)).not.toBeNull();
  });

  it('is deleted under its own name, and never what is not a fork', async () => {
    bed.sandbox.createRepository({ owner: bed.sandbox.botLogin, name: 'own' });
    const contribution = await contribute(bed, { name: 'own' });
    const { clone, upstream } = contribution;
    await clone.commit();
    const { pull } = await expectAccepted(bed, contribution, await clone.push(), { fork: { name: 'own-1' } });
    await expectListed(bed, pull);
    bed.sandbox.maintainer.close({ owner: upstream.owner, repo: 'own', number: pull.number });
    await pass(31);
    expect(bed.host.forkPath({ name: 'own-1' })).toBeNull();
    expect(bed.host.forkPath({ name: 'own' })).not.toBeNull();
  });

  it('that is deleted while a push sends its commits is made anew', async () => {
    const contribution = await opened();
    const { upstream, clone, issue } = contribution;
    bed.sandbox.maintainer.close(issue);
    await clone.commit();
    const path = new RegExp(`/${bed.sandbox.botLogin}/${upstream.name}\\.git/git-receive-pack$`);
    bed.sandbox.faults.inject({ method: 'POST', path, delayMs: 3_000 });
    const pushing = clone.push('origin', 'HEAD:meanwhile');
    await expect.poll(() => bed.host.requestsFor(upstream, 'POST', /receive-pack$/)).toHaveLength(2);
    await pass(31);
    expect(bed.host.forkPath(upstream)).toBeNull();
    await expectAccepted(bed, contribution, await pushing);
  });
});

describe('a host that does not let the bot delete forks', () => {
  const strict = useTestBed({ env, botScopes: ['notifications', 'public_repo', 'workflow'] });

  it('is asked once a day, and the operator reads which scope is missing', async () => {
    for (let fork = 0; fork < 2; fork++) {
      const { issue } = await opened(strict);
      strict.sandbox.maintainer.close(issue);
    }
    const at = Date.now() + 31 * DAY_MS;
    for (let run = 0; run < 3; run++) await strict.service.runScheduled(at);
    expect(deletions(strict)).toHaveLength(1);
    const line =
      / old forks are kept, as the token of the bot account may not delete them host=gh variable=HOSTING_TOKEN outcome=no-delete_repo error=HostError hostSays="Must have admin rights to Repository\. \(403\)"$/;
    expect(strict.logLines.filter((text) => line.test(text))).toHaveLength(1);
    await strict.service.runScheduled(at + DAY_MS);
    expect(deletions(strict)).toHaveLength(2);
  });
});

describe('FORK_LIFE=0', () => {
  const keeping = useTestBed({ env: { ...env, FORK_LIFE: '0' } });

  it('keeps forks for ever', async () => {
    const { upstream, issue } = await opened(keeping);
    keeping.sandbox.maintainer.close(issue);
    await keeping.service.runScheduled(Date.now() + 3_650 * DAY_MS);
    expect(keeping.host.forkPath(upstream)).not.toBeNull();
  });
});

describe('a fork of a repository to which somebody has pushed within the hour', () => {
  const busy = useTestBed();

  it('stays', async () => {
    const { upstream, issue } = await opened(busy);
    busy.sandbox.maintainer.close(issue);
    await busy.service.runScheduled(Date.now() + 31 * DAY_MS);
    expect(busy.host.forkPath(upstream)).not.toBeNull();
  });
});
