/**
 * Private reports as JSON: what is refused, and what is told when the host refuses or is silent.
 */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { guardOf } from '../../../src/objects.ts';
import { type FakeRequest, FakeThreads } from '../../durable/support/fake-threads.ts';
import { holdClock } from '../../support/clock.ts';
import { type Call, post } from '../support/json-caller.ts';

const bindings = env as unknown as Env;
const REPORT = { summary: 'It opens doors', description: 'Knock **twice**.', severity: 'high' };
const SENT = {
  ghsa_id: 'GHSA-2222-3333-4444',
  html_url: 'https://host.test/octo/hello/security/advisories/GHSA-2222-3333-4444',
};

const lost = async () => Promise.reject(new Error('Network connection lost.'));

let host: FakeThreads;
let lines: string[];
/** The bodies of the reports that the host was sent. */
let sent: FakeRequest['body'][];
let isEnabled: boolean;
let answer: (request: FakeRequest) => Response;
let accounts = 0;

/** Each call has an account of its own: one that is to slow down is left alone. */
const report = (more: object = {}, { variables, headers, ...call }: Partial<Call> = {}) =>
  post('/v1/gh/octo/hello/security/anonymous', {
    payload: { ...REPORT, ...more },
    variables: { PRIVATE_REPORTS: 'account', HOSTING_TOKEN: `reporter-${(accounts += 1)}`, ...variables },
    headers: { 'CF-Connecting-IP': '192.0.2.7', ...headers },
    ...call,
  });

beforeEach(() => {
  host = new FakeThreads();
  [lines, sent, isEnabled] = [[], [], true];
  answer = () => Response.json(SENT, { status: 201 });
  host.disturb = (request) => {
    if (request.path.endsWith('/private-vulnerability-reporting'))
      return Response.json({ enabled: isEnabled });
    if (!request.path.endsWith('/security-advisories/reports')) return undefined;
    sent.push(request.body);
    return answer(request);
  };
  holdClock();
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it('reaches the host with nothing but what was given, and the answer says who reads it', async () => {
  const more = { cwe_ids: ['CWE-79'], vulnerable_version_range: '< 2', title: 'unknown', own_name: 'Zoe' };
  const { status, body } = await report(more);
  expect([status, body]).toEqual([
    200,
    {
      report_id: SENT.ghsa_id,
      report_url: SENT.html_url,
      readers: expect.stringMatching(
        /^the repository's maintainers, the code host, this service's operator while it passes, and whoever/,
      ),
      replies: expect.stringMatching(/^none come back here/),
    },
  ]);
  expect(sent).toEqual([
    {
      summary: 'It opens doors',
      description:
        'Knock **twice**.\n\n---\n*This report was sent anonymously via [gitveil](https://veil.test). Its author sees no reply.*',
      severity: 'high',
      cwe_ids: ['CWE-79'],
      vulnerabilities: [{ package: { ecosystem: 'other', name: 'hello' }, vulnerable_version_range: '< 2' }],
    },
  ]);
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
    'a private report was sent',
  ]);
});

