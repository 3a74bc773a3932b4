/**
 * Objects that a client may ask for by their ids, what that costs at the host, and where its
 * shallow clone may end.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_WANTS } from '../../../src/git/wire/fetch-request.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Person } from '../support/person.ts';
import type { Upstream } from '../support/upstream.ts';
import { send } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { pkt, readPkts } from '../../support/pkt-line.ts';

const bed = useOwnTestBed();

const fetchesOf = (upstream: Upstream) => bed.host.requestsFor(upstream, 'POST', /\/git-upload-pack$/);

/** Lists what the host was asked with Git since then, in order. */
const commandsSince = (upstream: Upstream, start: number) =>
  fetchesOf(upstream)
    .slice(start)
    .map(({ body }) => /command=([a-z-]+)/.exec(body.toString())?.[1] ?? 'v0');

/** Wants by hand, in either version, as a client without any commit; the answer's packets. */
async function want(upstream: Upstream, person: Person, version: 0 | 2, lines: readonly string[]) {
  const wants = lines.map((line) => pkt(`${line}\n`));
  const body =
    version === 2
      ? [pkt('command=fetch\n'), Buffer.from('0001'), ...wants, pkt('done\n'), pkt(null)]
      : [...wants, pkt(null), pkt('done\n')];
  const { status, body: answer } = await send(`${upstream.url}/git-upload-pack`, {
    method: 'POST',
    person,
    headers: {
      'Content-Type': 'application/x-git-upload-pack-request',
      ...(version === 2 && { 'Git-Protocol': 'version=2' }),
    },
    body: Buffer.concat(body),
  });
  expect(status).toBe(200);
  return readPkts(answer)[0]?.toString() ?? '';
}

describe('an id that somebody types', () => {
  it.each([0, 2] as const)(
    'goes on to the host in version %i, which answers in its own words',
    async (version) => {
      const upstream = await bed.createUpstream();
      const person = bed.person();
      // Not of a commit of the person's, which no test may show to the host.
      const typed = randomBytes(20).toString('hex');
      const tip = await upstream.tip();
      for (const lines of [[`want ${typed}`], [`want ${tip}`, `want ${typed}`]]) {
        const before = fetchesOf(upstream).length;
        const said = await want(upstream, person, version, lines);
        expect(said).toMatch(new RegExp(`^ERR upload-pack: not our ref ${typed}\n?$`));
        const [request, ...others] = fetchesOf(upstream).slice(before);
        expect(request?.body.includes(`want ${typed}`)).toBe(true);
        expect(others).toEqual([]);
      }
      const clone = await person.clone(upstream.url, '-c', `protocol.version=${version}`);
      const fetched = await clone.tryGit('fetch', 'origin', typed);
      expect([fetched.code, fetched.stderr]).toEqual([128, expect.stringContaining(`not our ref ${typed}`)]);
    },
  );
});

/** A made-up commit of the client's. */
const madeUp = () => randomBytes(20).toString('hex');

/**
 * Replaces upstream's refs but `main` by these.
 * @param oids of each. Default: all on the tip of `main`.
 */
async function setRefs(
  upstream: Upstream,
  names: readonly string[],
  oids: readonly string[] = [],
): Promise<void> {
  const tip = await upstream.tip();
  const refs = names.map((name, at) => `${oids[at] ?? tip} ${name}`);
  const lines = ['# pack-refs with: peeled', `${tip} refs/heads/main`, ...refs, ''];
  await writeFile(join(upstream.path, 'packed-refs'), lines.join('\n'));
}

/** More than are remembered with their names. */
const MANY_REFS = 3_000;
const manyNames = (space: string) =>
  Array.from({ length: MANY_REFS }, (_, at) => `refs/${space}/${String(at).padStart(4, '0')}`);

