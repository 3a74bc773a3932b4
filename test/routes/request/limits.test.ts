/**
 * The limits that the contract leaves open: the first refused request, and what its client reads.
 */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import worker from '../../../src/worker.ts';
import { FakeThreads } from '../../durable/support/fake-threads.ts';
import { nextNoon } from '../../support/next-noon.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { FLUSH, pktText, readReport } from '../../support/pkt-line.ts';

const SECRET = 'a secret of more than thirty-two characters';
const bindings = { ...(env as unknown as Env), IDENTITY_SECRET: SECRET, HOSTING_TOKEN: 'token' };
const COMMANDS = `${pktText(`${'0'.repeat(40)} ${'a'.repeat(40)} refs/heads/fix\0 report-status side-band-64k`)}${FLUSH}`;

let address = 0;
let now = Date.now();

beforeEach(() => {
  address += 1;
  vi.setSystemTime((now = nextNoon()));
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

async function ask(path: string, init: RequestInit = {}, variables: Partial<Env> = {}) {
  const context = createExecutionContext();
  const headers = { 'CF-Connecting-IP': `198.51.100.${address}`, ...(init.headers as object) };
  const request = new Request(`https://gitveil.test${path}`, { ...init, headers });
  const response = await worker.fetch(request, { ...bindings, ...variables }, context);
  const bytes = new Uint8Array(await response.arrayBuffer());
  await waitOnExecutionContext(context);
  return { status: response.status, headers: response.headers, bytes, text: new TextDecoder().decode(bytes) };
}

const reserve = () => Promise.reject(new RangeError('octo/hello of 198.51.100.7'));
const lost = () => Promise.reject(new Error('Network connection lost.'));

const comment = (variables: Partial<Env>) =>
  ask(
    '/v1/gh/octo/hello/issues/7/comments/anonymous',
    { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"body":"Hi"}' },
    variables,
  );

async function sendPush() {
  const headers = { 'Content-Type': 'application/x-git-receive-pack-request' };
  const init = { method: 'POST', headers, body: COMMANDS };
  const { status, bytes } = await ask('/v1/gh/octo/hello/git-receive-pack', init, {
    LIMIT_PUSHES: '2/1m',
  });
  expect(status).toBe(200);
  return readReport(bytes);
}

describe('comments and issues', () => {
  it(
    'are refused above the limit with the reason and the time to wait; other clients go on',
    exhaustive,
    async () => {
      const host = new FakeThreads();
      const variables = { LIMIT_COMMENTS: '2/1m,3/1h' };
      expect((await comment(variables)).status).toBe(200);
      vi.setSystemTime((now += 15_000));
      expect((await comment(variables)).status).toBe(200);
      const refused = await comment(variables);
      expect(refused.status).toBe(429);
      expect(refused.headers.get('Retry-After')).toBe('60');
      expect(JSON.parse(refused.text)).toMatchObject({
        error:
          'too many comments and issues from your network: at most 2 in 1m and 3 in 1h; try again in about a minute',
      });
      address += 1;
      expect((await comment(variables)).status).toBe(200);
      address -= 1;
      vi.setSystemTime((now += 45_000));
      expect((await comment(variables)).status).toBe(200);
      expect((await comment(variables)).headers.get('Retry-After')).toBe('3600');
      expect(host.comments).toHaveLength(4);
    },
  );

  it('are not posted while the limits cannot be checked', async () => {
    const host = new FakeThreads();
    const CLIENT_WINDOWS = {
      idFromName: () => 'id',
      get: () => ({ hit: lost }),
    } as unknown as Env['CLIENT_WINDOWS'];
    const { status, text } = await comment({ CLIENT_WINDOWS });
    expect(status).toBe(503);
    expect(text).toContain('the service cannot check its limits');
    expect(host.comments).toHaveLength(0);
  });

  it('are not created while the account cannot be asked, and the log names the class of the error', async () => {
    const host = new FakeThreads();
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line.replace(/^\S+ /, '')));
    const account = new Proxy({}, { get: (_, name) => (name === 'reserve' ? reserve : async () => null) });
    const HOST_ACCOUNTS = {
      idFromName: () => 'id',
      get: () => account,
    } as unknown as Env['HOST_ACCOUNTS'];
    const { status } = await ask(
      '/v1/gh/octo/hello/issues/anonymous',
      { method: 'POST', body: '{"title":"It breaks","body":"Here is how."}' },
      { HOST_ACCOUNTS },
    );
    expect(status).toBe(503);
    expect(host.issues).toHaveLength(0);
    expect(lines).toContain('error a limit could not be checked error=RangeError');
  });
});

