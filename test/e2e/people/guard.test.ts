/** How many pull requests one address may open, as a person with Git meets it; and the alert about it. */
import { describe, expect, it } from 'vitest';
import { contribute, type Contribution, expectAccepted, expectRefused } from '../support/contribution.ts';
import { ALWAYS } from '../support/failing-host.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { RawConnection } from '../support/raw-http.ts';
import { packOf, pushBody, RECEIVE_PACK, send, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { pkt, type PushReport, readReport } from '../../support/pkt-line.ts';

const bed = useOwnTestBed({ env: OPERATOR });
const operator = new Operator(bed);

/** The next pull request of a person, on a branch of its own. */
async function pushAgain({ clone }: Contribution, ...options: string[]) {
  await clone.commit();
  return clone.push(...options, 'origin', `HEAD:refs/heads/${clone.person.branch}`);
}

/**
 * Opens pull requests with less ado than Git: one small pack, one branch for each.
 * @param addressOf the client of each; default: the person's.
 */
async function openMany(
  { clone, upstream }: Contribution,
  count: number,
  addressOf: (index: number) => string = () => clone.person.address,
) {
  const pack = await packOf(clone, ['HEAD', '^origin/main']);
  const newId = await clone.idOf('HEAD');
  const answers = [];
  for (let index = 0; index < count; index++) {
    const ref = `refs/heads/${clone.person.word}-${index}`;
    const body = pushBody({ commands: [{ newId, ref }], pack });
    const headers = { 'Content-Type': RECEIVE_PACK, 'CF-Connecting-IP': addressOf(index) };
    const url = `${upstream.url}/git-receive-pack`;
    const answer = await send(url, { method: 'POST', person: clone.person, headers, body });
    answers.push(readReport(answer.body).report[1]);
  }
  return answers;
}

async function alertsWith(text: string): Promise<string[]> {
  return (await operator.alerts()).map(({ message }) => message).filter((message) => message.includes(text));
}

/** All pushes of this file are a burst, of which the operator may be told at any of them. */
const alertsOfClients = async () =>
  (await operator.alerts()).filter(({ title }) => title?.includes('burst') !== true);

const refusals = () => bed.logLines.filter((line) => line.includes('push refused')).length;

/** Pushes that send the first half of their bodies and are gone, one after the other. */
async function beginAndVanish({ clone, upstream }: Contribution, count: number): Promise<void> {
  const pack = await packOf(clone, ['HEAD', '^origin/main']);
  const newId = await clone.idOf('HEAD');
  const path = `/v1/gh/${upstream.fullName}/git-receive-pack`;
  for (let index = 0; index < count; index++) {
    const before = refusals();
    const body = pushBody({ commands: [{ newId, ref: `refs/heads/gone-${index}` }], pack });
    const connection = await RawConnection.open(bed.service.url);
    connection.sendHead(path, clone.person, {
      'Content-Type': RECEIVE_PACK,
      'Content-Length': String(body.length),
    });
    connection.send(body.subarray(0, body.length - 10));
    connection.vanish();
    await expect.poll(refusals).toBeGreaterThan(before);
  }
}

describe('the sixth pull request of an hour', () => {
  it('is refused with the reason, and the operator is told once', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const first = await expectAccepted(bed, contribution, await clone.push());
    await openMany(contribution, 4);
    expect(await bed.host.pulls(upstream)).toHaveLength(5);
    bed.tripwire.tolerate(
      'the alert names the address',
      ({ secret, where }) => secret.kind === 'address' && where.startsWith('POST /ntfy'),
    );

    const before = bed.host.requests.length;
    const refused = await pushAgain(contribution);
    // Nothing but the discovery, what the operator is told, and whether the one before is shown.
    const asked = bed.host.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    const { fullName } = contribution.upstream;
    const known = new Set([
      `POST /${fullName}.git/git-upload-pack`,
      `GET /api/v3/repos/${fullName}`,
      `GET /api/v3/repos/${fullName}/pulls/5`,
      'POST /ntfy/',
    ]);
    expect(asked.filter((request) => !known.has(request))).toEqual([]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('(push rejected: rate limit exceeded)');
    expect(remoteLines(refused)).toEqual(
      expect.arrayContaining([
        'Rate limit exceeded: max 5 PRs per hour per IP.',
        'Please try again later.',
        expect.stringMatching(/^Try again in about an hour\.$/),
        'push rejected: rate limit exceeded',
      ]),
    );
    const previewed = await pushAgain(contribution, '-o', 'preview');
    expect(remoteLines(previewed).slice(-3, -1)).toEqual([
      expect.stringMatching(
        /^This push would be refused now: rate limit exceeded\. Try again in about an hour\.$/,
      ),
      '',
    ]);
    expect(previewed.stderr).not.toContain('NEW pull request');
    const beforeMadeUp = bed.host.requests.length;
    await pushAgain(contribution, '-o', 'pr-hash=0123456789ab');
    const askedForMadeUp = bed.host.requests
      .slice(beforeMadeUp)
      .map(({ method, path }) => `${method} ${path}`);
    expect(askedForMadeUp.filter((request) => !known.has(request))).toEqual([]);
    expect(await bed.host.pulls(upstream)).toHaveLength(5);

    await expectAccepted(
      bed,
      { clone, upstream },
      await clone.push('-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:refs/heads/update'),
    );
    await expect.poll(() => operator.alerts()).toHaveLength(1);
    const [alert] = await operator.alerts();
    expect(alert?.message).toContain(
      `IP ${clone.person.address} is over the limit of 5 PRs per hour (attempt 6)`,
    );
    expect(JSON.stringify(alert)).not.toContain(OPERATOR.PANIC_PASSWORD);
  });

  it('is told to the operator also where it names a pull request that is not there', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    await openMany(contribution, 5);
    bed.tripwire.tolerate(
      'the alert names the address',
      ({ secret, where }) => secret.kind === 'address' && where.startsWith('POST /ntfy'),
    );
    const refused = await pushAgain(contribution, '-o', 'pr-hash=0123456789ab');
    expect(refused.stderr).toContain('(push rejected: rate limit exceeded)');
    await expect.poll(() => alertsWith(contribution.clone.person.address)).toHaveLength(1);
  });

  it('is counted without pushes that failed', async () => {
    const contribution = await contribute(bed);
    const { upstream, clone } = contribution;
    await clone.commit();
    for (const ref of ['one', 'two']) {
      bed.sandbox.faults.inject({
        method: 'POST',
        path: /\/pulls$/,
        answer: { status: 422, body: { message: 'Not now' } },
      });
      const failed = await clone.push('origin', `HEAD:refs/heads/${ref}`);
      await expectRefused(bed, upstream, failed, 'the pull request could not be opened');
    }
    const report = await openMany(contribution, 6);
    expect(report.slice(0, 5).every((line) => line?.startsWith('ok '))).toBe(true);
    expect(report[5]).toMatch(/ng .* push rejected: rate limit exceeded$/);
    bed.tripwire.tolerate('the alert names the address', ({ secret }) => secret.kind === 'address');
    await expect.poll(() => alertsWith(clone.person.address)).toHaveLength(1);
  });
});

