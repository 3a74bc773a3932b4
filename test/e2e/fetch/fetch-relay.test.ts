/**
 * The relay of fetches, request by request: what goes to the host, what comes back, and what it
 * says of failures.
 */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Person } from '../support/person.ts';
import { useTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { fetchBody, send, type WireAnswer } from '../support/wire.ts';
import { pkt, readPkts } from '../../support/pkt-line.ts';

const REQUEST_TYPE = 'application/x-git-upload-pack-request';
const RESULT_TYPE = 'application/x-git-upload-pack-result';
const bed = useTestBed();

const discover = (upstream: Pick<Upstream, 'url'>, person: Person, headers: Record<string, string> = {}) =>
  send(`${upstream.url}/info/refs?service=git-upload-pack`, { person, headers });

const ask = (
  upstream: Pick<Upstream, 'url'>,
  person: Person,
  body: Uint8Array | readonly Uint8Array[],
  headers: Record<string, string> = {},
) =>
  send(`${upstream.url}/git-upload-pack`, {
    method: 'POST',
    person,
    body,
    headers: { 'Content-Type': REQUEST_TYPE, ...headers },
  });

function expectPack({ status, headers, body }: WireAnswer): void {
  expect(status).toBe(200);
  expect(headers['content-type']).toBe(RESULT_TYPE);
  const data = readPkts(body).find((packet) => packet?.[0] === 1);
  expect(data?.toString('latin1', 1, 5)).toBe('PACK');
}

const toHost = ({ fullName }: Upstream) =>
  bed.host.requests.filter(({ path }) => path.startsWith(`/${fullName}.git/`));

describe('discovery for a fetch', () => {
  it.each([
    ['a private repository', true],
    ['a repository that does not exist', false],
  ])('of %s is answered with a sentence, and nobody is asked for a password', async (_, isPrivate) => {
    const { url } = isPrivate
      ? await bed.createUpstream({ private: true })
      : { url: bed.remoteUrl('octo', 'nothing-here') };
    const person = bed.person();
    const name = new URL(url).pathname.replace('/v1/gh/', '');
    const sentence = `${name} does not exist, or is not public.`;
    const { status, headers, body } = await discover({ url }, person);
    expect([status, body.toString()]).toEqual([404, `${sentence}\n`]);
    expect(headers['content-type']).toMatch(/^text\/plain/);
    const posted = await ask({ url }, person, pkt(null));
    expect([posted.status, posted.body.toString()]).toEqual([404, `${sentence}\n`]);

    const run = await person.git(person.home, ['clone', url, 'nothing']);
    expect(run.code).toBe(128);
    expect(run.stderr).toContain(`remote: ${sentence}`);
    expect(run.stderr).toMatch(/repository '.*' not found/);
    expect(person.wasAskedForPassword).toBe(false);
  });

  it.each([
    ['git/2.50.0', 'None'],
    ['JGit/6.10.0.202406032230-r', 'None'],
    ['git/2.0 (libgit2 1.9.7)', undefined],
    ['GIT/1.0 (LibGit2 0.28.1)', undefined],
  ])('has the header WWW-Authenticate for %s: %s', async (userAgent, expected) => {
    const upstream = await bed.createUpstream();
    const { status, headers } = await discover(upstream, bed.person(), { 'User-Agent': userAgent });
    expect([status, headers['www-authenticate']]).toEqual([200, expected]);
  });

  it('of a renamed repository leads a real client to its new name, for clone and for fetch', async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    const clone = await person.clone(upstream.url);
    const renamed = bed.renameUpstream(upstream, `${upstream.name}-now`);
    const { status, headers } = await discover(upstream, person);
    expect(status).toBe(301);
    expect(headers['location']).toBe(`/v1/gh/${renamed.fullName}/info/refs?service=git-upload-pack`);
    await renamed.grow();
    await clone.git('fetch', '--quiet');
    expect(await clone.git('rev-parse', 'origin/main')).toBe(await renamed.tip());
    const second = await person.clone(upstream.url);
    expect(await second.git('rev-parse', 'HEAD')).toBe(await renamed.tip());
  });
});

