/**
 * Who answers in place of the code host: another server that it redirects to, a page to sign in, a page for browsers. No
 * one is believed, nothing is taken from a stranger or given to one, and the person reads why.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { PAGE_FOR_BROWSERS, SIGN_IN_PATHS, signIn } from '../../../sandbox/known-answers.ts';
import { expectAccepted, expectRefused } from '../support/contribution.ts';
import { delayed, pageOf, pass } from '../support/delayed.ts';
import { ALWAYS, expectAgain, withWork } from '../support/failing-host.ts';
import { FormClient } from '../support/form-client.ts';
import { remoteLines } from '../support/push-output.ts';
import { comment, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { send } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { pkt, readPkts } from '../../support/pkt-line.ts';

const bed = useOwnTestBed();

const ADVERTISEMENT_TYPE = 'application/x-git-upload-pack-advertisement';
const RESULT_TYPE = 'application/x-git-upload-pack-result';
const PAGE = 'The code host shows a page for browsers instead of Git.';
const NO_FOLLOWING =
  'This service does not follow it there. ' +
  'Ask its maintainers for the new address, then: git remote set-url origin NEW-ADDRESS';

/** The host under another name of this machine: another origin, behind which the same repositories stand. */
let stranger: string;
/** As the service names it. */
let strangerName: string;

beforeAll(() => {
  stranger = bed.sandbox.url.replace('127.0.0.1', 'localhost');
  strangerName = new URL(stranger).host;
});

const sentenceOf = ({ fullName }: Upstream): string =>
  `${fullName} has moved to another server: ${strangerName}. ${NO_FOLLOWING}`;

/** Every request for a repository, by Git and by REST, is sent to the stranger's of the same name. */
function moveAway({ fullName }: Upstream, status: 301 | 302 | 307 | 308 = 301): void {
  for (const path of [new RegExp(`^/${fullName}(\\.git)?/`), new RegExp(`^/api/v3/repos/${fullName}(/|$)`)])
    bed.sandbox.faults.inject({ path, times: ALWAYS, redirect: { status, to: stranger } });
}

/** A request for one repository of Git's is sent to the same one of another name, at the stranger. */
function replace(upstream: Upstream, other: Upstream, path: string): void {
  const location = `${stranger}/${other.fullName}.git/${path}`;
  const [pathOnly = ''] = path.split('?');
  bed.sandbox.faults.inject({
    path: new RegExp(`^/${upstream.fullName}.git/${pathOnly}$`),
    times: ALWAYS,
    answer: { status: 301, headers: { location } },
  });
}