describe('the places of an address', exhaustive, () => {
  it('are not given back by a push that is sent again while it is under way', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path: /\/pulls$/, times: ALWAYS, until });
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const newId = await clone.idOf('HEAD');
    const push = async (branch: string) => {
      const body = pushBody({ commands: [{ newId, ref: `refs/heads/${branch}` }], pack });
      return readReport((await sendPush(upstream.url, clone.person, body)).body).report[1];
    };
    const opening = () => bed.host.requestsFor(upstream, 'POST', /\/pulls$/).length;
    const first: Promise<string | undefined>[] = [];
    for (let index = 0; index < 5; index++) {
      first.push(push(`${index}`));
      await expect.poll(opening).toBe(index + 1);
      expect(await push(`${index}`)).toContain('this push is already in progress');
    }
    expect(await push('6')).toMatch(/push rejected: rate limit exceeded$/);
    answer();
    for (const report of await Promise.all(first)) expect(report).toMatch(/^ok /);
    bed.tripwire.tolerate('the alert names the address', ({ secret }) => secret.kind === 'address');
  });
});

describe('the twenty-first pull request of an hour from one IPv6 /48', exhaustive, () => {
  it('is refused, whatever network of it pushes, and the operator is told once', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    // Twelve networks: each has places of its own left.
    const report = await openMany(contribution, 22, (index) => `2001:db8:48:${index % 12}::${index}`);
    const refused = /ng .* push rejected: rate limit exceeded$/;
    expect(report.map((line) => refused.test(line ?? ''))).toEqual(
      Array.from({ length: 22 }, (_, index) => index >= 20),
    );
    expect(await bed.host.pulls(upstream)).toHaveLength(20);
    const words = 'IP 2001:db8:48::/48 is over the limit of 20 PRs per hour (attempt 21)';
    await expect.poll(() => alertsWith('/48')).toEqual([expect.stringContaining(words)]);
    const [other] = await openMany(contribution, 1, () => '2001:db8:49::1');
    expect(other).toMatch(/^ok /);
  }, 120_000);
});

