/**
 * A code host that fails at each step of a push. Whatever happens: the person is told in-band which step failed and
 * what to do, no pull request is opened twice, no branch is left behind, and pushing again works.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../sandbox/faults.ts';
import { type Contribution, contribute, expectAccepted, expectRefused } from './support/contribution.ts';
import { statusTable } from './support/push-output.ts';
import { useTestBed } from './support/test-bed.ts';

const bed = useTestBed();

const ALWAYS = 50;
const SECONDARY_LIMIT = { message: 'You have exceeded a secondary rate limit.' };

const LOOKUP = 'the repository could not be looked up';
const HISTORY = 'the history of the repository could not be read';
const FORK = 'the fork could not be made';
const SYNC = 'the fork could not be brought up to date';
const PUSH = 'the commits could not be sent to the fork';
const PULL = 'the pull request could not be opened';

/** A clone with one commit to push. */
async function withWork(): Promise<Contribution> {
  const contribution = await contribute(bed);
  await contribution.clone.commit({ message: 'Worth keeping\n' });
  return contribution;
}

/** The same, where the bot has a fork already. */
async function withFork(): Promise<Contribution & { forkPath: string }> {
  const contribution = await withWork();
  await bed.host.call('POST', `/repos/${contribution.upstream.fullName}/forks`, {});
  const branches = `/repos/${bed.sandbox.botLogin}/${contribution.upstream.name}/branches`;
  await expect.poll(() => bed.host.call<unknown[]>('GET', branches)).toHaveLength(1);
  return { ...contribution, forkPath: bed.host.forkPath(contribution.upstream) as string };
}

/** After a failure has passed: the very same push is accepted, and there is one pull request. */
async function expectAgain(contribution: Contribution): Promise<void> {
  bed.sandbox.faults.clear();
  await expectAccepted(bed, contribution, await contribution.clone.push());
  await bed.host.onlyPull(contribution.upstream);
}

const syncPath = ({ name }: { name: string }) =>
  new RegExp(`/${bed.sandbox.botLogin}/${name}/merge-upstream$`);
const receivePath = ({ upstream }: Contribution) =>
  new RegExp(`/${bed.sandbox.botLogin}/${upstream.name}\\.git/git-receive-pack$`);
const pullsPath = ({ upstream }: Contribution) => new RegExp(`/repos/${upstream.fullName}/pulls$`);

type Where = (names: { upstream: string; fork: string }) => RegExp;

/** Faults by the step that they befall, each with what the status table says. */
const STEPS: readonly (readonly [step: string, reason: string, method: string, path: Where])[] = [
  ['looking the repository up', LOOKUP, 'GET', ({ upstream }) => new RegExp(`/repos/${upstream}$`)],
  ['making the fork', FORK, 'POST', ({ upstream }) => new RegExp(`/repos/${upstream}/forks$`)],
  ['looking the fork up', FORK, 'POST', ({ fork }) => new RegExp(`/${fork}\\.git/git-upload-pack$`)],
  ['sending the commits', PUSH, 'POST', ({ fork }) => new RegExp(`/${fork}\\.git/git-receive-pack$`)],
  ['opening the pull request', PULL, 'POST', ({ upstream }) => new RegExp(`/repos/${upstream}/pulls$`)],
];

function faultOf(contribution: Contribution, method: string, path: Where, fault: Partial<Fault>): Fault {
  const { fullName, name } = contribution.upstream;
  return { method, path: path({ upstream: fullName, fork: `${bed.sandbox.botLogin}/${name}` }), ...fault };
}

describe.each(STEPS)('a host that fails while %s', (_, reason, method, path) => {
  it('with a server error is named in the refusal, and pushing again works', async () => {
    const contribution = await withWork();
    bed.sandbox.faults.inject(
      faultOf(contribution, method, path, { times: ALWAYS, answer: { status: 502 } }),
    );
    const lines = await expectRefused(bed, contribution.upstream, await contribution.clone.push(), reason);
    expect(lines.join('\n')).toMatch(/Push again later|Try again later/);
    await expectAgain(contribution);
  });

  it('by cutting the connection before it has read the request is named, and pushing again works', async () => {
    const contribution = await withWork();
    const cut = { during: 'request', afterBytes: 0 } as const;
    bed.sandbox.faults.inject(faultOf(contribution, method, path, { times: ALWAYS, cut }));
    await expectRefused(bed, contribution.upstream, await contribution.clone.push(), reason);
    await expectAgain(contribution);
  });
});

// While the fork's objects are on their way it cannot be seen: a host that refuses is not told apart from that at once.
describe.each(STEPS.filter(([step]) => step !== 'looking the fork up'))(
  'a host that refuses while %s',
  (_, reason, method, path) => {
    it('is named in the refusal, and pushing again works', async () => {
      const contribution = await withWork();
      const answer = { status: 403, body: { message: 'Repository access blocked.' } };
      bed.sandbox.faults.inject(faultOf(contribution, method, path, { times: ALWAYS, answer }));
      await expectRefused(bed, contribution.upstream, await contribution.clone.push(), reason);
      await expectAgain(contribution);
    });
  },
);

