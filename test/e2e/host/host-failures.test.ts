/**
 * A code host that fails at each step of a push. Whatever happens: the person is told in-band which step failed and
 * what to do, no pull request is opened twice, no branch is left behind without need, and pushing again works.
 */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { type Contribution, expectAccepted, expectRefused } from '../support/contribution.ts';
import { ALWAYS, expectAgain, withFork, withWork } from '../support/failing-host.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

const SECONDARY_LIMIT = { message: 'You have exceeded a secondary rate limit.' };

const LOOKUP = 'the repository could not be looked up';
const HISTORY = 'the history of the repository could not be read';
const FORK = 'the fork could not be made';
const SYNC = 'the fork could not be brought up to date';
const PUSH = 'the commits could not be sent to the fork';
const PULL = 'the pull request could not be opened';

const syncPath = ({ name }: { name: string }) =>
  new RegExp(`/${bed.sandbox.botLogin}/${name}/merge-upstream$`);

type Where = (names: { upstream: string; fork: string }) => RegExp;

/** Faults by the step that they befall, each with what the status table says. */
const STEPS: readonly (readonly [step: string, reason: string, method: string, path: Where])[] = [
  ['looking the repository up', LOOKUP, 'GET', ({ upstream }) => new RegExp(`/repos/${upstream}$`)],
  ['making the fork', FORK, 'POST', ({ upstream }) => new RegExp(`/repos/${upstream}/forks$`)],
  ['looking the fork up', FORK, 'POST', ({ fork }) => new RegExp(`/${fork}\\.git/git-upload-pack$`)],
  ['sending the commits', PUSH, 'POST', ({ fork }) => new RegExp(`/${fork}\\.git/git-receive-pack$`)],
  ['opening the pull request', PULL, 'POST', ({ upstream }) => new RegExp(`/repos/${upstream}/pulls$`)],
];

/** A pull request whose answer is lost may be open: its branch must not go, as that would close it. */
const leftBy = (reason: string) => ({ branches: reason === PULL ? 1 : 0 });

function faultOf(contribution: Contribution, method: string, path: Where, fault: Partial<Fault>): Fault {
  const { fullName, name } = contribution.upstream;
  return { method, path: path({ upstream: fullName, fork: `${bed.sandbox.botLogin}/${name}` }), ...fault };
}

describe.each(STEPS)('a host that fails while %s', exhaustive, (_, reason, method, path) => {
  it('with a server error is named in the refusal, and pushing again works', async () => {
    const contribution = await withWork(bed);
    bed.sandbox.faults.inject(
      faultOf(contribution, method, path, { times: ALWAYS, answer: { status: 502 } }),
    );
    const pushed = await contribution.clone.push();
    const lines = await expectRefused(bed, contribution.upstream, pushed, reason, leftBy(reason));
    expect(lines.join('\n')).toMatch(/again later/);
    await expectAgain(bed, contribution);
  });

  it('by cutting the connection before it has read the request is named, and pushing again works', async () => {
    const contribution = await withWork(bed);
    const cut = { during: 'request', afterBytes: 0 } as const;
    bed.sandbox.faults.inject(faultOf(contribution, method, path, { times: ALWAYS, cut }));
    const pushed = await contribution.clone.push();
    await expectRefused(bed, contribution.upstream, pushed, reason, leftBy(reason));
    await expectAgain(bed, contribution);
  });
});

// While the fork's objects are on their way it cannot be seen: a host that refuses is not told apart from that at once.
describe.each(STEPS.filter(([step]) => step !== 'looking the fork up'))(
  'a host that refuses while %s',
  exhaustive,
  (_, reason, method, path) => {
    it('is named in the refusal, and pushing again works', async () => {
      const contribution = await withWork(bed);
      const answer = { status: 403, body: { message: 'Repository access blocked.' } };
      bed.sandbox.faults.inject(faultOf(contribution, method, path, { times: ALWAYS, answer }));
      await expectRefused(bed, contribution.upstream, await contribution.clone.push(), reason);
      await expectAgain(bed, contribution);
    });
  },
);

