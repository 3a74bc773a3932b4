/**
 * The tripwire under all end-to-end tests fires: each kind of leak, on each way to the host,
 * planted on purpose.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Clone, Person } from '../support/person.ts';
import { PERSON_ZONE } from '../support/person.ts';
import { RawConnection } from '../support/raw-http.ts';
import { TestBed, useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';

const bed = useOwnTestBed();

/** A REST call that a service with a leak could make. */
async function tellHost(text: string, headers: Record<string, string> = {}): Promise<void> {
  const init = { method: 'POST', headers, body: JSON.stringify({ title: text }) };
  await (await fetch(`${bed.sandbox.apiUrl}/repos/octo/any/issues`, init)).arrayBuffer();
}

async function leakKinds(): Promise<string[]> {
  const leaks = await bed.tripwire.check();
  // The requests of these tests have heads of their own.
  const kinds = leaks.map(({ secret }) => secret.kind).filter((kind) => kind !== 'head');
  return [...new Set(kinds)].toSorted();
}

/** A clone with one commit, and a fork of the bot to leak it to. */
async function leakyPush(): Promise<{ person: Person; clone: Clone; upstream: Upstream; forkUrl: string }> {
  const upstream = await bed.createUpstream();
  const person = bed.person();
  const clone = await person.clone(`${bed.sandbox.url}/${upstream.fullName}.git`);
  await bed.host.call('POST', `/repos/${upstream.fullName}/forks`, {});
  await expect.poll(() => bed.host.forkPath(upstream)).not.toBeNull();
  await expect
    .poll(() => bed.host.call<unknown[]>('GET', `/repos/${bed.sandbox.botLogin}/${upstream.name}/branches`))
    .toHaveLength(1);
  const url = new URL(`${bed.sandbox.url}/${bed.sandbox.botLogin}/${upstream.name}.git`);
  url.username = 'x-access-token';
  url.password = bed.sandbox.botToken;
  // The clone itself went straight to the host.
  await bed.tripwire.check();
  return { person, clone, upstream, forkUrl: url.href };
}