describe('discoveries', () => {
  it('are refused above the limit in plain text, do not reach the host, and then not the window either', async () => {
    const host = vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async () => new Response('0000'));
    const variables = { LIMIT_DISCOVERIES: '2/1m' };
    const discover = () => ask('/v1/gh/octo/hello/info/refs?service=git-upload-pack', {}, variables);
    expect((await discover()).status).toBe(200);
    expect((await discover()).status).toBe(200);
    const asked = host.mock.calls.length;
    const refused = await discover();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toBe('60');
    expect(refused.headers.get('Content-Type')).toMatch(/^text\/plain/);
    expect(refused.text).toBe(
      'Too many clones, fetches, pushes and files opened in a browser from your network: at most 2 in 1m; try again in about a minute.\n',
    );
    const CLIENT_WINDOWS = { get: () => expect.unreachable() } as unknown as Env['CLIENT_WINDOWS'];
    const push = '/v1/gh/octo/hello/info/refs?service=git-receive-pack';
    expect((await ask(push, {}, { ...variables, CLIENT_WINDOWS })).status).toBe(429);
    expect(host.mock.calls).toHaveLength(asked);
    vi.setSystemTime((now += 60_000));
    expect((await discover()).status).toBe(200);
  });

  it('go on while the limits cannot be checked', async () => {
    vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async () => new Response('0000'));
    const CLIENT_WINDOWS = {
      idFromName: () => 'id',
      get: () => ({ hit: lost }),
    } as unknown as Env['CLIENT_WINDOWS'];
    const answer = await ask('/v1/gh/octo/hello/info/refs?service=git-upload-pack', {}, { CLIENT_WINDOWS });
    expect(answer.status).toBe(200);
  });
});

describe('pushes', () => {
  it('are refused in-band above the limit, without a question to the host', async () => {
    const host = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
    expect((await sendPush()).errors.join()).not.toContain('too many pushes');
    expect((await sendPush()).errors.join()).not.toContain('too many pushes');
    const asked = host.mock.calls.length;
    const refused = await sendPush();
    expect(refused.errors).toEqual(['push rejected: too many pushes']);
    expect(refused.progress.join('\n')).toContain(
      'Too many pushes from your network: at most 2 in 1m; try again in about a minute.',
    );
    expect(host.mock.calls).toHaveLength(asked);
  });
});

function neverAsked() {
  const get = vi.fn(() => ({ hit: lost }));
  const CLIENT_WINDOWS = { idFromName: () => 'id', get } as unknown as Env['CLIENT_WINDOWS'];
  return { get, variables: { CLIENT_WINDOWS } };
}

/** A report or an appeal from one of the networks of a /48. */
function postFrom(network: number, path: string, payload: object, variables: Partial<Env> = {}) {
  const headers = {
    'CF-Connecting-IP': `2001:db8:77:${network}::1`,
    'Content-Type': 'application/json',
    Accept: 'application/json',
  };
  const limits = { LIMIT_REPORTS: '1/1h', NOTIFY_ADMIN_TOPIC: 'operators', ...variables };
  return ask(path, { method: 'POST', headers, body: JSON.stringify(payload) }, limits);
}

