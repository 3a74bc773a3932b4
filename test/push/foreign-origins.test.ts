/**
 * A page of another site, which somebody has open, may clone, push and post in their browser, as a
 * Git client there does. But it must not read from the answers what the person has had of their
 * limits, nor whether an id is one that they have pushed.
 */
import { applyD1Migrations, createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { accountOf } from '../../src/host-access.ts';
import { configOf } from '../../src/config/configured.ts';
import { systemClock } from '../../src/isolate/clock.ts';
import { forgetEverything } from '../../src/isolate/recent.ts';
import { clientIn } from '../../src/limits/client.ts';
import { pullRequestClaim } from '../../src/limits/claim.ts';
import { HttpClient } from '../../src/outgoing/http-client.ts';
import { keyedHash } from '../../src/secret/keyed-hash.ts';
import worker from '../../src/worker.ts';
import { commitContent } from '../support/objects.ts';
import { buildPack } from '../support/pack-builder.ts';
import { FLUSH, pktText, readReport } from '../support/pkt-line.ts';

const SECRET = 'a secret of at least 32 characters, for tests';
const BINDINGS = { ...env, IDENTITY_SECRET: SECRET, HOSTING_TOKEN: 'token' } as unknown as Env & {
  TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1];
};
const HOUR_MS = 60 * 60_000;
const PACK = buildPack([{ type: 'commit', content: commitContent() }]).bytes;
const LIMIT = 'push rejected: rate limit exceeded';
const SITE = { Origin: 'https://site.test' };

let bindings: Env = BINDINGS;
let count = 0;
let address = '';
let now = Date.UTC(2031, 0, 1, 12);
beforeEach(() => {
  bindings = BINDINGS;
  address = `198.51.100.${++count}`;
  vi.spyOn(systemClock, 'sleep').mockResolvedValue();
  vi.setSystemTime((now += 24 * HOUR_MS));
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
  vi.spyOn(HttpClient.prototype, 'openAhead').mockResolvedValue();
});
afterEach(() => {
  forgetEverything();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function send(path: string, type: string, body: BodyInit, headers: Record<string, string>) {
  const context = createExecutionContext();
  const whole = { 'Content-Type': type, 'CF-Connecting-IP': address, ...headers };
  const request = new Request(`https://gitveil.test${path}`, { method: 'POST', headers: whole, body });
  const response = await worker.fetch(request, bindings, context);
  const answer = new Uint8Array(await response.arrayBuffer());
  await waitOnExecutionContext(context);
  return { response, answer };
}

/** Answers all that a page reads. */
async function push(headers: Record<string, string>, id = 'a', options: readonly string[] = []) {
  const capabilities = 'report-status side-band-64k push-options';
  const command = pktText(`${'0'.repeat(40)} ${id.repeat(40)} refs/heads/fix\0 ${capabilities}`);
  const section = options.map((option) => pktText(option)).join('');
  const body = Buffer.concat([Buffer.from(`${command}${FLUSH}${section}${FLUSH}`), PACK]);
  const type = 'application/x-git-receive-pack-request';
  return readReport((await send('/v1/gh/octo/hello/git-receive-pack', type, body, headers)).answer);
}

async function comment(headers: Record<string, string>): Promise<Response> {
  const path = '/v1/gh/octo/hello/issues/7/comments/anonymous';
  return (await send(path, 'application/json', JSON.stringify({ body: 'Hi' }), headers)).response;
}

/** The person opens so many pull requests. */
async function openOwn(pullRequests: number, keyOf = (own: number) => `${own}`): Promise<void> {
  const result = configOf(bindings);
  const [host] = result.kind === 'valid' ? result.config.hosts : [];
  const account = bindings.HOST_ACCOUNTS.get(bindings.HOST_ACCOUNTS.idFromName(accountOf(host!)));
  for (let own = 0; own < pullRequests; own++)
    expect(await account.reserve(pullRequestClaim(clientIn(address, SECRET), keyOf(own)))).toMatchObject({
      kind: 'granted',
    });
}

describe('pages of other sites', () => {
  it('have two pushes and posts an hour together, and the person’s own go on', async () => {
    expect((await push(SITE)).errors).not.toContain(LIMIT);
    expect((await comment({ Origin: 'null' })).status).not.toBe(429);
    for (const headers of [
      SITE,
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { Origin: 'https://another.test', 'Sec-Fetch-Site': 'same-site' },
    ]) {
      expect((await push(headers)).errors).toEqual([LIMIT]);
      const refused = await comment(headers);
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '4500']);
    }
    for (const headers of [{}, { Origin: 'https://gitveil.test' }, { 'Sec-Fetch-Site': 'same-origin' }])
      expect((await push(headers)).errors).not.toContain(LIMIT);
    expect((await comment({})).status).not.toBe(429);
  });

  it('get room again at the quarter hour after their hour', async () => {
    vi.setSystemTime(now + 1);
    for (const _ of ['one', 'two']) await push(SITE);
    vi.setSystemTime(now + HOUR_MS + 15 * 60_000 - 1);
    expect((await push(SITE)).errors).toEqual([LIMIT]);
    vi.setSystemTime(now + HOUR_MS + 15 * 60_000);
    expect((await push(SITE)).errors).not.toContain(LIMIT);
  });

  it('read the same, whichever limit is full, and no moment in which one ends', async () => {
    for (const _ of ['one', 'two']) await push(SITE);
    const own = await push(SITE);
    address = `198.51.100.${++count}`;
    await openOwn(5);
    expect(await push(SITE)).toEqual(own);
    expect(own.progress.join('\n')).not.toMatch(/minutes|about/);
  });

  it('hear of a wrong pr-hash no more than of anything else', async () => {
    await applyD1Migrations(BINDINGS.DB, BINDINGS.TEST_MIGRATIONS);
    for (const _ of ['one', 'two']) await push(SITE);
    const own = await push(SITE, 'a', ['pr-hash=0123456789ab']);
    address = `198.51.100.${++count}`;
    await openOwn(5);
    expect(await push(SITE, 'a', ['pr-hash=0123456789ab'])).toEqual(own);
    expect(own.errors).toEqual([LIMIT]);
    expect(own.progress.join('\n')).not.toContain('pr-hash');
  });

  it('count in the five of the network, so that nobody gains by the headers of a page', async () => {
    await openOwn(5);
    expect((await push(SITE)).errors).toEqual([LIMIT]);
  });

  it('learn no more from failures: whatever is sent counts, also a preview and a faulty option', async () => {
    await push(SITE, 'a', ['preview']);
    await push(SITE, 'a', ['pr-hash=!']);
    expect((await push(SITE)).errors).toEqual([LIMIT]);
  });

  it('that the operator has named are no strangers', async () => {
    bindings = { ...BINDINGS, ALLOWED_ORIGINS: SITE.Origin };
    for (const _ of ['one', 'two', 'three']) expect((await push(SITE)).errors).not.toContain(LIMIT);
  });
});

