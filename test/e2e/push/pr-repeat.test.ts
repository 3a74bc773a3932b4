/**
 * The same push again: after it died, while it runs, and once it was answered. Its secrets are told
 * once.
 */
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted } from '../support/contribution.ts';
import { ALWAYS } from '../support/failing-host.ts';
import { gitIn } from '../support/objects.ts';
import { bannerOf, keyIn, remoteLines } from '../support/push-output.ts';
import { RawConnection } from '../support/raw-http.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, RECEIVE_PACK, sendPush } from '../support/wire.ts';
import { buildPack } from '../../support/pack-builder.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

const bed = useOwnTestBed();

async function withCommit(): Promise<Contribution> {
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  return contribution;
}

/** The body that Git would send for `git push origin HEAD:topic`. */
async function bodyOf({ clone }: Contribution, options: readonly string[] = []): Promise<Buffer> {
  const pack = await packOf(clone, ['HEAD', '^origin/main']);
  const commands = [{ newId: await clone.idOf('HEAD'), ref: 'refs/heads/topic' }];
  return pushBody({ commands, pack, options });
}

/** The same down a line that breaks. */
async function pushByHand(contribution: Contribution, share: number): Promise<RawConnection> {
  const { upstream, person } = contribution;
  const body = await bodyOf(contribution);
  const connection = await RawConnection.open(bed.service.url);
  connection.sendHead(`${new URL(upstream.url).pathname}/git-receive-pack`, person, {
    'Content-Type': RECEIVE_PACK,
    'Content-Length': String(body.length),
  });
  connection.send(body.subarray(0, Math.floor(body.length * share)));
  return connection;
}

const again = ({ clone }: Contribution) => clone.push('origin', 'HEAD:topic');
const receivePath = ({ upstream }: Contribution) => new RegExp(`/${upstream.name}\\.git/git-receive-pack$`);
const pullsPath = ({ upstream }: Contribution) => new RegExp(`/repos/${upstream.fullName}/pulls$`);

/** How many pull requests the service counts with this address. */
async function statistics(url: string): Promise<number> {
  const response = await fetch(`${bed.service.url}/api/recent-prs`);
  const { prs }: { prs: { pr_url: string }[] } = await response.json();
  return prs.filter(({ pr_url }) => pr_url === url).length;
}

describe('hash and key of a new pull request', () => {
  it('stand in the first lines, once, before anything is made at the host', async () => {
    const contribution = await withCommit();
    const { upstream } = contribution;
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path: /\/forks$/, until });
    const connection = await pushByHand(contribution, 1);
    await expect.poll(() => bed.host.requestsFor(upstream, 'POST', /forks$/)).toHaveLength(1);
    await expect.poll(() => connection.text).toMatch(/PR key: {3}[0-9a-f]{32}\n/);
    // Of band 2, without what only keeps the connection alive.
    const told = connection.text.split('\u0002').find((text) => /^[A-Z][a-z]/.test(text)) ?? '';
    const [intro, key] = told.split('\n');
    expect(intro).toMatch(/^Save the key now\. It is shown once, .* pull request [0-9a-f]{12}:$/);
    expect(key).toMatch(/^ {2}PR key: {3}[0-9a-f]{32}$/);
    expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$|\/pulls$/)).toEqual([]);
    // The date is not that of the hash, but of what is sent.
    const chosenAt = Math.floor(Date.now() / 1000);
    await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(chosenAt);
    answer();
    await expect.poll(() => connection.text).toContain('unpack ok');
    expect(connection.text.split('PR key:')).toHaveLength(2);
    const { url, headSha } = await bed.host.onlyPull(upstream);
    expect(connection.text).toContain(url);
    const fork = bed.host.forkPath(upstream) ?? '';
    expect(Number(await gitIn(fork, 'show', '--no-patch', '--format=%ct', headSha))).toBeGreaterThan(
      chosenAt,
    );
  });
});

describe('a live push that was answered', () => {
  it('is not told to whoever sends its id alone, also from its network', async () => {
    const contribution = await withCommit();
    const { clone, upstream, person } = contribution;
    const { banner } = await expectAccepted(bed, contribution, await again(contribution));
    const empty = async (newId: string) => {
      const commands = [{ newId, ref: 'refs/heads/topic' }];
      const body = pushBody({ commands, pack: buildPack([]).bytes });
      return readReport((await sendPush(upstream.url, person, body)).body);
    };
    const [right, wrong] = [await empty(await clone.idOf('HEAD')), await empty('a'.repeat(40))];
    expect(right).toEqual(wrong);
    expect(JSON.stringify(right)).not.toContain(banner.prHash);
  });
});