describe('limits of more than one client', () => {
  it('are remembered for all networks of a /48: their reports and appeals reach no window any more', async () => {
    const REPORT = '/v1/moderation/report';
    expect((await postFrom(1, REPORT, { hash: '0a1b2c3d' })).status).toBe(200);
    expect((await postFrom(2, REPORT, { hash: '0a1b2c3d' })).status).toBe(429);
    const { get, variables } = neverAsked();
    const refused = await postFrom(3, REPORT, { hash: '0a1b2c3d' }, variables);
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '3600']);
    const appeal = { thread: 'octo/hello#7', user_token: 'TOKEN', text: 'It was not so.' };
    expect((await postFrom(4, '/v1/moderation/appeal', appeal, variables)).status).toBe(429);
    expect(get).not.toHaveBeenCalled();
  });
});

const AROUND = 'from the networks around yours: at most 4 in 1m';
const from = (network: number) => ({ 'CF-Connecting-IP': `2001:db8:${address}:${network}::1` });

const clonesFrom = (network: number, variables: Partial<Env> = {}) => {
  const asked = { LIMIT_DISCOVERIES: '1/1m', ...variables };
  return ask('/v1/gh/octo/hello/info/refs?service=git-upload-pack', { headers: from(network) }, asked);
};

async function pushesFrom(network: number) {
  const headers = { ...from(network), 'Content-Type': 'application/x-git-receive-pack-request' };
  const init = { method: 'POST', headers, body: COMMANDS };
  const { bytes } = await ask('/v1/gh/octo/hello/git-receive-pack', init, { LIMIT_PUSHES: '1/1m' });
  return readReport(bytes).progress.join('\n');
}

const guessesFrom = (network: number) =>
  ask(`/v1/pr/0123456789b${network}`, { headers: from(network) }, { LIMIT_LOOKUPS: '1/1m' });

describe('the networks of a /48 have together four times the number of one', () => {
  it('of clones', async () => {
    vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async () => new Response('0000'));
    for (let network = 0; network < 4; network++) expect((await clonesFrom(network)).status).toBe(200);
    const refused = await clonesFrom(4);
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining(AROUND)]);
    expect((await clonesFrom(5, neverAsked().variables)).status).toBe(429);
    address += 1;
    expect((await clonesFrom(6)).status).toBe(200);
  });

  it('of pushes', async () => {
    vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
    for (let network = 0; network < 4; network++)
      expect(await pushesFrom(network)).not.toContain('Too many pushes');
    for (const network of [4, 5]) expect(await pushesFrom(network)).toContain(`Too many pushes ${AROUND}`);
  });

  it('of guesses', async () => {
    for (let network = 0; network < 4; network++) expect((await guessesFrom(network)).status).toBe(404);
    expect((await guessesFrom(4)).status).toBe(429);
    expect((await guessesFrom(0)).status).toBe(429);
  });
});

describe('look-ups of unknown hashes', () => {
  it('are refused above the limit, and so is then every look-up of that client; no window is asked', async () => {
    const variables = {
      LIMIT_LOOKUPS: '2/1m',
      CLIENT_WINDOWS: { get: () => expect.unreachable() } as unknown as Env['CLIENT_WINDOWS'],
    };
    const lookUp = (hash: string) => ask(`/v1/pr/${hash}`, {}, variables);
    expect((await lookUp('0123456789a0')).status).toBe(404);
    expect((await lookUp('0123456789a1')).status).toBe(404);
    const refused = await lookUp('0123456789a2');
    expect(refused.status).toBe(429);
    expect(refused.text).toMatch(/^Too many look-ups of unknown hashes from your network: at most 2 in 1m/);
    expect((await lookUp('0123456789a3')).headers.get('Retry-After')).toBe('60');
    vi.setSystemTime((now += 60_000));
    expect((await lookUp('0123456789a4')).status).toBe(404);
  });
});
