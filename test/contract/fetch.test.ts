/** Clone and fetch (contract, 4.5, 4.7, 5, 7, 8). */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { useCodeHost } from './support/code-host.ts';
import { Workplace } from './support/git.ts';
import { type Answer, CLIENT_HEADER, expectError, inTurns, send } from './support/http.ts';
import { FLUSH, pkt, readPkts } from './support/pkt.ts';
import type { Recorded } from './support/records.ts';
import { useService } from './support/service.ts';

const REQUEST_TYPE = 'application/x-git-upload-pack-request';
const RESULT_TYPE = 'application/x-git-upload-pack-result';
const ADVERTISEMENT_TYPE = 'application/x-git-upload-pack-advertisement';
const MOST_BYTES = 50_000_000;
const TOO_MANY_BYTES = 50 * 1024 * 1024 + 1;

const host = useCodeHost();
const service = useService(() => (port) => ({
  ...host.variables,
  SERVICE_URL: `http://127.0.0.1:${port}`,
  CLIENT_IP_HEADER: CLIENT_HEADER,
}));
const place = new Workplace();
afterAll(() => place.remove());
afterEach(() => {
  host.intercept = () => null;
});

const remote = (repository = 'octo/hello'): string => `${service.url}/v1/gh/${repository}`;
const discoveryUrl = (repository?: string): string =>
  `${remote(repository)}/info/refs?service=git-upload-pack`;

let tip = '';
beforeAll(async () => {
  await host.createRepository('octo', 'hello', { files: { 'README.md': '# hello\n', 'a/b.txt': 'b\n' } });
  for (const number of [1, 2, 3])
    tip = await host.grow('octo', 'hello', 'main', `Commit ${number}`, { [`${number}.txt`]: `${number}\n` });
});

const post = (body: Uint8Array, headers = {}, repository?: string): Promise<Answer> =>
  send(`${remote(repository)}/git-upload-pack`, {
    body,
    headers: { 'Content-Type': REQUEST_TYPE, ...headers },
  });

/** Protocol version 0. */
const wantTip = (...more: readonly Buffer[]): Buffer =>
  Buffer.concat([pkt(`want ${tip} side-band-64k ofs-delta no-progress\n`), FLUSH, ...more, pkt('done\n')]);

/** Lists what the host was asked while `act` ran. */
async function asked(act: () => Promise<unknown>): Promise<Recorded[]> {
  const before = host.requests.length;
  await act();
  return host.requests.slice(before).filter(({ path }) => /info\/refs|git-upload-pack/.test(path));
}

const lines = (requests: readonly Recorded[]): string[] =>
  requests.map(({ method, path }) => `${method} ${path.replace(/^\/octo\/hello(?:\.git)?/, '')}`);

describe('the real Git', () => {
  it.each([
    [],
    ['--depth=1'],
    ['--shallow-since=2 days ago'],
    ['--depth=2', '--no-single-branch'],
    ['--filter=blob:none'],
    ['--bare'],
  ])('clones: %s %s', async (...options) => {
    const clone = await place.clone(remote(), [], options);
    expect((await clone.must('rev-parse', 'HEAD')).trim()).toBe(tip);
    await clone.must('fsck', '--strict');
  });

  it('clones with protocol version 0, 1 and 2', async () => {
    for (const version of [0, 1, 2]) {
      const clone = await place.clone(remote(), ['-c', `protocol.version=${version}`]);
      expect((await clone.must('rev-parse', 'HEAD')).trim()).toBe(tip);
    }
  });

  it('fetches and pulls what is new, and deepens what is shallow', async () => {
    await host.createRepository('octo', 'moving');
    const clone = await place.clone(remote('octo/moving'));
    const news = await host.grow('octo', 'moving', 'main', 'News', { 'news.txt': 'n\n' });
    await clone.must('fetch', '--quiet');
    expect((await clone.must('rev-parse', 'origin/main')).trim()).toBe(news);
    const more = await host.grow('octo', 'moving', 'main', 'More', { 'more.txt': 'm\n' });
    await clone.must('pull', '--quiet');
    expect((await clone.must('rev-parse', 'HEAD')).trim()).toBe(more);
    const shallow = await place.clone(remote('octo/moving'), [], ['--depth=1']);
    await shallow.must('fetch', '--quiet', '--unshallow');
    expect((await shallow.must('rev-list', '--count', 'HEAD')).trim()).toBe('3');
  });

  it('causes as many requests at the host as if it cloned from there', async () => {
    const options = ['-c', 'protocol.version=2'];
    const direct = await asked(() => place.clone(`${host.url}/octo/hello`, options));
    const relayed = await asked(() => place.clone(remote(), options));
    expect(lines(relayed)).toEqual(lines(direct));
    expect(lines(direct)).toHaveLength(3);
  });
});

