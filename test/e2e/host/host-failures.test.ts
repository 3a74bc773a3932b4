/**
 * A code host that fails at each step of a push: the person is told in-band which step failed and
 * what to do, no pull request is opened twice, no branch is left behind without need, and pushing
 * again works. What each answer of a host does to each call: test/host.
 */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { type Contribution, expectAccepted, expectRefused } from '../support/contribution.ts';
import { ALWAYS, expectAgain, withFork, withWork } from '../support/failing-host.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

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

/**
 * A pull request whose answer is lost may be open: its branch must not go, as that would close it.
 */
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
});

describe('a host that stumbles once', exhaustive, () => {
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
});

describe('the history', exhaustive, () => {
  it('that cannot be read stops the push, and pushing again works', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ branch: 'next', from: 'main~1' });
    const person = bed.person();
    const clone = await person.copy(upstream, 'next');
    await clone.commit();
    // Discovery lists the refs and the history of the default branch; the push itself that of its
    // base.
    const path = new RegExp(`/${upstream.fullName}\\.git/git-upload-pack$`);
    bed.sandbox.faults.inject({ method: 'POST', path, times: 2, delayMs: 0 });
    bed.sandbox.faults.inject({ method: 'POST', path, times: ALWAYS, answer: { status: 502 } });
    await expectRefused(bed, upstream, await clone.push('origin', 'next'), HISTORY);
    bed.sandbox.faults.clear();
    await expectAccepted(bed, { clone, upstream }, await clone.push('origin', 'next'));
  });
});

describe('the sync of the fork', exhaustive, () => {
  it('that fails is named in the refusal, and pushing again works', async () => {
    const { clone, upstream } = await withFork(bed);
    await upstream.grow();
    const fresh = await clone.person.copy(upstream);
    await fresh.commit();
    const path = syncPath(upstream);
    const answer = { status: 502, body: { message: 'No.' } };
    bed.sandbox.faults.inject({ path, times: ALWAYS, answer });
    bed.sandbox.faults.inject({ path: new RegExp(`${upstream.name}/git/refs`), times: ALWAYS, answer });
    await expectRefused(bed, upstream, await fresh.push(), SYNC);
    await expectAgain(bed, { clone: fresh, upstream, person: clone.person });
  });
});
