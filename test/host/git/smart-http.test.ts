/** Requests to the host: who is named in them, how long they may take, and what answers mean. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ACCOUNT } from '../support/back-off.ts';
import { HOST_TIMEOUT_MS, movedRepository, SmartHttp } from '../../../src/host/git/smart-http.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const TOKEN = 'ghp_secret';

/** What the stubbed host was asked. */
const asked: { url: string; init: RequestInit }[] = [];

let respond: (signal: AbortSignal) => Response | Promise<Response>;

function hostAnswers(how: typeof respond): void {
  respond = how;
}

const http = new SmartHttp(
  'https://host.test',
  { token: TOKEN, ...ACCOUNT },
  {
    async fetch(url, init = {}) {
      asked.push({ url: url as string, init });
      return respond(init.signal as AbortSignal);
    },
  },
);

/** A host that says nothing until the request is given up. */
const silence = (signal: AbortSignal) =>
  new Promise<Response>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });

afterEach(() => {
  asked.length = 0;
});

describe('SmartHttp', () => {
  it('asks as git/2.0, with the headers that it is given and no others, and follows no redirect', async () => {
    hostAnswers(() => new Response('ok'));
    const headers = { 'Git-Protocol': 'version=2' };
    const request = { method: 'GET', headers, body: null };
    await http.fetch(REPOSITORY, 'info/refs?service=git-upload-pack', request);
    expect(asked).toMatchObject([
      {
        url: 'https://host.test/octo/hello.git/info/refs?service=git-upload-pack',
        init: { redirect: 'manual', headers: { 'Git-Protocol': 'version=2', 'User-Agent': 'git/2.0' } },
      },
    ]);
    expect(Object.keys(asked[0]?.init.headers ?? {})).toHaveLength(2);
  });

  it('shows the token for the bot alone', async () => {
    hostAnswers(() => new Response('ok'));
    await http.post(REPOSITORY, 'git-upload-pack', 'public', new Uint8Array(0));
    await http.post(REPOSITORY, 'git-upload-pack', 'bot', new Uint8Array(0));
    const [asPublic, asBot] = asked.map(({ init }) => init.headers as Record<string, string>);
    expect(JSON.stringify(asPublic)).not.toMatch(/Authorization|Basic/i);
    expect(asBot?.['Authorization']).toBe(`Basic ${btoa(`x-access-token:${TOKEN}`)}`);
  });

  it.each([
    [429, 'rate-limited'],
    [500, 'unreachable'],
    [503, 'unreachable'],
    [401, 'missing'],
    [403, 'missing'],
    [404, 'missing'],
    [304, 'moved'],
    [413, 'refused'],
  ] as const)('takes status %i for %s', async (status, code) => {
    hostAnswers(() => new Response(null, { status }));
    const answer = http.post(REPOSITORY, 'git-upload-pack', 'public', new Uint8Array(0));
    await expect(answer).rejects.toMatchObject({ name: 'HostError', code });
  });

  it('says where a repository has moved', async () => {
    const location = 'https://host.test/octo/renamed.git/git-upload-pack';
    hostAnswers(() => new Response(null, { status: 301, headers: { location } }));
    const answer = http.post(REPOSITORY, 'git-upload-pack', 'public', new Uint8Array(0));
    await expect(answer).rejects.toMatchObject({ code: 'moved', to: { owner: 'octo', name: 'renamed' } });
  });

  it('says that a host is unreachable, and nothing of why', async () => {
    hostAnswers(() => Promise.reject(new Error('connect ECONNREFUSED 192.0.2.7')));
    const answer = http.fetch(REPOSITORY, 'info/refs', { method: 'GET', headers: {}, body: null });
    await expect(answer).rejects.toMatchObject({
      code: 'unreachable',
      publicMessage: 'host.test did not answer as expected. Try again later.',
    });
  });
});

describe('a host that is silent', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is given up after 30 seconds, and not before', async () => {
    expect(HOST_TIMEOUT_MS).toBe(30_000);
    hostAnswers(silence);
    let isOver = false;
    const answer = http
      .fetch(REPOSITORY, 'git-upload-pack', { method: 'POST', headers: {}, body: null })
      .catch((error: unknown) => error)
      .finally(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(29_999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toMatchObject({ name: 'HostError', code: 'unreachable' });
  });

  it('may take as long as it needs once its answer has begun', async () => {
    hostAnswers(() => new Response('a long answer'));
    const response = await http.fetch(REPOSITORY, 'git-upload-pack', {
      method: 'POST',
      headers: {},
      body: null,
    });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(await response.text()).toBe('a long answer');
    expect(asked[0]?.init.signal?.aborted).toBe(false);
  });
});

/** The length of an answer that brings so many bytes every 20 seconds, five times. */
async function readSlowly(bytes: number, limits: Parameters<SmartHttp['read']>[1]): Promise<unknown> {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const reading = http
    .read(new Response(readable), limits, async (reader) => {
      let length = 0;
      for (let chunk = await reader.nextChunk(); chunk !== null; chunk = await reader.nextChunk())
        length += chunk.byteLength;
      return length;
    })
    .catch((error: unknown) => error);
  for (let turn = 0; turn < 5; turn++) {
    await vi.advanceTimersByTimeAsync(20_000);
    await writer.write(new Uint8Array(bytes)).catch(() => {});
  }
  await writer.close().catch(() => {});
  return reading;
}

describe('an answer that comes slowly', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is read to its end, although all of it takes longer than one wait may', async () => {
    expect(await readSlowly(21_000, { maxBytes: 1_000_000 })).toBe(105_000);
  });

  it('is given up where it is hardly more than nothing', async () => {
    expect(await readSlowly(5, { maxBytes: 1_000_000 })).toMatchObject({
      name: 'HostError',
      code: 'unreachable',
    });
  });

  it('is read even then, if it is the report of a push', async () => {
    expect(await readSlowly(5, { maxBytes: 1_000_000, pace: 'any' })).toBe(25);
  });
});

const redirect = (location: string, status = 301) =>
  movedRepository(new Response(null, { status, headers: { location } }));

describe('movedRepository', () => {
  it.each([
    ['https://host.test/octo/new.git/info/refs?service=git-upload-pack', { owner: 'octo', name: 'new' }],
    ['https://host.test/octo/new/info/refs', { owner: 'octo', name: 'new' }],
    ['/octo/new.git/git-upload-pack', { owner: 'octo', name: 'new' }],
    ['https://other.test/octo/new.git/git-receive-pack', { owner: 'octo', name: 'new' }],
    ['https://host.test/login', null],
    ['https://host.test/octo/../info/refs', null],
    ['https://host.test/octo/a%2fb/info/refs', null],
    ['', null],
  ])('reads %s', (location, expected) => {
    expect(redirect(location)).toEqual(expected);
  });

  it('reads redirects only', () => {
    expect(redirect('/octo/new.git/info/refs', 200)).toBeNull();
    expect(redirect('/octo/new.git/info/refs', 404)).toBeNull();
    expect(redirect('/octo/new.git/info/refs', 308)).toEqual({ owner: 'octo', name: 'new' });
  });
});
