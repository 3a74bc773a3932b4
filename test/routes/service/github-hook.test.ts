/** Who may wake the service, and what a delivery leads to: signatures, sizes, and nothing else. */
import { env } from 'cloudflare:workers';
import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { parseConfig } from '../../../src/config/config.ts';
import type { Env } from '../../../src/env.ts';
import type { TouchedThread } from '../../../src/events/hook-delivery.ts';
import worker from '../../../src/worker.ts';

const GITHUB_WEBHOOK_SECRET = 'a secret of the webhook'.replaceAll(' ', '-');
const BODY = JSON.stringify({
  action: 'created',
  issue: { number: 7, pull_request: {} },
  comment: { body: 'Thanks, @mona' },
  repository: { full_name: 'octo/hello' },
  sender: { login: 'mona', email: 'mona@example.org' },
});
const THREAD = {
  repository: { owner: 'octo', name: 'hello' },
  number: 7,
  isIssue: false,
  mentions: ['mona'],
};

const woken: TouchedThread[] = [];
const changed: unknown[] = [];
const feed = {
  wake: async (thread: TouchedThread) => void woken.push(thread),
  wakeInstallations: async (names: unknown) => void changed.push(names),
};
const bindings = {
  ...(env as unknown as Env),
  GITHUB_WEBHOOK_SECRET,
  NOTIFICATION_FEED: { idFromName: (name: string) => name, get: () => feed },
} as unknown as Env;

beforeEach(() => {
  woken.length = 0;
});

const signed = (body: string | Uint8Array, algorithm = 'sha256', secret = GITHUB_WEBHOOK_SECRET): string =>
  `${algorithm}=${createHmac(algorithm, secret).update(body).digest('hex')}`;

async function deliver(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = { 'X-Hub-Signature-256': signed(body) },
  variables: Partial<Env> = {},
): Promise<string> {
  const request = new Request('https://veil.test/v1/hooks/github', { method: 'POST', body, headers });
  const response = await worker.fetch(request, { ...bindings, ...variables });
  return `${response.status} ${await response.text()}`;
}

describe('a signed delivery', () => {
  it('wakes the thread that it names, every time that it comes', async () => {
    expect(await deliver(BODY)).toBe('204 ');
    // A week later, and with other headers, which are not signed.
    vi.setSystemTime(Date.now() + 7 * 24 * 3_600_000);
    const headers = { 'X-Hub-Signature-256': signed(BODY), 'X-GitHub-Event': 'installation' };
    expect(await deliver(BODY, headers)).toBe('204 ');
    expect(woken).toEqual([THREAD, THREAD]);
    vi.useRealTimers();
  });

  it('needs no key of the service', async () => {
    expect(await deliver(BODY, undefined, { SERVICE_API_KEY: 'key' })).toBe('204 ');
  });

  it('has the installations asked for that it names', async () => {
    const repositories = [{ full_name: 'octo/hello' }, { full_name: 'octo/other', id: 9 }];
    expect(await deliver(JSON.stringify({ action: 'deleted', installation: { id: 1 }, repositories }))).toBe(
      '204 ',
    );
    expect(changed).toEqual([
      [
        { ...THREAD.repository, id: null },
        { owner: 'octo', name: 'other', id: 9 },
      ],
    ]);
    expect(woken).toEqual([]);
  });

  it.each(['{}', '[]', 'null', '{"zen":"words"}'])('may name nothing: %s', async (body) => {
    expect(await deliver(body)).toBe('204 ');
    expect(woken).toEqual([]);
  });

  it('must be JSON', async () => {
    const body = `payload=${encodeURIComponent(BODY)}`;
    expect(await deliver(body)).toBe('400 {"error":"a webhook must send its content as application/json"}');
  });

  it('is logged without what it says', async () => {
    const logged = vi.spyOn(console, 'log').mockImplementation(() => {});
    await deliver(BODY);
    expect(JSON.stringify(logged.mock.calls)).not.toMatch(/mona|octo/);
  });
});

describe('a delivery without a good signature', () => {
  const REFUSED = '401 {"error":"X-Hub-Signature-256 is missing, or not made with GITHUB_WEBHOOK_SECRET"}';

  it.each<[string, Record<string, string>]>([
    ['none', {}],
    ['one with SHA-1', { 'X-Hub-Signature': signed(BODY, 'sha1') }],
    ['one with SHA-1 in the place of the other', { 'X-Hub-Signature-256': signed(BODY, 'sha1') }],
    ['one of another secret', { 'X-Hub-Signature-256': signed(BODY, 'sha256', 'another secret') }],
    ['one of another body', { 'X-Hub-Signature-256': signed(`${BODY} `) }],
    ['half of one', { 'X-Hub-Signature-256': signed(BODY).slice(0, 39) }],
    ['one without its beginning', { 'X-Hub-Signature-256': signed(BODY).slice(7) }],
    ['one in capitals', { 'X-Hub-Signature-256': signed(BODY).toUpperCase() }],
  ])('is refused: %s', async (_, headers) => {
    expect(await deliver(BODY, headers)).toBe(REFUSED);
    expect(woken).toEqual([]);
  });

  it('is refused if it is no text', async () => {
    expect(await deliver(new Uint8Array([0xff, 0xfe]))).toBe(REFUSED);
  });
});

describe('a body', () => {
  it('is read up to 1 MB', async () => {
    const most = BODY.padEnd(1024 * 1024);
    expect(await deliver(most)).toBe('204 ');
    expect(await deliver(`${most} `)).toBe('413 {"error":"request body too large"}');
    expect(woken).toHaveLength(1);
  });

  it('of 25 MB is refused, signed or not', async () => {
    const body = new Uint8Array(25 * 1024 * 1024).fill(0x20);
    expect(await deliver(body)).toBe('413 {"error":"request body too large"}');
    expect(await deliver(body, { 'X-Hub-Signature-256': signed('') })).toMatch(/^413 /);
  });
});

it('is not found where the service has no webhook', async () => {
  expect(await deliver(BODY, undefined, { GITHUB_WEBHOOK_SECRET: '' })).toBe('404 {"error":"not found"}');
});

it('has a secret that nobody can guess', () => {
  const result = parseConfig({ GITHUB_WEBHOOK_SECRET: 'short' });
  expect(result.kind === 'invalid' && result.problems.map(({ message }) => message)).toEqual([
    'GITHUB_WEBHOOK_SECRET must be at least 20 characters of printable ASCII without spaces, such as the output of ' +
      '`openssl rand -hex 32`',
  ]);
});