describe('an update that somebody else makes', () => {
  it('is answered alike, whether they have guessed all of the commits or only what is public', async () => {
    const contribution = await withCommit();
    const { clone, upstream } = contribution;
    const { banner } = await expectAccepted(bed, contribution, await again(contribution));
    const answers: unknown[] = [];
    for (const author of ['Right', 'Wrong']) {
      if (author === 'Wrong')
        await clone.git('commit', '--quiet', '--amend', '--no-edit', '--author=Wrong <wrong@guess.example>');
      const body = await bodyOf(contribution, [`pr-hash=${banner.prHash}`]);
      const answer = readReport((await sendPush(upstream.url, bed.person(), body)).body);
      expect(answer.progress.join('\n')).toContain(`Nothing new: ${banner.prUrl} has these commits already.`);
      answers.push(answer);
    }
    expect(answers[1]).toEqual(answers[0]);
  });
});

describe('a live push that was not answered', () => {
  it('is not resumed by somebody else who has guessed all of its commits, nor told of', async () => {
    const contribution = await withCommit();
    const { clone, upstream } = contribution;
    bed.sandbox.faults.inject({
      method: 'POST',
      path: pullsPath(contribution),
      times: ALWAYS,
      answer: { status: 500 },
    });
    const first = await again(contribution);
    expect(first.code).toBe(1);
    bed.sandbox.faults.clear();
    const key = keyIn(first);
    expect(key).toBeDefined();
    const answer = await sendPush(upstream.url, bed.person(), await bodyOf(contribution));
    const { progress } = readReport(answer.body);
    expect(progress.join('\n')).not.toContain(key);
    expect(progress.join('\n')).toMatch(/PR key: {3}[0-9a-f]{32}/);
    expect(progress.join('\n')).not.toMatch(/in progress|before/);
    // Its person goes on, with the key that was shown then.
    const { banner } = await expectAccepted(bed, contribution, await again(contribution));
    expect(banner.prKey).toBeUndefined();
    expect(remoteLines(first)[0]).toContain(banner.prHash);
    const withdraw = ['-o', 'withdraw', '-o', `pr-hash=${banner.prHash}`, '-o', `pr-key=${key}`];
    expect((await clone.push(...withdraw, 'origin', 'HEAD:topic')).code).toBe(0);
  });
});

describe('the same push twice at once', () => {
  it('by one client opens one pull request: the second is told to wait, and has no key', async () => {
    const contribution = await withCommit();
    const { upstream, person } = contribution;
    const body = await bodyOf(contribution);
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path: /\/forks$/, until });
    const first = sendPush(upstream.url, person, body);
    await expect.poll(() => bed.host.requestsFor(upstream, 'POST', /forks$/)).toHaveLength(1);
    const second = readReport((await sendPush(upstream.url, person, body)).body);
    expect(second.report.at(-1)).toContain('this push is already in progress');
    expect(second.progress.join('\n')).not.toContain('PR key');
    goOn();
    expect(readReport((await first).body).report).toContain('ok refs/heads/topic');
    await bed.host.onlyPull(upstream);
  });

  it('by two clients opens one for each, with a key of its own', async () => {
    const contribution = await withCommit();
    const { upstream } = contribution;
    const body = await bodyOf(contribution);
    const clients = [bed.person(), bed.person()];
    const answers = await Promise.all(clients.map((client) => sendPush(upstream.url, client, body)));
    const words = answers.map((answer) => readReport(answer.body).progress.join('\n'));
    const keys = words.map((text) => /PR key: +([0-9a-f]{32})/.exec(text)?.[1]);
    expect(new Set(keys).size).toBe(2);
    expect(keys).not.toContain(undefined);
    expect(await bed.host.pulls(upstream)).toHaveLength(2);
  });
});