describe('a host that stumbles once', () => {
  it.each(STEPS.filter(([, reason]) => reason !== PUSH))(
    'while %s is asked again',
    async (_, __, method, path) => {
      const contribution = await withWork();
      bed.sandbox.faults.inject(faultOf(contribution, method, path, { answer: { status: 502 } }));
      await expectAccepted(bed, contribution, await contribution.clone.push());
      await bed.host.onlyPull(contribution.upstream);
    },
  );

  it.each(STEPS.filter(([, reason]) => reason !== PUSH && reason !== LOOKUP))(
    'by losing its answer while %s is asked again, and does nothing twice',
    async (_, __, method, path) => {
      const contribution = await withWork();
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
    const contribution = await withWork();
    const { fullName } = contribution.upstream;
    const answer = { status, headers: { 'retry-after': '1' }, body: SECONDARY_LIMIT };
    bed.sandbox.faults.inject({ method: 'POST', path: new RegExp(`/repos/${fullName}/forks$`), answer });
    bed.sandbox.faults.inject({ method: 'POST', path: new RegExp(`/repos/${fullName}/pulls$`), answer });
    const startedAt = Date.now();
    await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(2_000);
    await bed.host.onlyPull(contribution.upstream);
  });

  it('and asks for more time than a person has is not waited for', async () => {
    const contribution = await withWork();
    const answer = { status: 429, headers: { 'retry-after': '3600' }, body: SECONDARY_LIMIT };
    const path = new RegExp(`/repos/${contribution.upstream.fullName}/forks$`);
    bed.sandbox.faults.inject({ method: 'POST', path, times: ALWAYS, answer });
    const lines = await expectRefused(bed, contribution.upstream, await contribution.clone.push(), FORK);
    expect(lines.join('\n')).toMatch(/slow down/);
    await expectAgain(contribution);
  });
});