describe('a host that stumbles once', exhaustive, () => {
  it.each(STEPS.filter(([, reason]) => reason !== PUSH))(
    'while %s is asked again',
    async (_, __, method, path) => {
      const contribution = await withWork(bed);
      bed.sandbox.faults.inject(faultOf(contribution, method, path, { answer: { status: 502 } }));
      await expectAccepted(bed, contribution, await contribution.clone.push());
      await bed.host.onlyPull(contribution.upstream);
    },
  );

  it.each(STEPS.filter(([, reason]) => reason !== PUSH && reason !== LOOKUP))(
    'by losing its answer while %s is asked again, and does nothing twice',
    async (_, __, method, path) => {
      const contribution = await withWork(bed);
      const cut = { during: 'answer', afterBytes: 0 } as const;
      bed.sandbox.faults.inject(faultOf(contribution, method, path, { cut }));
      await expectAccepted(bed, contribution, await contribution.clone.push());
      await bed.host.onlyPull(contribution.upstream);
    },
  );

  it.each([
    ['429', 429],
    ['403', 403],
  ])('because it is asked too often (%s) is given the time that it asks for', async (_, status) => {
    const contribution = await withWork(bed);
    const { fullName } = contribution.upstream;
    const answer = { status, headers: { 'retry-after': '1' }, body: SECONDARY_LIMIT };
    bed.sandbox.faults.inject({ method: 'POST', path: new RegExp(`/repos/${fullName}/forks$`), answer });
    bed.sandbox.faults.inject({ method: 'POST', path: new RegExp(`/repos/${fullName}/pulls$`), answer });
    const startedAt = Date.now();
    await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(2_000);
    await bed.host.onlyPull(contribution.upstream);
  });
});

describe('the history', exhaustive, () => {
  it('that cannot be read stops the push, and pushing again works', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ branch: 'next', from: 'main~1' });
    const person = bed.person();
    const clone = await person.copy(upstream, 'next');
    await clone.commit();
    // Discovery lists the refs and the history of the default branch; the push itself that of its base.
    const path = new RegExp(`/${upstream.fullName}\\.git/git-upload-pack$`);
    bed.sandbox.faults.inject({ method: 'POST', path, times: 2, delayMs: 0 });
    bed.sandbox.faults.inject({ method: 'POST', path, times: ALWAYS, answer: { status: 502 } });
    await expectRefused(bed, upstream, await clone.push('origin', 'next'), HISTORY);
    bed.sandbox.faults.clear();
    await expectAccepted(bed, { clone, upstream }, await clone.push('origin', 'next'));
  });
});

describe('the sync of the fork', exhaustive, () => {
  it.each([
    ['a server error', 502],
    ['no permission', 403],
  ])('that fails with %s is named in the refusal, and pushing again works', async (_, status) => {
    const { clone, upstream } = await withFork(bed);
    await upstream.grow();
    const fresh = await clone.person.copy(upstream);
    await fresh.commit();
    const path = syncPath(upstream);
    bed.sandbox.faults.inject({ path, times: ALWAYS, answer: { status, body: { message: 'No.' } } });
    bed.sandbox.faults.inject({
      path: new RegExp(`${upstream.name}/git/refs`),
      times: ALWAYS,
      answer: { status, body: { message: 'No.' } },
    });
    await expectRefused(bed, upstream, await fresh.push(), SYNC);
    await expectAgain(bed, { clone: fresh, upstream, person: clone.person });
  });

  it('that meets a conflict sets the branch instead', async () => {
    const { clone, upstream } = await withFork(bed);
    const tip = await upstream.grow({ from: 'main~2', count: 2 });
    const fresh = await clone.person.copy(upstream);
    await fresh.commit();
    const { commits } = await expectAccepted(bed, { clone: fresh, upstream }, await fresh.push());
    expect(commits[0]?.parents).toEqual([tip]);
  });

  it('that stumbles once is tried again', async () => {
    const { clone, upstream } = await withFork(bed);
    await upstream.grow();
    const fresh = await clone.person.copy(upstream);
    await fresh.commit();
    const path = syncPath(upstream);
    bed.sandbox.faults.inject({ path, answer: { status: 500 } });
    await expectAccepted(bed, { clone: fresh, upstream }, await fresh.push());
  });
});

describe('the bot account', exhaustive, () => {
  it('that the host does not know is a failure of the service, told in-band', async () => {
    const contribution = await withWork(bed);
    const answer = { status: 401, body: { message: 'Bad credentials' } };
    const path = new RegExp(`/repos/${contribution.upstream.fullName}(/forks)?$`);
    bed.sandbox.faults.inject({ path, times: ALWAYS, answer });
    await expectRefused(bed, contribution.upstream, await contribution.clone.push(), /./);
    await expectAgain(bed, contribution);
  });
});