describe('the tripwire', () => {
  it.each<[string, (person: Person) => string]>([
    ['name', (person) => person.authorName],
    ['email', (person) => person.committerEmail],
    ['zone', () => `1700000000 ${PERSON_ZONE}`],
    ['user-agent', (person) => person.userAgent],
    ['address', (person) => person.address],
    ['header', (person) => person.headers['X-Odd-Header'] as string],
    ['word', (person) => Buffer.from(`x ${person.home} y`).toString('base64')],
    ['signature', () => '-----BEGIN PGP SIGNATURE-----'],
  ])('finds a leaked %s in a REST body', async (kind, leak) => {
    await tellHost(`Fix by ${leak(bed.person())}`);
    expect(await leakKinds()).toContain(kind);
  });

  it('finds the id of an original commit, written out, abbreviated or as raw bytes', async () => {
    const person = bed.person();
    const clone = await person.init('http://127.0.0.1:1/');
    const oid = await clone.commit();
    for (const text of [oid, `from ${oid.slice(0, 20)}.`]) {
      await tellHost(text);
      expect(await leakKinds()).toEqual(['id']);
    }
    const body = Buffer.concat([randomBytes(7), Buffer.from(oid, 'hex'), randomBytes(7)]);
    await (
      await fetch(`${bed.sandbox.url}/octo/any/git-upload-pack`, { method: 'POST', body })
    ).arrayBuffer();
    expect(await leakKinds()).toEqual(['id']);
  });

  it('finds in a verdict what it finds elsewhere, and the first digits of an original id', async () => {
    const person = bed.person();
    const clone = await person.init('http://127.0.0.1:1/');
    const oid = await clone.commit();
    for (const [told, kind] of [
      [`"${oid}"`, 'id'],
      [Buffer.from(oid, 'hex'), 'id'],
      [`\0a${oid.slice(0, 7)}`, 'id'],
      [`by ${person.committerName}`, 'name'],
      [await clone.git('log', '-1', '--format=%ct'), 'date'],
      [PERSON_ZONE, 'zone'],
    ] as const) {
      bed.verdicts.push(Buffer.from(told));
      expect(await leakKinds()).toContain(kind);
    }
    bed.verdicts.push(Buffer.from(`"${'a'.repeat(40)}" and ${oid.slice(0, 6)}`));
    expect(await leakKinds()).toEqual([]);
  });

  it('finds the date of an original commit, as a number and as text', async () => {
    const clone = await bed.person().init('http://127.0.0.1:1/');
    await clone.commit();
    const seconds = Number(await clone.git('log', '-1', '--format=%at'));
    for (const text of [String(seconds), new Date(seconds * 1000).toISOString()]) {
      await tellHost(`written at ${text}`);
      expect(await leakKinds()).toEqual(['date']);
    }
  });

  it('finds a zone in a long text, and takes none for one that stands in noise by chance', async () => {
    const url = `${bed.sandbox.url}/octo/any/git-upload-pack`;
    for (const [around, kinds] of [
      ['words\n', ['zone']],
      [Uint8Array.of(0xb7), []],
    ] as const) {
      const body = Buffer.alloc(100_000, around);
      body.write(` ${PERSON_ZONE} `, 50_000);
      await (await fetch(url, { method: 'POST', body })).arrayBuffer();
      expect(await leakKinds()).toEqual(kinds);
    }
  });

  it('finds a leak in a header, and in a path', async () => {
    const person = bed.person();
    await tellHost('harmless', { 'x-forwarded-for': person.address });
    expect(await leakKinds()).toEqual(['address']);
    await (await fetch(`${bed.sandbox.url}/${person.word}/fork.git/info/refs`)).arrayBuffer();
    expect(await leakKinds()).toEqual(['word']);
  });

  it('finds a header field that no request has, or not with this value or in this place', async () => {
    const heads = async (): Promise<string[]> =>
      (await bed.tripwire.check()).map(({ secret }) => secret.kind).filter((kind) => kind === 'head');
    const url = new URL(`${bed.sandbox.url}/octo/any.git/info/refs?service=git-upload-pack`);
    const usual = [`Host: ${url.host}`, 'User-Agent: git/2.0', 'Accept-Encoding: gzip'];
    for (const [lines, found] of [
      [usual, []],
      [[...usual, 'CF-Worker: veil.example'], ['head']],
      [usual.with(1, 'User-Agent: git/2.50.0'), ['head']],
      [usual.with(1, 'user-agent: git/2.0'), ['head']],
      [usual.toReversed(), ['head']],
    ] as const) {
      const connection = await RawConnection.open(bed.sandbox.url);
      connection.send([`GET ${url.pathname}${url.search} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
      await connection.answer();
      connection.vanish();
      expect(await heads()).toEqual(found);
    }
  });

  it('finds a leak in a notification', async () => {
    const person = bed.person();
    await (
      await fetch(`${bed.sandbox.notifyUrl}/anon-pr-1`, { method: 'POST', body: person.address })
    ).arrayBuffer();
    expect(await leakKinds()).toEqual(['address']);
  });

  it('finds an original commit in a pack, and among the objects of the fork', async () => {
    const { clone, forkUrl } = await leakyPush();
    await clone.commit();
    expect((await clone.push(forkUrl, 'HEAD:refs/heads/anon-1')).code).toBe(0);
    const leaks = await bed.tripwire.check();
    const commit = leaks
      .filter(({ where }) => /: pack: commit /.test(where))
      .map(({ secret }) => secret.kind);
    expect(new Set(commit)).toEqual(new Set(['name', 'email', 'zone', 'date', 'word']));
    expect(leaks.some(({ where, secret }) => where.startsWith('/') && secret.kind === 'name')).toBe(true);
    expect(new Set(leaks.map(({ secret }) => secret.kind))).toContain('id');
    expect(new Set(leaks.map(({ secret }) => secret.kind))).toContain('user-agent');
  });

  it('finds an original commit that no branch reaches', async () => {
    const { clone, forkUrl } = await leakyPush();
    await clone.commit();
    await clone.push(forkUrl, 'HEAD:refs/heads/anon-1');
    await clone.push(forkUrl, ':refs/heads/anon-1');
    const leaks = await bed.tripwire.check();
    expect(leaks.some(({ where, secret }) => where.startsWith('/') && secret.kind === 'email')).toBe(true);
  });

  it('finds an original commit in a pack that the host refused, or did not get whole', async () => {
    const { clone, forkUrl } = await leakyPush();
    await clone.commit({ files: { 'big.bin': randomBytes(300_000) } });
    const path = /git-receive-pack$/;
    bed.sandbox.faults.inject({ method: 'POST', path, answer: { status: 500 } });
    expect((await clone.push(forkUrl, 'HEAD:refs/heads/anon-1')).code).not.toBe(0);
    expect(await leakKinds()).toContain('name');
    // Twice: a client whose connection breaks tries once more.
    bed.sandbox.faults.inject({
      method: 'POST',
      path,
      times: 2,
      cut: { during: 'request', afterBytes: 100_000 },
    });
    await clone.git('commit', '--quiet', '--amend', '--message=Once more');
    expect((await clone.push(forkUrl, 'HEAD:refs/heads/anon-1')).code).not.toBe(0);
    expect(await leakKinds()).toContain('name');
  });

  it('finds commits that are stored as deltas, in thin packs too', async () => {
    const { clone, forkUrl } = await leakyPush();
    const message = `${'A long message that makes a delta worth it. '.repeat(30)}\n`;
    for (let i = 0; i < 3; i++) await clone.commit({ message });
    await clone.git('repack', '-adfq', '--depth=50');
    expect((await clone.push('--thin', forkUrl, 'HEAD:refs/heads/anon-1')).code).toBe(0);
    const leaks = await bed.tripwire.check();
    const commits = leaks.flatMap(({ where }) => /: pack: commit (\w+)/.exec(where)?.[1] ?? []);
    expect(new Set(commits).size).toBe(3);
  });

  it('fails where a leak that is tolerated does not happen', async () => {
    bed.tripwire.tolerate('nothing', () => true);
    await expect(bed.tripwire.check()).rejects.toThrow('tolerated, but it did not happen');
  });

  it('lets a whole test fail where the service uses the runtime’s fetch, or logs a secret', async () => {
    // The service logs these words.
    const password = 'panic mode was set';
    const env = { OUTGOING_FETCH_HOSTS: '127.0.0.1', PANIC_PASSWORD: password };
    const fetching = await TestBed.start({ env });
    try {
      const { owner, name } = await fetching.createUpstream();
      const answer = await fetch(`${fetching.remoteUrl(owner, name)}/info/refs?service=git-upload-pack`);
      expect(answer.status).toBe(500);
      // The runtime tells it beside the answer.
      await expect.poll(() => fetching.fetches).toHaveLength(1);
      await expect(fetching.verify()).rejects.toThrow(/the runtime's fetch was used: GET .*info\/refs/);
      const body = JSON.stringify({ password, active: false });
      const headers = { 'Content-Type': 'application/json' };
      await fetch(`${fetching.service.url}/admin/panic`, { method: 'POST', headers, body });
      await expect.poll(() => fetching.logLines).toHaveLength(1);
      await expect(fetching.verify()).rejects.toThrow(/the log has a secret of the operator: .*panic mode/);
    } finally {
      await fetching.stop();
    }
  });

  it('lets a whole test fail by itself', async () => {
    await tellHost(bed.person().authorName);
    await expect(bed.verify()).rejects.toThrow(/leaks to the host:\n- (name|word)/);
  });
});