describe('a made-up commit', () => {
  it.each([0, 2] as const)(
    'as the end of a shallow clone makes the service list all refs once, in version %i',
    async (version) => {
      const upstream = await bed.createUpstream();
      await setRefs(upstream, manyNames('pull'));
      const tip = await upstream.tip();
      const ask = () => want(upstream, bed.person(), version, [`want ${tip}`, `shallow ${madeUp()}`]);
      expect(await ask()).toMatch(/^ERR Your shallow clone ends at commits .* Clone again\./);
      const before = fetchesOf(upstream).length;
      for (let time = 0; time < 3; time++) expect(await ask()).toMatch(/^ERR Your shallow clone ends/);
      await Promise.all([ask(), ask(), ask()]);
      expect(commandsSince(upstream, before)).toEqual([]);
    },
  );

  it('that a client says it has makes the service list a long list of branches once', async () => {
    const upstream = await bed.createUpstream();
    await setRefs(upstream, manyNames('heads'));
    const tip = await upstream.tip();
    const ask = () => want(upstream, bed.person(), 2, [`want ${tip}`, `have ${madeUp()}`]);
    expect(await ask()).toBe('packfile\n');
    const before = fetchesOf(upstream).length;
    for (let time = 0; time < 3; time++) expect(await ask()).toBe('packfile\n');
    expect(commandsSince(upstream, before)).toEqual(['fetch', 'fetch', 'fetch']);
  });
});

/** So many commits in a line behind upstream's, and as many refs, each on one of them. */
async function refsOfTheirOwn(upstream: Upstream, count: number): Promise<void> {
  const tip = await upstream.tip();
  const commits = Array.from({ length: count }, (_, at) =>
    ['commit refs/heads/line', 'committer M <m@x.example> 1700000000 +0000', `data ${`${at}`.length}`, at]
      .concat(at === 0 ? [`from ${tip}`] : [])
      .join('\n'),
  );
  const input = `${commits.join('\n')}\n`;
  await bed.person().mustGit(upstream.path, ['fast-import', '--quiet', '--force'], { input });
  const oids = (await upstream.git('rev-list', 'line', '^main')).split('\n');
  await upstream.git('update-ref', '-d', 'refs/heads/line');
  await setRefs(
    upstream,
    oids.map((_, at) => `refs/pull/${at}/head`),
    oids,
  );
}

describe('a repository of many refs', () => {
  it('can be mirrored, up to as many as may be asked for at once', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    const most = MAX_WANTS - 1;
    await refsOfTheirOwn(upstream, most);
    const person = bed.person();
    const mirror = await person.clone(upstream.url, '--mirror');
    expect((await mirror.git('for-each-ref', '--format=%(refname)')).split('\n')).toHaveLength(most + 1);
    // Now it names what it has.
    await upstream.grow();
    await mirror.git('fetch', '--quiet');
    await refsOfTheirOwn(upstream, most + 10);
    const cloning = ['clone', '--quiet', '--mirror', upstream.url, 'too-many'];
    const { code, stderr } = await person.git(person.home, cloning);
    expect(code).toBe(128);
    expect(stderr).toContain(
      'remote error: You ask for more than 32768 branches, tags and other refs at once. ' +
        'Fetch some of them at a time, beginning with: git clone --single-branch',
    );
    await person.clone(upstream.url, '--single-branch');
  });
});

