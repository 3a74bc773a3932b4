/** What a client may ask for by its id: what upstream has, and never its own commits, which the host would learn. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contribute } from './support/contribution.ts';
import { useTestBed } from './support/test-bed.ts';
import type { Person } from './support/person.ts';
import type { Upstream } from './support/upstream.ts';
import { pkt, readPkts, send } from './support/wire.ts';

const bed = useTestBed();

const fetchesOf = (upstream: Upstream) => bed.host.requestsFor(upstream, 'POST', /\/git-upload-pack$/);
const wasAskedFor = (upstream: Upstream, oid: string) =>
  fetchesOf(upstream).some(({ body }) => body.includes(`want ${oid}`));

/** What the host was asked with Git since then, in order. */
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

describe('a commit of one’s own', () => {
  it('that a real client asks for is not upstream’s, by Git’s words, and the host learns nothing', async () => {
    const { upstream, clone } = await contribute(bed);
    const own = await clone.commit();
    await clone.git('switch', '--quiet', '--detach', 'origin/main');
    const fetched = await clone.tryGit('-c', 'protocol.version=2', 'fetch', 'origin', own);
    // Git has it, so it asks for nothing; another clone has not.
    expect(fetched.code).toBe(0);
    const other = await clone.person.clone(upstream.url);
    const refused = await other.tryGit('-c', 'protocol.version=2', 'fetch', 'origin', own);
    expect([refused.code, refused.stderr]).toEqual([
      128,
      expect.stringContaining(`remote error: upload-pack: not our ref ${own}`),
    ]);
    expect(wasAskedFor(upstream, own)).toBe(false);
  });

  it.each([0, 2] as const)(
    'is not upstream’s in version %i either, alone or beside a tip',
    async (version) => {
      const { upstream, clone, person } = await contribute(bed);
      const own = await clone.commit();
      const tip = await upstream.tip();
      for (const lines of [
        [`want ${own}`],
        [`want ${tip} ofs-delta`.slice(0, version === 2 ? 45 : 99), `want ${own}`],
      ]) {
        expect(await want(upstream, person, version, lines)).toBe(`ERR upload-pack: not our ref ${own}\n`);
      }
      expect(wasAskedFor(upstream, own)).toBe(false);
    },
  );

  it('is asked for by a partial clone, which cannot tell it from a file of upstream’s', async () => {
    const { upstream, clone, person } = await contribute(bed);
    const tree = await upstream.git('rev-parse', 'main^{tree}');
    await want(upstream, person, 2, ['filter blob:none', `want ${tree}`]);
    expect(wasAskedFor(upstream, tree)).toBe(true);
    // A clone that names what it has is no partial clone's question.
    const own = await clone.commit();
    const tip = await upstream.tip();
    const refused = await want(upstream, person, 2, ['filter blob:none', `want ${own}`, `have ${tip}`]);
    expect(refused).toBe(`ERR upload-pack: not our ref ${own}\n`);
  });
});

describe('a partial clone by a real client', () => {
  it.each([0, 2] as const)(
    'asks in version %i for a commit that it lacks as for a file, unless the person names it',
    async (version) => {
      const { upstream, clone, person } = await contribute(bed);
      const own = await clone.commit();
      const protocol = ['-c', `protocol.version=${version}`];
      const partial = await person.clone(upstream.url, ...protocol, '--filter=blob:none');
      const notOurs = expect.stringContaining(`remote error: upload-pack: not our ref ${own}`);
      expect(await partial.tryGit(...protocol, 'fetch', 'origin', own)).toMatchObject({ stderr: notOurs });
      expect(wasAskedFor(upstream, own)).toBe(false);
      // Git asks for it by itself, with a filter and no have: the exception of docs/privacy.md. Not for the commit, which
      // every test keeps from the host.
      const lacked = randomBytes(20).toString('hex');
      expect((await partial.tryGit(...protocol, 'show', lacked)).code).toBe(128);
      const asked = fetchesOf(upstream).filter(({ body }) => body.includes(`want ${lacked}`));
      expect(asked).not.toEqual([]);
      for (const { body } of asked) {
        expect(body.includes('filter blob:none\n')).toBe(true);
        expect(body.includes('have ')).toBe(false);
      }
    },
  );
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
      // That says nothing for a commit that upstream lacks.
      const own = await clone.commit();
      const refused = await other.tryGit(...protocol, 'fetch', 'origin', own);
      expect(refused.stderr).toContain(`remote error: upload-pack: not our ref ${own}`);
      expect(wasAskedFor(upstream, own)).toBe(false);
    },
  );

  it.each([0, 2] as const)(
    'costs a clone in version %i one small request more, and a fetch none',
    async (version) => {
      const upstream = await bed.createUpstream();
      const protocol = ['-c', `protocol.version=${version}`];
      const clone = await bed.person().clone(upstream.url, ...protocol);
      // Of version 0, the client's own list of refs is no request of this kind.
      const listed = version === 0 ? [] : ['ls-refs'];
      const fetched = version === 0 ? 'v0' : 'fetch';
      expect(commandsSince(upstream, 0)).toEqual([...listed, 'ls-refs', fetched]);
      await upstream.grow();
      const before = fetchesOf(upstream).length;
      await clone.git(...protocol, 'fetch');
      // The service's list and history, with which it compares the haves, and what the client asks for.
      expect(commandsSince(upstream, before)).toEqual([...listed, 'ls-refs', 'fetch', fetched]);
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