describe('the same push again', exhaustive, () => {
  it('after a line that broke while the commits were sent finds the pull request, and is answered', async () => {
    const contribution = await withCommit();
    const { upstream } = contribution;
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path: receivePath(contribution), until });
    // As long as a code host takes for it: that the line is broken comes back while it does, not
    // with the last bytes.
    bed.sandbox.faults.inject({ method: 'POST', path: pullsPath(contribution), delayMs: 500 });
    const connection = await pushByHand(contribution, 1);
    await expect.poll(() => bed.host.requestsFor(upstream, 'POST', /git-receive-pack$/)).toHaveLength(1);
    const logged = bed.logLines.length;
    connection.vanish();
    answer();
    await expect.poll(() => bed.logLines.slice(logged).at(-1)).toMatch(/push accepted/);
    const { pull } = await expectAccepted(bed, contribution, await again(contribution));
    expect((await bed.host.onlyPull(upstream)).url).toBe(pull.url);
    expect(bed.host.requestsFor(upstream, 'POST', /git-receive-pack$/)).toHaveLength(1);
  });

  it('after a line that broke in the middle of the pack is not held up', async () => {
    const contribution = await withCommit();
    const logged = bed.logLines.length;
    const connection = await pushByHand(contribution, 0.6);
    connection.vanish();
    await expect.poll(() => bed.logLines.slice(logged).at(-1)).toMatch(/push refused/);
    await expect.poll(async () => (await again(contribution)).code).toBe(0);
    await bed.host.onlyPull(contribution.upstream);
  });

  it('once it was answered is told its address and hash, but not its key, and takes no second place', async () => {
    const contribution = await withCommit();
    const { clone } = contribution;
    const first = await expectAccepted(bed, contribution, await again(contribution));
    for (let time = 0; time < 3; time++) {
      const second = await again(contribution);
      expect((await expectAccepted(bed, contribution, second)).pull).toEqual(first.pull);
      const { prKey, ...told } = first.banner;
      expect(bannerOf(second)).toEqual(told);
      expect(second.stderr).not.toContain(prKey);
      expect(remoteLines(second)).toContain('You have pushed this before. Only that answer had its key.');
    }
    expect(bed.host.requestsFor(contribution.upstream, 'POST', /\/pulls$/)).toHaveLength(1);
    expect(await statistics(first.banner.prUrl)).toBe(1);
    for (const branch of ['b', 'c', 'd', 'e']) {
      await clone.commit();
      expect((await clone.push('origin', `HEAD:${branch}`)).code).toBe(0);
    }
    expect((await clone.push('origin', 'HEAD:f')).stderr).toContain('rate limit exceeded');
    // A guess must not cost less than a new one.
    await clone.git('reset', '--quiet', '--hard', 'HEAD~5');
    expect((await again(contribution)).stderr).toContain('rate limit exceeded');
  });

  it('once its network has had its five is refused, though it broke off and counts among them', async () => {
    const contribution = await withCommit();
    const { clone } = contribution;
    for (const branch of ['b', 'c', 'd', 'e']) {
      expect((await clone.push('origin', `HEAD:${branch}`)).code).toBe(0);
      await clone.commit();
    }
    bed.sandbox.faults.inject({
      method: 'POST',
      path: pullsPath(contribution),
      times: ALWAYS,
      answer: { status: 500 },
    });
    expect(keyIn(await again(contribution))).toBeDefined();
    bed.sandbox.faults.clear();
    const second = await again(contribution);
    expect(second.stderr).toContain('rate limit exceeded');
    expect(keyIn(second)).toBeUndefined();
    expect(await bed.host.pulls(contribution.upstream)).toHaveLength(4);
  });

  it('once it was withdrawn or closed opens another, with a key of its own', async () => {
    const contribution = await withCommit();
    const { clone, upstream } = contribution;
    const keys = new Set<string | undefined>();
    for (const end of ['withdraw', 'close', 'leave'] as const) {
      const { banner, pull } = await expectAccepted(bed, contribution, await again(contribution));
      keys.add(banner.prKey);
      const named = ['-o', `pr-hash=${banner.prHash}`, '-o', `pr-key=${banner.prKey}`];
      if (end === 'withdraw') await clone.push('-o', 'withdraw', ...named, 'origin', 'HEAD:topic');
      else if (end === 'close')
        bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number: pull.number });
    }
    expect(keys.size).toBe(3);
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed', 'closed', 'open']);
  });

  it('while nobody knows whether its pull request was opened takes its branch, and opens one', async () => {
    const contribution = await withCommit();
    bed.sandbox.faults.inject({
      method: 'POST',
      path: pullsPath(contribution),
      times: ALWAYS,
      answer: { status: 500 },
    });
    expect((await again(contribution)).code).toBe(1);
    bed.sandbox.faults.clear();
    const branches = await bed.host.workBranches(contribution.upstream);
    expect(branches).toHaveLength(1);
    const { banner } = await expectAccepted(bed, contribution, await again(contribution));
    expect([banner.branch]).toEqual(branches);
    await bed.host.onlyPull(contribution.upstream);
  });

  it('keeps the branch if the host refuses to open what it may have opened before, and does not show', async () => {
    const contribution = await withCommit();
    const { upstream } = contribution;
    const path = pullsPath(contribution);
    bed.sandbox.faults.inject({ method: 'POST', path, cut: { during: 'answer', afterBytes: 0 } });
    const hidden = { times: ALWAYS, answer: { status: 200, body: [] } };
    bed.sandbox.faults.inject({ method: 'GET', path, ...hidden });
    expect((await again(contribution)).code).toBe(1);
    const answer = { status: 422, body: { message: 'Validation Failed', errors: [], status: '422' } };
    bed.sandbox.faults.inject({ method: 'POST', path, answer });
    expect((await again(contribution)).stderr).toContain('the pull request could not be opened');
    bed.sandbox.faults.clear();
    expect(await bed.host.workBranches(upstream)).toHaveLength(1);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'open' });
    await expectAccepted(bed, contribution, await again(contribution));
  });
});
