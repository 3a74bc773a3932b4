/** Requests to the host: who is named in them, how long they may take, and what answers mean. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ACCOUNT } from '../support/back-off.ts';
import { HOST_TIMEOUT_MS, SmartHttp } from '../../../src/host/git/smart-http.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const TOKEN = 'ghp_secret';

/** Requests that the stubbed host has received. */
const requests: { url: string; init: RequestInit }[] = [];

let respond: (signal: AbortSignal) => Response | Promise<Response>;

function hostAnswers(how: typeof respond): void {
  respond = how;
}

const http = new SmartHttp(
  'https://host.test',
  { token: TOKEN, ...ACCOUNT },
  {
    async fetch(url, init = {}) {
      requests.push({ url: url as string, init });
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
  requests.length = 0;
});

describe('SmartHttp', () => {
  it('asks as git/2.0, with the headers that it is given and no others, and follows no redirect', async () => {
    hostAnswers(() => new Response('ok'));
    const headers = { 'Git-Protocol': 'version=2' };
    const request = { method: 'GET', headers, body: null };
    await http.fetch(REPOSITORY, 'info/refs?service=git-upload-pack', request);
    expect(requests).toMatchObject([
      {
        url: 'https://host.test/octo/hello.git/info/refs?service=git-upload-pack',
        init: { redirect: 'manual', headers: { 'Git-Protocol': 'version=2', 'User-Agent': 'git/2.0' } },
      },
    ]);
    expect(Object.keys(requests[0]?.init.headers ?? {})).toHaveLength(2);
  });

  it('begins as Git does before it reads, and keeps nothing of the answer', async () => {
    let isRead = false;
    const pull = (controller: ReadableByteStreamController) => {
      controller.enqueue(new TextEncoder().encode('000eversion 2\n0000'));
      controller.close();
      isRead = true;
    };
    hostAnswers(() => new Response(new ReadableStream({ type: 'bytes', pull })));
    await http.discover(REPOSITORY, 'public');
    expect(requests.map(({ url, init: { method, headers } }) => [method, url, headers])).toEqual([
      [
        'GET',
        'https://host.test/octo/hello.git/info/refs?service=git-upload-pack',
        { 'Git-Protocol': 'version=2', 'User-Agent': 'git/2.0' },
      ],
    ]);
    expect(isRead).toBe(true);
  });

  it('shows the token for the bot alone', async () => {
    hostAnswers(() => new Response('ok'));
    await http.post(REPOSITORY, 'git-upload-pack', 'public', new Uint8Array(0));
    await http.post(REPOSITORY, 'git-upload-pack', 'bot', new Uint8Array(0));
    const [asPublic, asBot] = requests.map(({ init }) => init.headers as Record<string, string>);
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

  it('says that a host is unreachable, and nothing of why', async () => {
    hostAnswers(() => Promise.reject(new Error('connect ECONNREFUSED 192.0.2.7')));
    const answer = http.fetch(REPOSITORY, 'info/refs', { method: 'GET', headers: {}, body: null });
    await expect(answer).rejects.toMatchObject({
      code: 'unreachable',
      publicMessage: 'host.test did not answer as expected. Try again later.',
    });
  });
});

/**
 * Asks a host that gives this answer, and says what comes of it.
 * @param webUrl of the host.
 */
async function asked(
  answer: ConstructorParameters<typeof Response>[1] & { readonly body?: string },
  { webUrl = 'https://host.test', path = 'git-upload-pack' } = {},
): Promise<unknown> {
  const { body = null, ...init } = answer;
  const host = new SmartHttp(webUrl, null, { fetch: async () => new Response(body, init) });
  return host
    .fetch(REPOSITORY, path, { method: 'POST', headers: {}, body: null })
    .catch((error: unknown) => error);
}

describe('a repository that was renamed', () => {
  it.each([
    ['/octo/new.git/info/refs?service=git-upload-pack'],
    ['https://host.test/octo/new/info/refs'],
    ['https://HOST.test:443/octo/new.git/git-upload-pack'],
    ['/x/../octo/new.git/git-receive-pack'],
    ['../../octo/new.git/git-upload-pack'],
  ])('has its name in %s', async (location) => {
    for (const status of [301, 302, 303, 307, 308])
      expect(await asked({ status, headers: { location } })).toMatchObject({
        code: 'moved',
        to: { owner: 'octo', name: 'new' },
        failure: { status },
      });
  });

  it('is below the path of its host, if that has one', async () => {
    const webUrl = 'https://host.test/git';
    const to = (location: string) => asked({ status: 301, headers: { location } }, { webUrl });
    expect(await to('/git/octo/new.git/info/refs')).toMatchObject({ to: { owner: 'octo', name: 'new' } });
    for (const location of [
      '/octo/new.git/info/refs',
      '/other/octo/new.git/info/refs',
      '/gitocto/new/x/info',
    ])
      expect(await to(location)).toMatchObject({ code: 'refused' });
  });

  it.each([
    'https://elsewhere.test/octo/new.git/info/refs',
    'http://host.test/octo/new.git/info/refs',
    '//elsewhere.test/octo/new.git/info/refs',
    'https://api.host.test/octo/new.git/info/refs',
    'https://ada@host.test/octo/new.git/info/refs',
    '/octo/new',
    '/octo/new.git/objects/info/packs',
    '/octo/a%2fb/info/refs',
    '/octo/..%2f/info/refs',
    '/octo/hello.git/git-upload-pack',
    '/octo/hello/git-upload-pack',
    '/login',
    '',
  ])('is none in %j', async (location) => {
    for (const status of [301, 307])
      expect(await asked({ status, headers: { location } })).toMatchObject({
        name: 'HostError',
        code: 'refused',
        failure: { status, effect: 'none' },
      });
  });
});

const typed = (type: string, path: string) =>
  asked({ status: 200, headers: { 'content-type': type }, body: 'x' }, { path });

describe('a success', () => {
  const PATHS = [
    'git-upload-pack',
    'git-receive-pack',
    'info/refs?service=git-upload-pack',
    'info/refs?service=git-receive-pack',
  ];

  it.each(PATHS)(
    'of %s is for its reader to understand, whatever is in it, unless it is a page',
    async (path) => {
      const own = `application/x-${path.replace('info/refs?service=', '')}-result`;
      for (const type of [own, `${own}; charset=utf-8`, 'text/plain', 'application/x-text/html', ''])
        expect(await typed(type, path)).toBeInstanceOf(Response);
      expect(await asked({ status: 200 }, { path })).toBeInstanceOf(Response);
    },
  );

  it.each(['text/html', 'Text/HTML; charset=utf-8', ' text/html ;x', 'application/xhtml+xml'])(
    'of the type %s is a page, and whether a push has arrived is not known then',
    async (type) => {
      for (const path of PATHS)
        expect(await typed(type, path)).toMatchObject({
          code: 'unreachable',
          publicMessage:
            'The code host shows a page for browsers instead of Git. Try again in a few minutes.',
          failure: { status: 200, effect: path === 'git-receive-pack' ? 'unknown' : 'none', lasts: 'moment' },
        });
    },
  );

  it('only is looked at: a refusal may be a page', async () => {
    const answer = await asked({ status: 503, headers: { 'content-type': 'text/html' }, body: '<html>' });
    expect((answer as Response).status).toBe(503);
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
    expect(requests[0]?.init.signal?.aborted).toBe(false);
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