describe('what upstream has', () => {
  it('can be asked for by its id: an old commit, a tag, what it stands for, a pull request', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ branch: 'side', from: 'main' });
    const tagged = await upstream.tip('side');
    const identity = ['-c', 'user.name=M', '-c', 'user.email=m@x.example'];
    await upstream.git(...identity, 'tag', '-a', '-m', 'v1', 'v1', 'side');
    await upstream.grow({ branch: 'side', from: 'side' });
    const proposed = await upstream.tip('side');
    await upstream.git('update-ref', 'refs/pull/7/head', proposed);
    await upstream.git('update-ref', '-d', 'refs/heads/side');
    const old = await upstream.git('rev-parse', 'main~1');
    const tag = await upstream.git('rev-parse', 'v1');
    const clone = await bed.person().clone(upstream.url, '--depth=1', '--no-tags', '--single-branch');
    for (const id of [old, tag, tagged, proposed, 'refs/pull/7/head']) {
      await clone.git('fetch', '--quiet', '--depth=1', 'origin', id);
    }
  });

  it.each([0, 2] as const)(
    'can be asked for, and be where a shallow clone ends, in version %i if only a tag reaches it',
    async (version) => {
      const upstream = await bed.createUpstream();
      for (const from of ['main', 'side', 'side']) await upstream.grow({ branch: 'side', from });
      const identity = ['-c', 'user.name=M', '-c', 'user.email=m@x.example'];
      await upstream.git(...identity, 'tag', '-a', '-m', 'v1', 'v1', 'side');
      await upstream.git('update-ref', '-d', 'refs/heads/side');
      await upstream.git('tag', 'light', 'main~1');
      const protocol = ['-c', `protocol.version=${version}`];
      const clone = await bed.person().clone(upstream.url, ...protocol, '--depth=2', '--branch=v1');
      await upstream.grow();
      await clone.git(...protocol, 'fetch', '--quiet', 'origin', 'main');
      await clone.git(...protocol, 'fetch', '--quiet', '--unshallow', 'origin', 'tag', 'v1');
      expect(await clone.git('rev-parse', '--is-shallow-repository')).toBe('false');
      const other = await bed.person().clone(upstream.url, ...protocol, '--no-tags');
      await other.git(...protocol, 'fetch', '--quiet', 'origin', await upstream.git('rev-parse', 'v1~1'));
    },
  );

  it.each([0, 2] as const)(
    'costs a clone in version %i a request for each of its own, and a fetch three more',
    async (version) => {
      const upstream = await bed.createUpstream();
      const protocol = ['-c', `protocol.version=${version}`];
      const clone = await bed.person().clone(upstream.url, ...protocol);
      const discoveries = () => bed.host.requestsFor(upstream, 'GET', /\/info\/refs/).length;
      expect(discoveries()).toBe(1);
      // Of version 0, the client's own list of refs is no request of this kind.
      const listed = version === 0 ? [] : ['ls-refs'];
      const fetched = version === 0 ? 'v0' : 'fetch';
      expect(commandsSince(upstream, 0)).toEqual([...listed, fetched]);
      await upstream.grow();
      const before = fetchesOf(upstream).length;
      await clone.git(...protocol, 'fetch');
      // The service's list and history, with which it compares the haves, and what the client asks
      // for.
      expect(commandsSince(upstream, before)).toEqual([...listed, 'ls-refs', 'fetch', fetched]);
      expect(discoveries()).toBe(3);
    },
  );

  it.each([0, 2] as const)('costs a shallow clone in version %i no more when it fetches', async (version) => {
    const upstream = await bed.createUpstream({ commits: 3 });
    const protocol = ['-c', `protocol.version=${version}`];
    const clone = await bed.person().clone(upstream.url, ...protocol, '--depth=1');
    await upstream.grow();
    const before = fetchesOf(upstream).length;
    await clone.git(...protocol, 'fetch');
    const asked = version === 0 ? ['ls-refs', 'fetch', 'v0'] : ['ls-refs', 'ls-refs', 'fetch', 'fetch'];
    expect(commandsSince(upstream, before)).toEqual(asked);
  });
});

it.each([0, 2] as const)(
  'a shallow clone that ends at a commit of one’s own is told so in version %i, and the host learns nothing',
  async (version) => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    const work = await person.clone(upstream.url);
    await work.commit();
    const own = await work.commit();
    const shallow = await person.clone(`file://${work.path}`, '--depth=1', '--no-local');
    await upstream.grow();
    const fetched = await shallow.tryGit('-c', `protocol.version=${version}`, 'fetch', upstream.url, 'main');
    expect(fetched.code).toBe(128);
    expect(fetched.stderr).toContain(
      'remote error: Your shallow clone ends at commits that the service cannot find upstream. Clone again. ' +
        'If you have only just cloned, fetch again in a minute.',
    );
    expect(fetchesOf(upstream).filter(({ body }) => body.includes(own))).toEqual([]);
  },
);