describe('a repository that has moved to another server', () => {
  it('is not cloned, nor is a stranger’s of the same path here', async () => {
    const [upstream, other] = [await bed.createUpstream(), await bed.createUpstream()];
    for (const service of ['git-upload-pack', 'git-receive-pack'])
      replace(upstream, other, `info/refs?service=${service}`);
    replace(upstream, other, 'git-upload-pack');
    const person = bed.person();
    for (const version of ['0', '2']) {
      const options = ['-c', `protocol.version=${version}`];
      const run = await person.git(person.home, ['clone', ...options, upstream.url, `clone${version}`]);
      expect(run.code).toBe(128);
      expect(remoteLines(run)).toEqual([sentenceOf(upstream)]);
    }
    expect(bed.host.requests.filter(({ path }) => path.startsWith(`/${other.fullName}.git/`))).toEqual([]);
    expect(person.wasAskedForPassword).toBe(false);
  });

  it.each([301, 302, 307, 308] as const)(
    'answers a discovery for a fetch with its status %i, one for a push with 502, and with no address',
    async (status) => {
      const upstream = await bed.createUpstream();
      moveAway(upstream, status);
      for (const [service, expected] of [
        ['git-upload-pack', status],
        ['git-receive-pack', 502],
      ] as const) {
        const answer = await send(`${upstream.url}/info/refs?service=${service}`, { person: bed.person() });
        expect([answer.status, answer.body.toString()]).toEqual([expected, `${sentenceOf(upstream)}\n`]);
        expect(answer.headers['location']).toBeUndefined();
        expect(answer.headers['content-type']).toMatch(/^text\/plain/);
        if (service === 'git-upload-pack') expect(answer.headers['www-authenticate']).toBe('None');
      }
      const headers = { 'User-Agent': 'isomorphic-git/1.44.11' };
      const discovery = `${upstream.url}/info/refs?service=git-receive-pack`;
      const { body } = await send(discovery, { person: bed.person(), headers });
      const { host } = new URL(bed.sandbox.url);
      expect(JSON.parse(body.toString())).toEqual({ error: `failed to reach ${host}` });
    },
  );

  it('is not fetched from, whichever request is the first that is sent away', async () => {
    const upstream = await bed.createUpstream();
    const clone = await bed.person().clone(upstream.url);
    await upstream.grow({ count: 1 });
    replace(upstream, upstream, 'git-upload-pack');
    const run = await clone.tryGit('fetch', 'origin');
    expect(run.code).toBe(128);
    expect(run.stderr).toContain(`fatal: remote error: ${sentenceOf(upstream)}`);
    bed.sandbox.faults.clear();
    expect((await clone.tryGit('fetch', 'origin')).code).toBe(0);
  });

  it('is not fetched from by a shallow clone, for whose sake the service asks first', async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    await person.git(person.home, ['clone', '--depth=1', upstream.url, 'shallow']);
    await upstream.grow({ count: 1 });
    replace(upstream, upstream, 'git-upload-pack');
    const run = await person.git(`${person.home}/shallow`, ['fetch', '--unshallow']);
    expect(run.code).toBe(128);
    expect(run.stderr).toContain(`fatal: remote error: ${sentenceOf(upstream)}`);
  });

  it('gets no push, neither there nor at a stranger’s of the same path here', async () => {
    const contribution = await withWork(bed);
    const other = await bed.createUpstream();
    replace(contribution.upstream, other, 'git-upload-pack');
    const pushed = await contribution.clone.push();
    // Discovery lists the refs by the same request.
    expect(remoteLines(pushed)).toEqual([sentenceOf(contribution.upstream)]);
    bed.sandbox.faults.clear();
    expect(await bed.host.pulls(other)).toEqual([]);
    await expectAgain(bed, contribution);
  });

  it('gets no push of a client that has seen its refs before, and says so in-band', async () => {
    const contribution = await withWork(bed);
    const { upstream } = contribution;
    bed.sandbox.faults.inject({
      path: new RegExp(`^/api/v3/repos/${upstream.fullName}$`),
      times: ALWAYS,
      redirect: { status: 301, to: stranger },
    });
    const lines = await expectRefused(
      bed,
      upstream,
      await contribution.clone.push(),
      /could not be looked up/,
    );
    expect(lines).toContain(sentenceOf(upstream));
    expect(lines.join('\n')).not.toContain('Push again later');
    await expectAgain(bed, contribution);
  });

  it('gets no commits by a fork that is sent away', async () => {
    const contribution = await withWork(bed);
    bed.sandbox.faults.inject({
      path: new RegExp(`^/${bed.sandbox.botLogin}/.*git-(upload|receive)-pack$`),
      times: ALWAYS,
      redirect: { status: 307, to: stranger },
    });
    const pushed = await contribution.clone.push();
    expect(pushed.code).toBe(1);
    expect(remoteLines(pushed).join('\n')).toContain(`has moved to another server: ${strangerName}.`);
    await expectAgain(bed, contribution);
  });

  it('gets no update, and the pull request stays as it was', async () => {
    const contribution = await withWork(bed);
    const { upstream, clone } = contribution;
    const { banner, pull } = await expectAccepted(bed, contribution, await clone.push());
    await clone.commit({ message: 'More of it\n' });
    const update = () => clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:topic');
    moveAway(upstream);
    const refused = await update();
    expect(refused.code).not.toBe(0);
    expect(remoteLines(refused)).toContain(sentenceOf(upstream));
    bed.sandbox.faults.clear();
    expect(await bed.host.onlyPull(upstream)).toEqual(pull);
    await expectAccepted(bed, contribution, await update());
  });

  it('gets no delayed push: its page says so, for good', async () => {
    const { upstream, name } = await delayed(bed);
    moveAway(upstream);
    await expect.poll(async () => (await pass(bed), pageOf(bed, name))).toContain(sentenceOf(upstream));
    expect(await pageOf(bed, name)).toMatch(/^200 Failed\n/);
    bed.sandbox.faults.clear();
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('keeps a delayed push that a wall has sent elsewhere for a while', exhaustive, async () => {
    const { upstream, name } = await delayed(bed);
    moveAway(upstream, 302);
    await expect
      .poll(async () => (await pass(bed), pageOf(bed, name)))
      .toContain(`another server: ${strangerName}`);
    bed.sandbox.faults.clear();
    await expect.poll(async () => (await pass(bed), bed.host.pulls(upstream))).toHaveLength(1);
  });

  it.each([301, 302, 307, 308] as const)('gets no comment and no issue by REST (%i)', async (status) => {
    const upstream = await bed.createUpstream();
    const issuePath = `/v1/gh/${upstream.fullName}/issues/anonymous`;
    expect((await speak(bed, bed.person(), issuePath, { title: 'One', body: 'x' })).status).toBe(200);
    moveAway(upstream, status);
    const answers = [
      await comment(bed, bed.person(), `${upstream.fullName}/issues/1`, 'Said meanwhile.'),
      await speak(bed, bed.person(), issuePath, { title: 'Two', body: 'x' }),
    ];
    for (const [at, what] of ['comment', 'issue'].entries()) {
      expect(answers[at]?.status).toBe(400);
      expect(answers[at]?.body['error']).toMatch(new RegExp(`^failed to create ${what}: ${status} [A-Z]`));
    }
    bed.sandbox.faults.clear();
    expect(await bed.host.call('GET', `/repos/${upstream.fullName}/issues/1/comments`)).toEqual([]);
    expect(await bed.host.call('GET', `/repos/${upstream.fullName}/issues`)).toHaveLength(1);
  });

  it('is named in a form', async () => {
    const upstream = await bed.createUpstream();
    moveAway(upstream);
    const page = await new FormClient(bed.service.url, bed.person()).get(
      `/v1/gh/${upstream.fullName}/change`,
    );
    expect(page.status).toBe(502);
    expect(page.html).toContain(`has moved to another server: ${strangerName}.`);
  });
});

describe('the feed of notifications', () => {
  it('of a host that has moved is not asked for elsewhere, with the token or without', async () => {
    const path = /\/notifications$/;
    bed.sandbox.faults.inject({ path, times: ALWAYS, redirect: { status: 301, to: stranger } });
    const before = bed.host.requests.length;
    const asked = () =>
      bed.host.requests.slice(before).filter((request) => request.path.includes('/notifications'));
    await expect.poll(async () => (await pass(bed), asked().length)).toBeGreaterThan(0);
    const { host } = new URL(bed.sandbox.url);
    for (const { headers } of asked()) expect(headers['host']).toBe(host);
    bed.sandbox.faults.clear();
  });
});

describe('a host that redirects in a circle', exhaustive, () => {
  it('is asked a few times, and never twenty', async () => {
    const [a, b] = [await bed.createUpstream(), await bed.createUpstream()];
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const)
      for (const service of ['upload', 'receive'])
        for (const path of [`info/refs?service=git-${service}-pack`, `git-${service}-pack`])
          bed.sandbox.faults.inject({
            path: new RegExp(`^/${from.fullName}.git/${path.split('?')[0]}$`),
            times: ALWAYS,
            answer: { status: 301, headers: { location: `/${to.fullName}.git/${path}` } },
          });
    const person = bed.person();
    const clone = await person.copy(a);
    await clone.commit();
    for (const run of [
      await person.git(person.home, ['clone', a.url, 'circle']),
      await clone.tryGit('fetch', 'origin'),
      await clone.push(),
    ]) {
      expect(run.code).not.toBe(0);
      expect(remoteLines(run)).toEqual([
        `The code host redirects ${a.fullName} from one address to the next.`,
      ]);
    }
    const asked = bed.host.requests.filter(
      ({ path }) => /git\/(info|git-)/.test(path) && path.includes(a.name),
    );
    expect(asked.length).toBeLessThanOrEqual(3 * 4);
  });

  it.each(['', '.git'])('to the same repository (%j) is asked once', async (end) => {
    const upstream = await bed.createUpstream();
    const location = `/${upstream.fullName}${end}/info/refs?service=git-upload-pack`;
    const answer = { status: 301, headers: { location } };
    bed.sandbox.faults.inject({ path: /info\/refs$/, times: ALWAYS, answer });
    const person = bed.person();
    const before = bed.host.requests.length;
    const run = await person.git(person.home, ['clone', upstream.url, 'circle']);
    expect(remoteLines(run)).toEqual([
      `The code host redirects ${upstream.fullName} to an address that cannot be followed.`,
    ]);
    expect(bed.host.requests.slice(before)).toHaveLength(1);
  });
});