describe('a push that breaks off', exhaustive, () => {
  it('takes no place', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    await beginAndVanish(contribution, 6);
    expect(await openMany(contribution, 5)).toEqual(
      Array.from({ length: 5 }, (_, index) => `ok refs/heads/${clone.person.word}-${index}`),
    );
    expect(await bed.host.pulls(upstream)).toHaveLength(5);
  });
});

describe('a push whose pull request may be open, as far as anybody knows', exhaustive, () => {
  it('keeps its place until it is repeated', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const path = new RegExp(`/repos/${upstream.fullName}/pulls$`);
    const cut = { during: 'answer', afterBytes: 20 } as const;
    bed.sandbox.faults.inject({ method: 'POST', path, times: ALWAYS, cut });
    bed.sandbox.faults.inject({ method: 'GET', path, times: ALWAYS, answer: { status: 500 } });
    const unknown = await clone.push();
    bed.sandbox.faults.clear();
    bed.tripwire.tolerate('the alert names the address', ({ secret }) => secret.kind === 'address');
    expect(unknown.stderr).toContain('the pull request could not be opened');
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
    const report = await openMany(contribution, 5);
    expect(report.map((line) => line?.startsWith('ok '))).toEqual([true, true, true, true, false]);
    await expectAccepted(bed, contribution, await clone.push());
    expect(await bed.host.pulls(upstream)).toHaveLength(5);
  });
});

describe('a repeated push', exhaustive, () => {
  it('takes another place if the pull request of the first attempt is closed by now', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const path = new RegExp(`/repos/${upstream.fullName}/pulls$`);
    bed.sandbox.faults.inject({
      method: 'POST',
      path,
      times: ALWAYS,
      cut: { during: 'answer', afterBytes: 20 },
    });
    bed.sandbox.faults.inject({ method: 'GET', path, times: ALWAYS, answer: { status: 500 } });
    expect((await clone.push()).code).toBe(1);
    bed.sandbox.faults.clear();
    const [owner, repo] = upstream.fullName.split('/') as [string, string];
    bed.sandbox.maintainer.close({ owner, repo, number: 1 });
    await expectAccepted(bed, contribution, await clone.push());
    bed.tripwire.tolerate('the alert names the address', ({ secret }) => secret.kind === 'address');
    const report = await openMany(contribution, 4);
    expect(report.map((line) => line?.startsWith('ok '))).toEqual([true, true, true, false]);
    await expect.poll(() => alertsWith(clone.person.address)).toHaveLength(1);
  });
});

