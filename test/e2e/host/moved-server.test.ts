/**
 * Who answers in place of the code host: another server that it redirects to, a page to sign in, a
 * page for browsers. No one is believed, nothing is taken from a stranger or given to one, and the
 * person reads why.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { PAGE_FOR_BROWSERS, SIGN_IN_PATHS, signIn } from '../../../sandbox/known-answers.ts';
import { expectRefused } from '../support/contribution.ts';
import { delayed, pageOf, pass } from '../support/delayed.ts';
import { ALWAYS, expectAgain, withWork } from '../support/failing-host.ts';
import { remoteLines } from '../support/push-output.ts';
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

/**
 * The host under another name of this machine: another origin, behind which the same repositories
 * stand.
 */
let stranger: string;
/** As the service names it. */
let strangerName: string;

beforeAll(() => {
  stranger = bed.sandbox.url.replace('127.0.0.1', 'localhost');
  strangerName = new URL(stranger).host;
});

const sentenceOf = ({ fullName }: Upstream): string =>
  `${fullName} has moved to another server: ${strangerName}. ${NO_FOLLOWING}`;

/**
 * Every request for a repository, by Git and by REST, is sent to the stranger's of the same name.
 */
function moveAway({ fullName }: Upstream, status: 301 | 302 | 307 | 308 = 301): void {
  for (const path of [new RegExp(`^/${fullName}(\\.git)?/`), new RegExp(`^/api/v3/repos/${fullName}(/|$)`)])
    bed.sandbox.faults.inject({ path, times: ALWAYS, redirect: { status, to: stranger } });
}

/**
 * A request for one repository of Git's is sent to the same one of another name, at the stranger.
 */
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

  it.each([301, 302] as const)(
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

  it('is not fetched from, whichever request is the first that is sent away', exhaustive, async () => {
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

  it('gets no push of a client that has seen its refs before, and says so in-band', exhaustive, async () => {
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

  it('gets no commits by a fork that is sent away', exhaustive, async () => {
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

  it('gets no delayed push: its page says so, for good', async () => {
    const { upstream, name } = await delayed(bed);
    moveAway(upstream);
    await expect.poll(async () => (await pass(bed), pageOf(bed, name))).toContain(sentenceOf(upstream));
    expect(await pageOf(bed, name)).toMatch(/^200 Failed\n/);
    bed.sandbox.faults.clear();
    expect(await bed.host.pulls(upstream)).toEqual([]);
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
  it('is told of to whoever clones, fetches and pushes', exhaustive, async () => {
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

  it('is Git’s own error packet, with the host’s status and Git’s types', exhaustive, async () => {
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

  it('that calls itself Git is passed on as it is, and a push does not believe it', exhaustive, async () => {
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