describe.each([
  ['discoveries', '/v1/gh/octo/hello/info/refs?service=git-upload-pack', 502],
  ['look-ups of unknown hashes', '/v1/pr/0123456789ab', 404],
])('%s of pages of other sites', (_, path, passed) => {
  /** The most that they have, all together. */
  const MOST = 60;
  const BY_SCRIPT = { ...SITE, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'empty' };
  const FOLLOWED = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'document' };

  async function statusFor(headers: Record<string, string>): Promise<number> {
    const context = createExecutionContext();
    const whole = { 'CF-Connecting-IP': address, ...headers };
    const response = await worker.fetch(
      new Request(`https://gitveil.test${path}`, { headers: whole }),
      bindings,
      context,
    );
    await response.arrayBuffer();
    await waitOnExecutionContext(context);
    return response.status;
  }

  beforeEach(() => {
    bindings = { ...BINDINGS, LIMIT_DISCOVERIES: '1/1m', LIMIT_LOOKUPS: '1/1m' };
  });

  it('do not show how often the network has asked', async () => {
    expect([await statusFor({}), await statusFor(FOLLOWED)]).toEqual([passed, 429]);
    for (let read = 0; read < MOST; read++) expect(await statusFor(BY_SCRIPT)).toBe(passed);
    // A browser of before 2023 sends its origin alone.
    expect(await statusFor(SITE)).toBe(429);
  });

  it('use up nothing of the network’s own', async () => {
    for (let read = 0; read < MOST; read++) await statusFor(BY_SCRIPT);
    expect(await statusFor(BY_SCRIPT)).toBe(429);
    expect(await statusFor(FOLLOWED)).toBe(passed);
  });

  it('are those of the network if the operator has named the site', async () => {
    bindings = { ...bindings, ALLOWED_ORIGINS: SITE.Origin };
    expect([await statusFor(BY_SCRIPT), await statusFor(BY_SCRIPT)]).toEqual([passed, 429]);
  });
});

describe('a full window', () => {
  it('is told before anything else: a push that was made before, and holds a place, is answered as any other', async () => {
    // As the push of an id is named where it holds a place.
    const named = ['octo/hello', 'a'.repeat(40), 'refs/heads/fix', '', ''].join(' ');
    const key = keyedHash(SECRET, 'slot', keyedHash(SECRET, 'push', named));
    await openOwn(5, (own) => (own === 0 ? key : `${own}`));
    const [known, guessed] = [await push({}, 'a'), await push({}, 'b')];
    expect(known.errors).toEqual([LIMIT]);
    expect(known).toEqual(guessed);
  });
});