describe('a page to sign in', exhaustive, () => {
  it.each(SIGN_IN_PATHS)('is told of, and nobody is asked for a password: %s', async (path) => {
    const contribution = await withWork(bed);
    const { upstream, clone, person } = contribution;
    const sentence = `The code host wants people to sign in before it shows ${upstream.fullName}.`;
    bed.sandbox.faults.inject({ path: /\.git\//, times: ALWAYS, answer: signIn(path) });
    for (const run of [await clone.tryGit('fetch', 'origin'), await clone.push()]) {
      expect(run.code).toBe(128);
      expect(remoteLines(run)).toEqual([sentence]);
    }
    expect(person.wasAskedForPassword).toBe(false);
    await expectAgain(bed, contribution);
  });
});

/** Everything by Git that the host answers from now on. */
function answerGit(
  answer: NonNullable<Parameters<typeof bed.sandbox.faults.inject>[0]['answer']>,
  path = /\.git\//,
): void {
  bed.sandbox.faults.inject({ path, times: ALWAYS, answer });
}

const typed = (type: string) => ({ ...PAGE_FOR_BROWSERS, headers: { 'content-type': type } });

describe('a page for browsers in place of Git', () => {
  it('is told of to whoever clones, fetches and pushes', async () => {
    const contribution = await withWork(bed);
    const { upstream, clone, person } = contribution;
    answerGit(PAGE_FOR_BROWSERS);
    for (const version of ['0', '2'])
      for (const run of [
        await person.git(person.home, ['-c', `protocol.version=${version}`, 'clone', upstream.url, 'page']),
        await clone.tryGit('-c', `protocol.version=${version}`, 'fetch', 'origin'),
      ]) {
        expect(run.code).toBe(128);
        expect(run.stderr).toContain(`fatal: remote error: ${PAGE}`);
      }
    const pushed = await clone.push();
    expect(pushed.code).toBe(128);
    expect(remoteLines(pushed)).toEqual([`${PAGE} Try again in a few minutes.`]);
    await expectAgain(bed, contribution);
  });

  it.each([
    ['the refs', /git-upload-pack$/],
    ['the fork’s refs', /^\/gitveil-bot\/.*git-upload-pack$/],
    ['the commits', /^\/gitveil-bot\/.*git-receive-pack$/],
  ])('in the middle of a push is told of in-band: for %s', async (_, path) => {
    const contribution = await withWork(bed);
    // Listed by its discovery, and remembered for the push.
    const clone = contribution.clone;
    answerGit(PAGE_FOR_BROWSERS, path);
    const pushed = await clone.push();
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toContain(PAGE);
    await expectAgain(bed, contribution);
  });

  it('is Git’s own error packet, with the host’s status and Git’s types', async () => {
    const upstream = await bed.createUpstream();
    answerGit(PAGE_FOR_BROWSERS);
    const discovered = await send(`${upstream.url}/info/refs?service=git-upload-pack`, {
      person: bed.person(),
    });
    const asked = await send(`${upstream.url}/git-upload-pack`, {
      method: 'POST',
      person: bed.person(),
      headers: { 'Content-Type': 'application/x-git-upload-pack-request' },
      body: Buffer.concat([pkt(`want ${await upstream.tip()} side-band-64k\n`), pkt(null), pkt('done\n')]),
    });
    for (const [answer, type] of [
      [discovered, ADVERTISEMENT_TYPE],
      [asked, RESULT_TYPE],
    ] as const) {
      expect([answer.status, answer.headers['content-type']]).toEqual([200, type]);
      expect(readPkts(answer.body)[0]?.toString()).toMatch(/^ERR The code host shows a page for browsers/);
    }
    expect(discovered.headers['www-authenticate']).toBe('None');
  });

  it.each(['text/html', 'TEXT/HTML;charset=utf-8', 'application/xhtml+xml'])(
    'is known by its type, even if Git’s own words are in it: %s',
    async (type) => {
      const upstream = await bed.createUpstream();
      const person = bed.person();
      answerGit({
        status: 200,
        headers: { 'content-type': type },
        body: '001e# service=git-upload-pack\n0000',
      });
      const run = await person.git(person.home, ['clone', upstream.url, 'typed']);
      expect(run.code).toBe(128);
      expect(run.stderr).toContain(`fatal: remote error: ${PAGE}`);
    },
  );

  it('that calls itself Git is passed on as it is, and a push does not believe it', async () => {
    const contribution = await withWork(bed);
    const { upstream, clone } = contribution;
    answerGit(typed(ADVERTISEMENT_TYPE), /info\/refs$/);
    answerGit(typed(RESULT_TYPE), /git-upload-pack$/);
    const answer = await send(`${upstream.url}/info/refs?service=git-upload-pack`, { person: bed.person() });
    expect(answer.body.toString()).toBe(PAGE_FOR_BROWSERS.body);
    const pushed = await clone.push();
    expect(remoteLines(pushed)).toEqual([
      `Failed to reach ${new URL(bed.sandbox.url).host}. Try again in a few minutes.`,
    ]);
    await expectAgain(bed, contribution);
  });
});