describe('discovery of a fetch', () => {
  it('is that of the host, by its type, and wants no password', async () => {
    const answer = await send(discoveryUrl());
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe(ADVERTISEMENT_TYPE);
    expect(answer.headers['www-authenticate']).toBe('None');
    const own = await send(`${host.url}/octo/hello.git/info/refs?service=git-upload-pack`);
    expect(answer.body).toEqual(own.body);
    const capabilities = (readPkts(answer.body)[2] ?? '').toString().split('\0')[1] ?? '';
    for (const name of ['multi_ack', 'thin-pack', 'side-band-64k', 'ofs-delta', 'shallow', 'deepen-since'])
      expect(capabilities.split(' ')).toContain(name);
  });

  it.each([403, 404, 429, 500, 503])('has the status of the host: %i', async (status) => {
    host.intercept = ({ path }) => (path.includes('info/refs') ? { status, text: 'No.\n' } : null);
    const answer = await send(discoveryUrl());
    expect(answer.status).toBe(status);
    expect(answer.headers['www-authenticate']).toBe('None');
  });

  it('is an error if the host cannot be reached', async () => {
    host.intercept = () => 'hang-up';
    const answer = await send(discoveryUrl());
    expectError(answer, 502, `failed to reach ${new URL(host.url).host}`);
  });
});

describe('a fetch', () => {
  it('is relayed: one request, and the answer of the host byte for byte', async () => {
    const bytes = Buffer.concat([pkt('NAK\n'), randomBytes(300_000)]);
    host.intercept = ({ method }) => (method === 'POST' ? { status: 200, bytes } : null);
    const requests = await asked(async () => {
      const answer = await post(wantTip());
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe(RESULT_TYPE);
      expect(answer.body.equals(bytes)).toBe(true);
    });
    expect(lines(requests)).toEqual(['POST /git-upload-pack']);
    expect(requests[0]?.body.toString()).toContain(`want ${tip} `);
  });

  it('is asked for as git/2.0, and tells nothing of the client', async () => {
    const headers = {
      'User-Agent': 'my-own-client/1.0',
      Accept: RESULT_TYPE,
      [CLIENT_HEADER]: '192.0.2.99',
      Cookie: 'who=ada',
      Authorization: 'Basic YWRhOmFkYQ==',
    };
    const [request, ...more] = await asked(() => post(wantTip(), headers));
    expect(more).toEqual([]);
    expect(request?.headers['user-agent']).toBe('git/2.0');
    expect(request?.headers['content-type']).toBe(REQUEST_TYPE);
    const text = JSON.stringify(request?.headers);
    for (const word of ['my-own-client', '192.0.2.99', 'ada', 'YWRh']) expect(text).not.toContain(word);
  });

  it.each([403, 404, 429, 500, 503])('has the status of the host: %i', async (status) => {
    host.intercept = ({ method }) => (method === 'POST' ? { status, text: 'No.\n' } : null);
    expect((await post(wantTip())).status).toBe(status);
  });

  it('is an error if the host cannot be reached', async () => {
    host.intercept = () => 'hang-up';
    expectError(await post(wantTip()), 502, `failed to reach ${new URL(host.url).host}`);
  });

  it('is an error if its body cannot be read', async () => {
    const requests = await asked(async () => {
      const answer = await post(Buffer.from('this is no gzip'), { 'Content-Encoding': 'gzip' });
      expectError(answer, 400, 'failed to read body');
    });
    expect(requests).toEqual([]);
  });

  it.each(['oc to/hello', 'octo/hel~lo', 'oct%C3%B6/hello', 'octo/he%2Fllo', 'octo/he:llo'])(
    'is refused for %s, which is no name of a repository',
    async (repository) => {
      const requests = await asked(async () => {
        const path = repository.replaceAll(' ', '%20');
        for (const answer of [await send(discoveryUrl(path)), await post(wantTip(), {}, path)]) {
          expect(answer.status).toBeGreaterThanOrEqual(400);
          expect(answer.status).toBeLessThan(500);
        }
      });
      expect(requests).toEqual([]);
    },
  );
});

/**
 * Known commits that upstream does not have, until there are so many bytes; the thousandth is the
 * first again.
 */
function haves(bytes: number): Buffer {
  const thousand = Array.from({ length: 1000 }, (_, index) =>
    pkt(`have ${index.toString(16).padStart(40, '0')}\n`),
  );
  const length = bytes - wantTip().length;
  const line = (thousand[0] as Buffer).length;
  return Buffer.alloc(length - (length % line), Buffer.concat(thousand));
}

describe('the body of a fetch', () => {
  it('may have 50 MB, even if it does not say so', async () => {
    const body = wantTip(haves(MOST_BYTES));
    expect(body.length).toBeGreaterThan(MOST_BYTES - 100);
    const answer = await post(body, { 'Transfer-Encoding': 'chunked' });
    expect(answer.status, answer.text.slice(0, 200)).toBe(200);
    expect(answer.body.includes('PACK')).toBe(true);
  });

  it('may not have more', async () => {
    const body = wantTip(haves(TOO_MANY_BYTES + 200));
    expect(body.length).toBeGreaterThan(TOO_MANY_BYTES);
    expectError(await post(body), 413, 'request body too large');
  });
});

describe('fetches of one client', () => {
  it('are not limited: 1,200 within a minute', async () => {
    const [advertisement, result] = [await send(discoveryUrl()), await post(wantTip())];
    host.intercept = ({ path }) => ({
      status: 200,
      bytes: (path.includes('info/refs') ? advertisement : result).body,
    });
    const body = wantTip();
    const statuses = await inTurns(
      1200,
      async (index) =>
        (await (index % 2 === 0 ? send(discoveryUrl(), { from: '192.0.2.1' }) : post(body))).status,
      20,
    );
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });
});
