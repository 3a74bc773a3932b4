/** Anonymous comments (contract, 4.1, 4.2 and section 7). */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { systemClock } from '../../../src/isolate/clock.ts';
import { bodiesMemory, isolateMemory } from '../../../src/isolate/memory-budget.ts';
import { FENCE_IS_OPEN, footerProblem } from '../../../src/text/footer-room.ts';
import { readMarkdown } from '../../../src/text/markdown.ts';
import { FakeThreads } from '../../durable/support/fake-threads.ts';
import { holdClock } from '../../support/clock.ts';
import { runs } from '../../support/runs.ts';
import { type Call, type JsonAnswer, post } from '../support/json-caller.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const { IDENTITIES } = bindings;

let host: FakeThreads;

const say = (payload: unknown, more: Partial<Call> & { on?: string } = {}) => {
  const { on = 'octo/hello/issues/7', ...call } = more;
  return post(`/v1/gh/${on}/comments/anonymous`, { payload, ...call });
};

const error = (status: number, message: unknown) => ({ status, body: { error: message } });

beforeEach(() => {
  host = new FakeThreads();
  holdClock();
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a comment', () => {
  it('may have any words and any token, and they arrive as they are', exhaustive, async () => {
    const text = fc
      .string({ unit: 'grapheme' })
      .filter(
        (some) =>
          some.trim() !== '' &&
          !some.includes('\0') &&
          some.isWellFormed() &&
          footerProblem(readMarkdown(some)) === null,
      );
    const property = fc.asyncProperty(text, text, async (body, token) => {
      const answer = await say({ body, user_token: token });
      expect(answer.status).toBe(200);
      expect(answer.body['user_token']).toBe(token);
      expect(host.comments.at(-1)?.body.startsWith(`${body}\n\n---\nanon-`)).toBe(true);
    });
    await fc.assert(property, runs(20));
  });
});

describe('what the host learns', () => {
  it('is the comment and nothing else of the request', async () => {
    const secret = 'w-marks-the-person';
    await say(
      { body: 'Hi', user_token: secret },
      {
        headers: {
          'CF-Connecting-IP': '192.0.2.99',
          'X-Forwarded-For': `192.0.2.99, ${secret}`,
          'User-Agent': secret,
          Cookie: secret,
          'Accept-Language': secret,
        },
      },
    );
    const sent = JSON.stringify(host.requests.map(({ headers, ...rest }) => [...headers, rest]));
    expect(sent).toContain('Hi');
    expect(sent).not.toContain(secret);
    expect(sent).not.toContain('192.0.2.99');
  });
});