describe('the history', () => {
  it('that cannot be read stops the push, and pushing again works', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ branch: 'next', from: 'main~1' });
    const person = bed.person();
    const clone = await person.clone(upstream.url, '--branch=next');
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

describe('the sync of the fork', () => {
  it.each([
    ['a server error', 502],
    ['no permission', 403],
  ])('that fails with %s is named in the refusal, and pushing again works', async (_, status) => {
    const { clone, upstream } = await withFork();
    await upstream.grow();
    const fresh = await clone.person.clone(upstream.url);
    await fresh.commit();
    const path = syncPath(upstream);
    bed.sandbox.faults.inject({ path, times: ALWAYS, answer: { status, body: { message: 'No.' } } });
    bed.sandbox.faults.inject({
      path: new RegExp(`${upstream.name}/git/refs`),
      times: ALWAYS,
      answer: { status, body: { message: 'No.' } },
    });
    await expectRefused(bed, upstream, await fresh.push(), SYNC);
    await expectAgain({ clone: fresh, upstream, person: clone.person });
  });

  it('that meets a conflict sets the branch instead', async () => {
    const { clone, upstream } = await withFork();
    const tip = await upstream.grow({ from: 'main~2', count: 2 });
    const fresh = await clone.person.clone(upstream.url);
    await fresh.commit();
    const { commits } = await expectAccepted(bed, { clone: fresh, upstream }, await fresh.push());
    expect(commits[0]?.parents).toEqual([tip]);
  });

  it('that stumbles once is tried again', async () => {
    const { clone, upstream } = await withFork();
    await upstream.grow();
    const fresh = await clone.person.clone(upstream.url);
    await fresh.commit();
    const path = syncPath(upstream);
    bed.sandbox.faults.inject({ path, answer: { status: 500 } });
    await expectAccepted(bed, { clone: fresh, upstream }, await fresh.push());
  });
});

describe('sending the commits', () => {
  it('to a host whose hook declines them tells what the hook said', async () => {
    const contribution = await withFork();
    const hook = join(contribution.forkPath, 'hooks/pre-receive');
    rmSync(join(contribution.forkPath, 'hooks'), { recursive: true, force: true });
    await contribution.upstream.git('init', '--quiet', '--bare', contribution.forkPath);
    writeFileSync(hook, '#!/bin/sh\necho "GH013: Repository rule violations found" >&2\nexit 1\n');
    chmodSync(hook, 0o755);
    const pushed = await contribution.clone.push();
    const lines = await expectRefused(
      bed,
      contribution.upstream,
      pushed,
      'the code host refused the commits',
    );
    expect(lines.join('\n')).toContain('pre-receive hook declined');
    expect(lines.join('\n')).toContain('GH013: Repository rule violations found');
    rmSync(hook);
    await expectAgain(contribution);
  });

  it('to a host that finds them faulty tells why', async () => {
    const contribution = await withWork();
    const { clone, person } = contribution;
    // A tree that names one file twice: nothing that the service looks at, and something that the host refuses.
    const blob = Buffer.from(await clone.writeObject('blob', Buffer.from('x')), 'hex');
    const entry = Buffer.concat([Buffer.from('100644 same\0'), blob]);
    const tree = await clone.writeObject('tree', Buffer.concat([entry, entry]));
    const parents = [await clone.git('rev-parse', 'origin/main')];
    const tip = await clone.commitObject({ tree, parents, message: 'Twice the same\n' });
    const pushed = await clone.push('origin', `${tip}:refs/heads/${person.branch}`);
    const lines = await expectRefused(
      bed,
      contribution.upstream,
      pushed,
      'the code host refused the commits',
    );
    expect(lines.join('\n')).toMatch(/duplicateEntries|contains duplicate/);
  });

  it.each([
    ['in the middle of the pack', { during: 'request', afterBytes: 400_000 }],
    ['in the middle of its report', { during: 'answer', afterBytes: 10 }],
  ] as const)('to a host that cuts the connection %s leaves nothing behind, or succeeds', async (_, cut) => {
    const contribution = await contribute(bed);
    await contribution.clone.commit({ files: { 'big.bin': randomBytes(1_500_000) } });
    bed.sandbox.faults.inject({ method: 'POST', path: receivePath(contribution), cut });
    const pushed = await contribution.clone.push();
    if (cut.during === 'request') {
      await expectRefused(bed, contribution.upstream, pushed, PUSH);
      await expectAgain(contribution);
    } else {
      // The host has taken the push: asked, it says so.
      await expectAccepted(bed, contribution, pushed);
      await bed.host.onlyPull(contribution.upstream);
    }
  });

  it('to a host that has taken them and loses its answer goes on', async () => {
    const contribution = await withWork();
    const cut = { during: 'answer', afterBytes: 0 } as const;
    bed.sandbox.faults.inject({ method: 'POST', path: receivePath(contribution), cut });
    await expectAccepted(bed, contribution, await contribution.clone.push());
    await bed.host.onlyPull(contribution.upstream);
  });

  it('to a host that answers something else than Git is a failure that is named', async () => {
    const contribution = await withWork();
    const answer = { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Maintenance</h1>' };
    bed.sandbox.faults.inject({ method: 'POST', path: receivePath(contribution), answer });
    await expectRefused(bed, contribution.upstream, await contribution.clone.push(), PUSH);
    await expectAgain(contribution);
  });
});

describe('opening the pull request', () => {
  it('that the host refuses tells why, takes the branch away, and pushing again works', async () => {
    const contribution = await withWork();
    const answer = {
      status: 422,
      body: {
        message: 'Validation Failed',
        errors: [{ resource: 'PullRequest', code: 'custom', message: 'Pull requests are disabled here.' }],
      },
    };
    bed.sandbox.faults.inject({ method: 'POST', path: pullsPath(contribution), times: ALWAYS, answer });
    const lines = await expectRefused(bed, contribution.upstream, await contribution.clone.push(), PULL);
    expect(lines.join('\n')).toContain('Pull requests are disabled here.');
    await expectAgain(contribution);
  });

  it('that was opened though every answer is lost is found, and not opened twice', async () => {
    const contribution = await withWork();
    const cut = { during: 'answer', afterBytes: 20 } as const;
    bed.sandbox.faults.inject({ method: 'POST', path: pullsPath(contribution), times: ALWAYS, cut });
    await expectAccepted(bed, contribution, await contribution.clone.push());
    await bed.host.onlyPull(contribution.upstream);
  });

  it('that fails keeps the branch of a pull request that is closed', async () => {
    const contribution = await withWork();
    const { clone, upstream } = contribution;
    const first = await expectAccepted(bed, contribution, await clone.push());
    bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number: first.pull.number });
    await clone.commit();
    bed.sandbox.faults.inject({
      method: 'POST',
      path: pullsPath(contribution),
      times: ALWAYS,
      answer: { status: 500 },
    });
    const update = () => clone.push('-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:topic');
    const failed = await update();
    expect(failed.code).toBe(1);
    expect(statusTable(failed)).toEqual([` ! [remote rejected] HEAD -> topic (push rejected: ${PULL})`]);
    expect(await bed.host.workBranches(upstream)).toEqual([first.banner.branch]);
    bed.sandbox.faults.clear();
    await expectAccepted(bed, contribution, await update());
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed', 'open']);
  });
});

describe('the bot account', () => {
  it('that the host does not know is a failure of the service, told in-band', async () => {
    const contribution = await withWork();
    const answer = { status: 401, body: { message: 'Bad credentials' } };
    const path = new RegExp(`/repos/${contribution.upstream.fullName}(/forks)?$`);
    bed.sandbox.faults.inject({ path, times: ALWAYS, answer });
    await expectRefused(bed, contribution.upstream, await contribution.clone.push(), /./);
    await expectAgain(contribution);
  });
});