describe('upload-pack', () => {
  it.each<
    [
      what: string,
      body: (plain: Buffer) => Uint8Array | readonly Uint8Array[],
      headers: Record<string, string>,
    ]
  >([
    ['byte by byte', (plain) => [...plain].map((byte) => Uint8Array.of(byte)), {}],
    [
      'compressed, with its length',
      (plain) => gzipSync(plain),
      { 'Content-Encoding': 'gzip', 'Content-Length': 'length' },
    ],
  ])('takes a body %s', async (_, encode, headers) => {
    const upstream = await bed.createUpstream();
    const body = encode(await fetchBody(upstream));
    const length = body instanceof Uint8Array ? body.byteLength : 0;
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value === 'length' ? String(length) : value]),
    );
    expectPack(await ask(upstream, bed.person(), body, sent));
  });

  it('tells a client of another object format so', async () => {
    const upstream = await bed.createUpstream();
    const body = Buffer.from('0014command=ls-refs\n0019object-format=sha256\n0000');
    const answer = await ask(upstream, bed.person(), body, { 'Git-Protocol': 'version=2' });
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toBe('003aERR Mismatched object format: only sha1 is supported.\n');
  });

  /**
   * Byte for byte what Git 2.30.2 sends, as 2.28 to 2.31 do: `object-format` comes first, and not
   * every line has an end.
   */
  it.each<[what: string, lines: (tip: string) => string, answer: RegExp]>([
    [
      'the list of refs',
      () =>
        '0014command=ls-refs\n0014agent=git/2.30.20016object-format=sha10001' +
        '0009peel\n000csymrefs\n0014ref-prefix HEAD\n001bref-prefix refs/heads/\n001aref-prefix refs/tags/\n0000',
      /^[0-9a-f]{4}[0-9a-f]{40} HEAD symref-target:refs\/heads\/main\n/,
    ],
    [
      'a clone',
      (tip) =>
        '0016object-format=sha10011command=fetch0014agent=git/2.30.20001' +
        `000dthin-pack000fno-progress000dofs-delta0032want ${tip}\n0032want ${tip}\n0009done\n0000`,
      /^000dpackfile\n[^]*PACK/,
    ],
  ])('takes from Git 2.30 %s', async (_, lines, expected) => {
    const upstream = await bed.createUpstream();
    const body = Buffer.from(lines(await upstream.tip()));
    const answer = await ask(upstream, bed.person(), body, { 'Git-Protocol': 'version=2' });
    expect(answer.status).toBe(200);
    expect(answer.body.toString('latin1')).toMatch(expected);
  });

  it('of another content type is refused with 415, and never asked for', async () => {
    const upstream = await bed.createUpstream();
    const headers = { 'Content-Type': 'text/plain' };
    expect((await ask(upstream, bed.person(), await fetchBody(upstream), headers)).status).toBe(415);
    expect(toHost(upstream)).toEqual([]);
  });
});

describe('what the host sees of a fetch', () => {
  const ALLOWED = new Set([
    'host',
    'user-agent',
    'accept',
    'accept-encoding',
    'content-type',
    'content-length',
    'content-encoding',
    'transfer-encoding',
    'git-protocol',
    'connection',
  ]);

  it('are a few headers of the service’s own, and neither the client’s nor the bot’s token', async () => {
    const upstream = await bed.createUpstream();
    await bed.person().clone(upstream.url);
    const requests = toHost(upstream);
    expect(requests.length).toBeGreaterThanOrEqual(2);
    for (const { headers } of requests) {
      expect(Object.keys(headers).filter((name) => !ALLOWED.has(name))).toEqual([]);
      expect(headers['user-agent']).toBe('git/2.0');
    }
  });

  it('is no credential that a client sends, and nothing behind the service in its query', async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    const headers = { Authorization: `Basic ${Buffer.from(`${person.word}:x`).toString('base64')}` };
    await send(`${upstream.url}/info/refs?service=git-upload-pack&from=${person.word}`, { person, headers });
    await ask(upstream, person, await fetchBody(upstream), headers);
    for (const { headers: seen } of toHost(upstream)) expect(seen.authorization).toBeUndefined();
    expect(toHost(upstream)[0]?.path).toBe(`/${upstream.fullName}.git/info/refs?service=git-upload-pack`);
  });

  it('is a Git-Protocol header only if it is one', async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    for (const value of [`version=2; by ${person.word}`, 'x'.repeat(200), 'version=2 '])
      await discover(upstream, person, { 'Git-Protocol': value });
    expect(toHost(upstream).map(({ headers }) => headers['git-protocol'])).toEqual([
      undefined,
      undefined,
      'version=2',
    ]);
  });
});