const linkOf = async (call: Partial<Call>) => {
  await say({ body: 'Hi' }, call);
  return /\[report\]\((\S+)\/v1\//.exec(host.comments.at(-1)?.body ?? '')?.[1];
};

const forwarded = (name: string) => ({ 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': name });

describe('the link in the footer', () => {
  const variables = { SERVICE_URL: 'https://public.test' };

  it('has the public scheme where a proxy passes the host on', async () => {
    expect(await linkOf({ origin: 'http://public.test', variables })).toBe('https://public.test');
  });

  it('has the public address where a proxy names it', async () => {
    const headers = forwarded('public.test');
    expect(await linkOf({ origin: 'http://127.0.0.1:8080', headers, variables })).toBe('https://public.test');
  });

  it('never has a name that the operator has not given', async () => {
    const headers = forwarded('evil.test');
    expect(await linkOf({ origin: 'https://evil.test', headers, variables })).toBe('https://public.test');
  });

  it('has no name in it that would end the link', async () => {
    expect(await linkOf({ origin: 'http://a_b(c)' })).toBe('http://a_b%28c%29');
  });

  it('cannot be led to this machine by a header where the operator has named no address', async () => {
    const headers = forwarded('127.0.0.1:8080');
    expect(await linkOf({ origin: 'https://veil.test', headers })).toBe('https://veil.test');
  });
});

const asked = () => host.asked.filter((request) => request.includes('/issues/'));

describe('the first comment of a pseudonym on one machine, where each object is a file from its first call on', () => {
  const neverCalled = { idFromName: () => 'id', get: () => expect.unreachable() };
  const variables = { ONE_MACHINE: 'true', IDENTITIES: neverCalled as unknown as Env['IDENTITIES'] };

  beforeEach(() => applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS));

  it('reaches no object if its thread does not exist, and is told what the host says', async () => {
    const documentation_url = 'https://docs.github.com/rest/issues/issues#get-an-issue';
    host.disturb = () => Response.json({ message: 'Not Found', documentation_url }, { status: 404 });
    const more = { on: 'octo/hello/issues/71', variables };
    expect(await say({ body: 'Hi' }, more)).toMatchObject(
      error(400, 'failed to create comment: 404 Not Found'),
    );
    expect(asked()).not.toContainEqual(expect.stringMatching(/^POST/));
  });

  it('reaches no object if it is too long, or if there is no room', async () => {
    const long = error(400, expect.stringMatching(/^body must have at most 654\d\d characters$/));
    expect(await say({ body: 'x'.repeat(65_530) }, { variables })).toMatchObject(long);
    const full = { kind: 'denied', window: 'thread', full: null, waitMs: 1, withinMs: 1 };
    const account = {
      denial: async () => full,
      beginPost: async () => ({ kind: 'new' }),
      endPost: async () => {},
    };
    const HOST_ACCOUNTS = { idFromName: () => 'id', get: () => account } as unknown as Env['HOST_ACCOUNTS'];
    expect((await say({ body: 'Hi' }, { variables: { ...variables, HOST_ACCOUNTS } })).status).toBe(429);
    expect(asked()).toEqual([]);
  });

  it('is posted, and the next one as well, which looks for nothing', async () => {
    const more = { on: 'octo/hello/issues/72', variables: { ONE_MACHINE: 'true' } };
    for (const karma of [1, 2])
      expect((await say({ body: 'Hi', user_token: 'a token' }, more)).body).toMatchObject({ karma });
    const thread = '/repos/octo/hello/issues/72';
    expect(asked()).toEqual([`GET ${thread}`, `POST ${thread}/comments`, `POST ${thread}/comments`]);
  });
});

describe('a bad request', () => {
  it.each<[what: string, payload: unknown, on: string | undefined, message: string]>([
    ['a blank body', { body: ' \t\r\n\u00a0' }, undefined, 'body is required'],
    ['null as body', { body: null }, undefined, 'body is required'],
    ['no body and no number', {}, 'octo/hello/issues/x', 'body is required'],
    ['no number and no JSON', '{', 'octo/hello/issues/x', 'invalid issue number'],
    ...['01', '+1', '0x1'].map((number): [string, unknown, string, string] => [
      `the number ${number}`,
      { body: 'Hi' },
      `octo/hello/issues/${number}`,
      'invalid issue number',
    ]),
    ['bytes that are no text', new Uint8Array([0x7b, 0xff, 0x7d]), undefined, 'invalid payload'],
    ['deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, undefined, 'invalid payload'],
    ['a NUL in the body', { body: 'H\0i' }, undefined, 'body must not contain NUL characters'],
    [
      'half a character',
      { body: 'H\ud83d' },
      undefined,
      'body must be valid Unicode: it holds half a character',
    ],
    ['an open fence', { body: '```' }, undefined, FENCE_IS_OPEN],
    ['an open tag', { body: '<b>' }, undefined, expect.stringContaining('<b> is never closed')],
    [
      'a long token',
      { body: 'Hi', user_token: 'x'.repeat(257) },
      undefined,
      'user_token must have at most 256 characters',
    ],
  ])('with %s is refused, and the host is not asked', async (_, payload, on, message) => {
    expect(await say(payload, on === undefined ? {} : { on })).toMatchObject(error(400, message));
    expect(host.requests).toEqual([]);
  });

  it.each([
    'oc to/hello',
    'octo/he%2fllo',
    'octo/a..b',
    `octo/${'x'.repeat(101)}`,
    'octo/%3Cb%3E',
    '%2e%2e%2f/hello',
  ])('about %s is refused, and the host is not asked', async (repository) => {
    const { status, body } = await say({ body: 'Hi' }, { on: `${repository}/issues/1` });
    expect(status).toBe(400);
    expect(body['error']).toContain('letters, digits, "-", "_" and "."');
    expect(host.requests).toEqual([]);
  });

  it('with a body over the limit of the host names the limit', async () => {
    const { status, body } = await say({ body: 'x'.repeat(65_536) });
    const [, limit] = /^body must have at most (\d+) characters$/.exec(body['error'] as string) ?? [];
    expect(status).toBe(400);
    expect((await say({ body: 'x'.repeat(Number(limit)) })).status).toBe(200);
    expect(host.comments).toHaveLength(1);
  });

  it('over 512 KiB is read to its end and refused', async () => {
    const answer = await say({ body: 'x'.repeat(600_000) });
    expect(answer).toMatchObject(error(413, 'request body too large'));
  });

  it('that stalls is ended', async () => {
    const payload = new ReadableStream({ type: 'bytes', start: () => {} });
    const answer = await say(payload, { variables: { READ_TIMEOUT: '50ms' } });
    expect(answer).toMatchObject(error(408, 'the request body did not arrive in time; send it again'));
  });
});

describe('the memory of a comment', () => {
  const long = JSON.stringify({ body: 'x'.repeat(60_000), padding: ' '.repeat(100_000) });

  it('is counted while it arrives, and until it is answered', async () => {
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    const posted = Promise.withResolvers<void>();
    host.disturb = async ({ method }) => {
      if (method === 'POST') await posted.promise;
      return undefined;
    };
    const saying = say(readable);
    await writer.write(Buffer.from(long));
    await expect.poll(() => bodiesMemory.heldBytes).toBeGreaterThan(long.length);
    await writer.close();
    await expect.poll(() => host.asked.at(-1)).toMatch(/^POST/);
    expect([bodiesMemory.heldBytes, isolateMemory.heldBytes]).toEqual([0, 4 * long.length]);
    posted.resolve();
    expect((await saying).status).toBe(200);
    expect(isolateMemory.heldBytes).toBe(0);
  });

  it('that others have taken keeps a long one waiting for ten seconds, and a short one not at all', async () => {
    const others = [20, 4, 4, 4, 4].map((size) => {
      const memory = isolateMemory.open(systemClock);
      const claim = memory.claim();
      return { end: () => memory.end(), hold: () => claim.setNow(size * 1024 * 1024) };
    });
    for (const { hold } of others) hold();
    let answered: JsonAnswer | null = null;
    const waiting = say(long).then((answer) => (answered = answer));
    expect((await say({ body: 'Hi' })).status).toBe(200);
    await expect
      .poll(() => {
        vi.setSystemTime(Date.now() + 2_000);
        for (const { hold } of others) hold();
        return answered;
      })
      .not.toBeNull();
    const refused = await waiting;
    expect(refused).toMatchObject(error(503, 'the service is busy: try again in a minute'));
    expect(refused.headers.get('Retry-After')).toBe('60');
    for (const { end } of others) end();
    expect((await say(long)).status).toBe(200);
  });
});

const reportTimes = async (hash: unknown, times: number) => {
  const stub = IDENTITIES.get(IDENTITIES.idFromName(hash as string));
  for (let index = 0; index < times; index++) await stub.report(`reporter ${index}`, `site ${index}`);
};

describe('a comment is refused', () => {
  it('with 429 in the cooldown, which says how long it lasts, and with 403 when blocked', async () => {
    vi.setSystemTime(Date.now());
    const { body } = await say({ body: 'Hi', user_token: 'REPORTED' });
    await reportTimes(body['hash'], 3);
    const cooldown = await say({ body: 'Hi', user_token: 'REPORTED' });
    expect(cooldown).toMatchObject(error(429, 'cooldown activo por reportes'));
    expect(cooldown.headers.get('Retry-After')).toBe('21600');
    await reportTimes(body['hash'], 6);
    expect(await say({ body: 'Hi', user_token: 'REPORTED' })).toMatchObject(
      error(403, 'hash bloqueado por reportes'),
    );
  });

  it('with 400 and the status of the host when that refuses', async () => {
    host.disturb = ({ method }) =>
      method === 'POST' ? Response.json({ message: 'Not Found' }, { status: 404 }) : undefined;
    expect(await say({ body: 'Hi' })).toMatchObject(error(400, 'failed to create comment: 404 Not Found'));
  });

  it('with 502 when nobody knows whether it was posted', async () => {
    host.disturb = ({ method }) => (method === 'POST' ? Response.json({}, { status: 502 }) : undefined);
    const { status, body } = await say({ body: 'Hi' });
    expect(status).toBe(502);
    expect(body['error']).toContain('look there before you try again');
  });

  it('with 503 while the service has no bot account', async () => {
    const { status } = await say({ body: 'Hi' }, { variables: { HOSTING_TOKEN: '' } });
    expect(status).toBe(503);
    expect(host.requests).toEqual([]);
  });

  // The last one: the account is left alone from then on.
  it('with 503 when the host asks to slow down', async () => {
    const headers = { 'retry-after': '120' };
    host.disturb = ({ method }) =>
      method === 'POST' ? Response.json({}, { status: 429, headers }) : undefined;
    const answer = await say({ body: 'Hi' });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('Retry-After')).toBe('120');
  });
});

/** The statuses of three attempts of a client that has two. */
async function attempts(path: string, payload: object, client: string): Promise<number[]> {
  const call = { headers: { 'CF-Connecting-IP': client }, variables: { LIMIT_COMMENTS: '2/1h' } };
  const statuses: number[] = [];
  for (let count = 0; count < 3; count++) statuses.push((await post(path, { payload, ...call })).status);
  return statuses;
}

describe('a body that is refused', () => {
  it('counts against its client, before its Markdown is read', async () => {
    const comments = '/v1/gh/octo/hello/issues/7/comments/anonymous';
    expect(await attempts(comments, { body: '```' }, '192.0.2.71')).toEqual([400, 400, 429]);
    const issues = '/v1/gh/octo/hello/issues/anonymous';
    expect(await attempts(issues, { title: 'Slow', body: '```' }, '192.0.2.73')).toEqual([400, 400, 429]);
  });

  it('costs nothing that counts if its form is wrong already', async () => {
    const comments = '/v1/gh/octo/hello/issues/7/comments/anonymous';
    expect(await attempts(comments, { body: ' ' }, '192.0.2.74')).toEqual([400, 400, 400]);
    expect(await attempts(comments, { body: 7 }, '192.0.2.75')).toEqual([400, 400, 400]);
  });
});