describe('a report is refused', () => {
  it.each<[what: string, more: object, message: unknown]>([
    ['without a summary', { summary: ' ' }, 'summary and description are required'],
    ['without a description', { description: undefined }, 'summary and description are required'],
    ['with a NUL', { summary: 'T\0' }, 'summary must not contain NUL characters'],
    ['with half a character', { description: '\ud800' }, /^description must be valid Unicode/],
    ['with a summary of two lines', { summary: 'a\nb' }, 'summary must be one line'],
    ['with a long summary', { summary: 'x'.repeat(1025) }, 'summary must have at most 1024 characters'],
    ['with a turned summary', { summary: '\u202ex' }, /^summary must not contain characters that change/],
    ['with an open comment', { description: '<!--' }, /comment or block is never closed/],
    ['with form feeds', { description: 'a\fb' }, /^description must not contain form feeds/],
    ['without a severity', { severity: null }, 'send either severity or cvss_vector_string'],
    [
      'with both ratings',
      { cvss_vector_string: 'CVSS:3.1/AV:N/AC:L' },
      'send either severity or cvss_vector_string',
    ],
    ['with another severity', { severity: 'dire' }, 'severity must be one of critical, high, medium, low'],
    [
      'with no vector',
      { severity: null, cvss_vector_string: 'AV:N' },
      /^cvss_vector_string must be a vector/,
    ],
    ['with another ecosystem', { ecosystem: 'cpan' }, /^ecosystem must be one of other, actions, /],
    ['with a package of two lines', { package: 'a\r' }, 'package must be one line'],
    ['with a word for a weakness', { cwe_ids: ['XSS'] }, 'cwe_ids must be like CWE-79'],
    [
      'with many weaknesses',
      { cwe_ids: Array.from({ length: 21 }, () => 'CWE-79') },
      'cwe_ids must have at most 20 entries',
    ],
    ['with a number for a text', { patched_versions: 2 }, 'invalid payload'],
    [
      'with many names',
      { description: '@a @b @c @d @e @f' },
      /^description mentions more than 5 people or teams/,
    ],
  ])('%s, and the host is not asked', async (_, more, message) => {
    const error = message instanceof RegExp ? (expect.stringMatching(message) as string) : message;
    expect(await report(more)).toMatchObject({ status: 400, body: { error } });
    expect(host.requests).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('when description and footer are longer than the host takes, counted in bytes', async () => {
    const { body } = await report({ description: 'é'.repeat(32_768) });
    const [, most] = /^description must have at most (\d+) bytes$/.exec(String(body['error'])) ?? [];
    const fits = 'é'.repeat(Math.floor(Number(most) / 2));
    expect((await report({ description: fits })).status).toBe(200);
    expect(new TextEncoder().encode(String(sent[0]?.['description'])).byteLength).toBeLessThanOrEqual(65_535);
  });

  it('where the operator has not switched it on', async () => {
    const variables = { PRIVATE_REPORTS: 'off' };
    expect(await report({}, { variables })).toMatchObject({ status: 403, code: 'forbidden' });
    expect(host.requests).toEqual([]);
  });

  it('at a host that has none', async () => {
    const HOSTS = 'cb=forgejo:https://forge.test';
    const call = { payload: REPORT, variables: { PRIVATE_REPORTS: 'account', HOSTS, HOSTING_TOKEN_CB: 't' } };
    expect(await post('/v1/cb/octo/hello/security/anonymous', call)).toMatchObject({
      status: 403,
      code: 'not-accepted',
      body: { error: 'forge.test has no private reports' },
    });
    expect(host.requests).toEqual([]);
  });

  it('where the maintainers have not switched it on, and nothing of it leaves', async () => {
    isEnabled = false;
    expect(await report()).toMatchObject({
      status: 403,
      code: 'not-accepted',
      body: { error: expect.stringContaining('octo/hello takes no private reports') as string },
    });
    expect([sent, lines]).toEqual([[], []]);
  });

  it.each(['pushes', 'writes'] as const)('while %s are suspended', async (scope) => {
    await guardOf(bindings).setPanic(true, { kind: 'password' }, scope);
    try {
      vi.setSystemTime(Date.now() + 3_000);
      expect(await report()).toMatchObject({
        status: 503,
        code: 'suspended',
        body: { error: 'private reports are suspended; try again in 15 minutes' },
      });
      expect(sent).toEqual([]);
    } finally {
      await guardOf(bindings).setPanic(false, { kind: 'password' }, scope);
      vi.setSystemTime(Date.now() + 3_000);
    }
  });

  it.each([
    [
      403,
      {},
      { message: 'Repository was archived so is read-only.' },
      400,
      'failed to send the report: 403 Forbidden',
    ],
    [404, {}, { message: 'Not Found' }, 400, 'failed to send the report: 404 Not Found'],
    [422, {}, { message: 'Validation Failed' }, 400, 'failed to send the report: 422 Unprocessable Entity'],
    [
      429,
      { 'retry-after': '60' },
      {},
      503,
      '127.0.0.1:9 asks to slow down; the report was not sent: try again later',
    ],
  ])(
    'as the host does, with %i, without a line in the log',
    async (hostStatus, headers, said, status, error) => {
      answer = () => Response.json(said, { status: hostStatus, headers });
      expect(await report()).toMatchObject({ status, body: { error } });
      expect(lines.filter((line) => /report|refused/.test(line))).toEqual([]);
    },
  );

  it('when the host does not say whether it is on', async () => {
    host.disturb = ({ path }) =>
      path.endsWith('reporting')
        ? Response.json({}, { status: 429, headers: { 'retry-after': '60' } })
        : undefined;
    const { status, body } = await report();
    expect([status, body['error']]).toEqual([
      503,
      expect.stringMatching(/; nothing was sent: try again later$/),
    ]);
  });
});

describe('an answer that is lost', () => {
  it.each<[what: string, lose: () => Response]>([
    [
      'with the connection',
      () => {
        throw new TypeError('the connection is gone');
      },
    ],
    // So GitHub refuses what it cannot read: nubbymong/claude-command-center#207.
    ['behind a 500 without a word', () => new Response('', { status: 500 })],
    ['in an answer without an id', () => Response.json({ html_url: SENT.html_url }, { status: 201 })],
  ])('%s is told, and nothing is sent a second time', async (_, lose) => {
    answer = lose;
    const { status, code, body } = await report();
    expect([status, code, body['error']]).toEqual([
      502,
      'may-exist',
      expect.stringMatching(/the report may have arrived, .* not sent again by itself/),
    ]);
    expect(sent).toHaveLength(1);
  });

  it('is told to whoever repeats the request with its key', async () => {
    answer = () => {
      throw new TypeError('the connection is gone');
    };
    const variables = { HOSTING_TOKEN: 'reporter-whose-answer-is-lost' };
    const call = { variables, headers: { 'Idempotency-Key': crypto.randomUUID() } };
    expect(await report({}, call)).toMatchObject({ status: 502, code: 'may-exist' });
    answer = () => Response.json(SENT, { status: 201 });
    expect(await report({}, call)).toMatchObject({ status: 409, code: 'may-exist' });
    expect(sent).toHaveLength(1);
  });
});

/** Reports twice with an account that may send one an hour. Returns what arrived, too. */
async function sentTwice(first: typeof answer) {
  const call = { variables: { LIMIT_CREATIONS: '1/1h', HOSTING_TOKEN: `limited-${(accounts += 1)}` } };
  answer = first;
  const { status } = await report({}, call);
  answer = () => Response.json(SENT, { status: 201 });
  return [status, (await report({}, call)).status, sent.length];
}

describe('the limits of the account', () => {
  it('count each report, and refuse more', async () => {
    expect(await sentTwice(answer)).toEqual([200, 429, 1]);
  });

  it('count one that may have arrived', async () => {
    expect(await sentTwice(() => new Response('', { status: 500 }))).toEqual([502, 429, 1]);
  });

  it('do not count one that the host has refused', async () => {
    expect(await sentTwice(() => Response.json({}, { status: 404 }))).toEqual([400, 200, 2]);
  });
});

describe('a request that is sent again with its key', () => {
  const variables = { HOSTING_TOKEN: 'reporter-with-a-key' };

  it('is told that the host has the report, as nothing of the answer is kept', async () => {
    const call = { variables, headers: { 'Idempotency-Key': crypto.randomUUID() } };
    expect((await report({}, call)).status).toBe(200);
    const again = await report({}, call);
    expect(again).toMatchObject({ status: 409, code: 'conflict' });
    expect(again.body['error']).toMatch(/and the code host has the report: nothing is kept here/);
    expect(await report({ summary: 'Another' }, call)).toMatchObject({ status: 422, code: 'key-reused' });
    expect(sent).toHaveLength(1);
  });

  it('is not sent while nobody can tell whether it was, as a second one would double it', async () => {
    const { HOST_ACCOUNTS: accountsOf } = bindings;
    const get = (id: DurableObjectId) => {
      const { reserve, hostPause, callsSaid } = accountsOf.get(id);
      return { reserve, hostPause, callsSaid, endPost: lost, beginPost: lost };
    };
    const HOST_ACCOUNTS = { idFromName: (name: string) => accountsOf.idFromName(name), get };
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const { status, body } = await report({}, { variables: { HOST_ACCOUNTS } as object, headers });
    expect([status, body['error']]).toEqual([503, expect.stringMatching(/nothing was sent: send it again/)]);
    expect(sent).toEqual([]);
  });

  it('is sent if the host has refused it before', async () => {
    const call = { variables, headers: { 'Idempotency-Key': crypto.randomUUID() } };
    answer = () => Response.json({ message: 'Not Found' }, { status: 404 });
    expect((await report({}, call)).status).toBe(400);
    answer = () => Response.json(SENT, { status: 201 });
    expect((await report({}, call)).status).toBe(200);
  });
});