describe('pushes of one address that open nothing', () => {
  it('fork nothing anew', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    await openMany(contribution, 5);
    bed.tripwire.tolerate('the alert names the address', ({ secret }) => secret.kind === 'address');
    const forks = () => bed.host.requestsFor(upstream, 'POST', /\/forks$/).length;
    const before = forks();
    // The same again would be told its pull request.
    await clone.commit();
    for (let index = 0; index < 3; index++) await openMany(contribution, 1);
    expect(forks()).toBe(before);
    await expect.poll(() => alertsWith(clone.person.address)).toHaveLength(1);
  });
});

describe('the request that Git sends ahead of a large push', () => {
  it('counts nowhere', async () => {
    const { upstream, clone } = await contribute(bed);
    const before = (await alertsOfClients()).length;
    const headers = { 'Content-Type': RECEIVE_PACK };
    for (let probe = 0; probe < 25; probe++) {
      const url = `${upstream.url}/git-receive-pack`;
      await send(url, { method: 'POST', person: clone.person, headers, body: pkt(null) });
    }
    await clone.commit();
    await expectAccepted(bed, { upstream, clone }, await clone.push());
    expect(await alertsOfClients()).toHaveLength(before);
  });
});

function expectLimited({ progress, errors, report }: PushReport, what: string): void {
  expect(progress.filter(Boolean).slice(0, 2), what).toEqual([
    'Rate limit exceeded: max 5 PRs per hour per IP.',
    'Please try again later.',
  ]);
  expect(errors, what).toEqual(['push rejected: rate limit exceeded']);
  for (const line of report.slice(1)) expect(line).toMatch(/^ng \S+ push rejected: rate limit exceeded$/);
}

describe('a client over the limit', exhaustive, () => {
  it('is told so whatever else is wrong with its push, also by a service that has just started', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream, person } = contribution;
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    await openMany(contribution, 4);
    bed.tripwire.tolerate('the alert names the address', ({ secret }) => secret.kind === 'address');
    const newId = await clone.idOf('HEAD');
    const toBranch = { newId, ref: 'refs/heads/more' };
    const nothing = Buffer.alloc(0);
    const bodies: Record<string, Uint8Array> = {
      empty: nothing,
      malformed: Buffer.concat([pkt('no command'), pkt(null), pkt(null)]),
      'no pkt-lines': Buffer.from('what is this?'),
      'no pack': pushBody({ commands: [toBranch], pack: nothing }),
      'no valid option': pushBody({ commands: [toBranch], options: ['pr-hash=x'], pack: nothing }),
      'the hash of nothing': pushBody({ commands: [toBranch], options: ['pr-hash=00112233'], pack: nothing }),
      'a tag': pushBody({ commands: [{ newId, ref: 'refs/tags/v1' }], pack: nothing }),
    };
    const posted = async (url: string, body: Uint8Array) =>
      readReport((await sendPush(url, person, body)).body);
    for (const isNew of [false, true]) {
      for (const [what, body] of Object.entries(bodies)) {
        if (isNew) await bed.restart();
        expectLimited(await posted(upstream.url, body), what);
      }
    }
    const missing = bed.remoteUrl('octo', 'missing');
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    await bed.restart();
    expectLimited(await posted(missing, pushBody({ commands: [toBranch], pack })), 'a missing repository');
    const broken = { commands: [toBranch], options: [`pr-hash=${banner.prHash}`], pack: nothing };
    expect((await posted(upstream.url, pushBody(broken))).errors).toEqual([
      'push rejected: the pack is invalid',
    ]);
    expect((await sendPush(upstream.url, person, pkt(null))).body).toHaveLength(0);
    expect(await alertsWith(person.address)).not.toEqual([]);
  }, 120_000);
});
