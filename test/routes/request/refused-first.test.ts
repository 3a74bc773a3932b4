/**
 * Proves how little a refused request costs: a client over its limit reaches neither the guard, nor
 * the bot account, nor the host; and while the account's object cannot be asked, an isolate creates
 * only a little.
 */
import { applyD1Migrations, createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { HostAccount } from '../../../src/durable/host-account/host-account.ts';
import type { Env } from '../../../src/env.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import worker from '../../../src/worker.ts';
import { admitted } from '../../support/admission.ts';
import { FakeThreads } from '../../durable/support/fake-threads.ts';
import { nextNoon } from '../../support/next-noon.ts';
import { commitContent } from '../../support/objects.ts';
import { buildPack } from '../../support/pack-builder.ts';
import { withoutPauses } from '../../support/timeouts.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { FLUSH, pktText, readReport } from '../../support/pkt-line.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const SECRETS = { IDENTITY_SECRET: 'a secret of more than thirty-two characters', HOSTING_TOKEN: 'token' };
let remote = '/v1/gh/octo/hello';
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const BROWSER = { headers: { Accept: 'text/html' } };
const RECEIVE_PACK = 'application/x-git-receive-pack-request';

/** The methods of objects that were called. */
let asked: string[] = [];
let address = 0;
/** Whether a form is being opened: what it shows of a thread may be read from the host. */
let isOpening = false;
let now = Date.now();

beforeEach(() => {
  asked = [];
  address += 1;
  // What the isolate remembers of the last test is too old by now.
  vi.setSystemTime((now = nextNoon()));
  withoutPauses();
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

type Methods = Record<string, (...values: unknown[]) => unknown>;

/** The real objects, and what they are asked for. */
function watched(name: 'GUARD' | 'HOST_ACCOUNTS'): object {
  const namespace = bindings[name] as unknown as DurableObjectNamespace;
  return {
    idFromName: (key: string) => namespace.idFromName(key),
    get: (id: DurableObjectId) =>
      new Proxy(namespace.get(id) as unknown as Methods, {
        get(stub, method: string) {
          // Called on the stub itself: its methods have no `apply`.
          return (...values: unknown[]) => {
            asked.push(`${name}.${method}`);
            return stub[method]?.(...values);
          };
        },
      }),
  };
}

const lost = () => Promise.reject(new Error('Network connection lost.'));
const UNREACHABLE = { idFromName: () => 'id', get: () => new Proxy({}, { get: () => lost }) };

async function ask(path: string, init: RequestInit = {}, variables: object = {}) {
  const context = createExecutionContext();
  const headers = { 'CF-Connecting-IP': `198.51.100.${address}`, ...(init.headers as object) };
  const request = new Request(`https://gitveil.test${path}`, { ...init, headers });
  const watching = { GUARD: watched('GUARD'), HOST_ACCOUNTS: watched('HOST_ACCOUNTS') };
  const response = await worker.fetch(
    request,
    { ...bindings, ...SECRETS, ...watching, ...variables },
    context,
  );
  const bytes = new Uint8Array(await response.arrayBuffer());
  await waitOnExecutionContext(context);
  return { status: response.status, headers: response.headers, bytes, text: new TextDecoder().decode(bytes) };
}

const postJson = (path: string, payload: object, variables: object = {}) =>
  ask(
    remote + path,
    { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(payload) },
    variables,
  );

/** Opens a form and sends it. */
async function postForm(path: string, fields: Record<string, string>, variables: object = {}) {
  isOpening = true;
  const page = await ask(remote + path, {}, variables);
  isOpening = false;
  const token = /name="token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const body = new URLSearchParams({ token, ...fields }).toString();
  return ask(remote + path.replace(/\?.*/, ''), { method: 'POST', headers: FORM, body }, variables);
}

const WRITES: Readonly<Record<string, (variables?: object) => ReturnType<typeof ask>>> = {
  'a comment': (variables) => postJson('/issues/7/comments/anonymous', { body: 'Hi' }, variables),
  'an issue': (variables) => postJson('/issues/anonymous', { title: 'A', body: 'B' }, variables),
  'the form of a reply': (variables) =>
    postForm('/reply?to=7', { number: '7', body: 'Hi', user_token: '', step: 'post' }, variables),
  'the form of an issue': (variables) =>
    postForm('/new-issue', { title: 'A', body: 'B', step: 'post' }, variables),
};

describe.each(Object.entries(WRITES))('%s', (_, write) => {
  it('over the limit of its client reaches no object and no host, from the first time on', async () => {
    const host = new FakeThreads();
    const variables = { LIMIT_COMMENTS: '1/1h' };
    expect((await write(variables)).status).toBe(200);
    // The form reads the thread anew after a post, so that it shows it.
    await ask(`${remote}/reply?to=7`, {}, variables);
    [asked, host.requests.length] = [[], 0];
    const refused = await write(variables);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toBe('3600');
    expect(refused.text).toMatch(/too many comments and issues from your network: at most 1 in 1h/i);
    expect([asked, host.asked]).toEqual([[], []]);
  });

  it('that the repository does not accept takes no share of the account', async () => {
    const host = new FakeThreads();
    host.disturb = () => (isOpening ? undefined : Response.json({ message: 'Not Found' }, { status: 404 }));
    vi.setSystemTime((now += 3_600_000));
    expect((await write()).status).toBe(400);
    expect(asked.filter((call) => /reserve|Form/.test(call))).toEqual([]);
  });

  it('is not posted while the account cannot be asked, and says so in a sentence', async () => {
    const host = new FakeThreads();
    vi.spyOn(HostAccount.prototype, 'reserve').mockImplementation(() => {
      throw new Error('Connection lost.');
    });
    address += 1;
    const refused = await write();
    expect([...host.comments, ...host.issues]).toEqual([]);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('Retry-After')).toBe('60');
    expect(refused.text).toMatch(
      /the service cannot check its limits; nothing was posted: try again in a minute/i,
    );
  });
});

const PACK = buildPack([{ type: 'commit', content: commitContent() }]).bytes;

async function push(
  variables: object = {},
  {
    options = [],
    ref = 'refs/heads/fix',
    deletes = false,
  }: { options?: string | readonly string[]; ref?: string; deletes?: boolean } = {},
) {
  const asking = options.length === 0 ? '' : ' push-options';
  const [from, to] = deletes ? ['a', '0'] : ['0', 'a'];
  const command = pktText(
    `${from.repeat(40)} ${to.repeat(40)} ${ref}\0 report-status side-band-64k${asking}`,
  );
  const given = [options].flat().map((option) => pktText(option));
  const commands = `${command}${FLUSH}${given.length === 0 ? '' : `${given.join('')}${FLUSH}`}`;
  const body = Buffer.concat([Buffer.from(commands), PACK]);
  const init = { method: 'POST', headers: { 'Content-Type': RECEIVE_PACK }, body };
  const { status, bytes } = await ask(`${remote}/git-receive-pack`, init, variables);
  expect(status).toBe(200);
  return readReport(bytes);
}

/** Reserves a place for a push with this key, for the present address. */
function reserve(key: string, isAnother = false) {
  return admitted(`198.51.100.${address}`, SECRETS, async (admission) => {
    const slot = await admission.slot(key);
    await slot.settle(isAnother);
  });
}

/** Uses up the places of the present address, in this isolate. */
async function fill(keys: readonly string[] = ['a', 'b', 'c', 'd', 'e']): Promise<void> {
  for (const key of keys) expect(await reserve(key)).toBeNull();
}

describe('a push that is refused', () => {
  it('by its client’s limit of pull requests does not reach the host', async () => {
    const host = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
    const ahead = vi.spyOn(HttpClient.prototype, 'openAhead').mockResolvedValue();
    await fill();
    expect((await push()).errors).toEqual(['push rejected: rate limit exceeded']);
    // The account tells the operator of the first one.
    expect(asked.toSorted()).toEqual(['GUARD.admit', 'GUARD.tell', 'HOST_ACCOUNTS.denial']);
    expect(host).not.toHaveBeenCalled();
    expect(ahead).not.toHaveBeenCalled();
  });

  it('for its ref asks only whether its client has a place left, and nothing of the host', async () => {
    const host = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
    const ahead = vi.spyOn(HttpClient.prototype, 'openAhead').mockResolvedValue();
    const answer = await push({}, { ref: 'refs/tags/v1' });
    expect(answer.report.join('\n')).not.toMatch(/^ok /m);
    expect(asked).toEqual(['GUARD.admit', 'HOST_ACCOUNTS.denial']);
    expect(host).not.toHaveBeenCalled();
    expect(ahead).not.toHaveBeenCalled();
  });

  it('by its client’s limit does not reach the host with a wrong option either', async () => {
    const host = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
    const ahead = vi.spyOn(HttpClient.prototype, 'openAhead').mockResolvedValue();
    await fill();
    const { errors, progress } = await push({}, { options: 'titel=x' });
    expect(errors).toEqual(['push rejected: rate limit exceeded']);
    expect(progress.join('\n')).not.toContain('titel');
    expect(asked.toSorted()).toEqual(['GUARD.admit', 'GUARD.tell', 'HOST_ACCOUNTS.denial']);
    expect(host).not.toHaveBeenCalled();
    expect(ahead).not.toHaveBeenCalled();
  });

  it.each([
    ['withdraw needs pr-hash', ['withdraw']],
    ['pr-hash must be', ['withdraw', 'pr-hash=!']],
    ['pr-key must be', ['withdraw', 'pr-key=abc']],
  ])('for an option of a withdrawal says which, also without a place: %s', async (words, options) => {
    const host = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
    await fill();
    const { errors } = await push({}, { options });
    expect(errors).toEqual([expect.stringContaining(words)]);
    expect(host).not.toHaveBeenCalled();
  });

  it.each([
    ['The service has recorded no pull request of octo/hello with that pr-hash.', 'pr-hash=0123456789ab'],
    ['pr-hash must be 8 to 40 hexadecimal characters', 'pr-hash=0123456789az'],
    ['"pr_hash" is no push option: did you mean pr-hash?', 'pr_hash=0123456789ab'],
  ])('as an update without a place says what is wrong with its hash: %s', async (words, option) => {
    await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
    const host = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
    await fill();
    const { errors, progress } = await push({}, { options: option });
    expect(errors).toEqual(['push rejected: rate limit exceeded']);
    expect(progress.join('\n')).toContain(words);
    expect(progress.join('\n')).toContain('With the right pr-hash, this is an update');
    expect(progress.join('\n')).not.toContain('-o wait');
    expect(host).not.toHaveBeenCalled();
  });

  it('for nothing to delete says how to withdraw, also without a place', async () => {
    await fill();
    const { report } = await push({}, { deletes: true });
    expect(report.join()).toContain('to withdraw a pull request, add -o pr-hash and -o pr-key');
  });

  it('for its options is counted as a preview is, before the host is asked', async () => {
    vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(() => {
      asked.push('the host');
      return Promise.reject(new TypeError('no network'));
    });
    vi.spyOn(HttpClient.prototype, 'openAhead').mockResolvedValue();
    await push({}, { options: 'titel=x' });
    const before = asked.slice(0, asked.indexOf('the host'));
    expect(before).toContain('HOST_ACCOUNTS.reserve');
  });

  it('for a wrong pr-key asks nothing about the pull request, where updates need the key', async () => {
    const host = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
    vi.spyOn(HttpClient.prototype, 'openAhead').mockResolvedValue();
    const options = ['pr-hash=0123456789ab', 'pr-key=x'];
    const answer = await push({ PR_UPDATE_POLICY: 'key' }, { options });
    expect(answer.report.join('\n')).toMatch(/^ng .*pr-key must be /m);
    expect(host).not.toHaveBeenCalled();
  });

  it('for its options says so, also if the code host cannot be asked about the rest of it', async () => {
    vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
    vi.spyOn(HttpClient.prototype, 'openAhead').mockResolvedValue();
    const answer = await push({}, { options: 'pr-hash=!' });
    expect(answer.report.join('\n')).toMatch(/^ng .*pr-hash/m);
  });

  it('by its client’s limit of pushes does not reach the account', async () => {
    vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
    const variables = { LIMIT_PUSHES: '1/1h' };
    expect((await push(variables)).errors.join()).not.toContain('too many pushes');
    asked = [];
    expect((await push(variables)).errors).toEqual(['push rejected: too many pushes']);
    expect(asked).toEqual(['GUARD.admit']);
    // From then on, not even the guard, but for the copy of the panic switch, which is two seconds
    // old at most.
    asked = [];
    expect((await push(variables)).errors).toEqual(['push rejected: too many pushes']);
    expect(asked).toEqual(['GUARD.status']);
    expect((await push(variables)).errors).toEqual(['push rejected: too many pushes']);
    expect(asked).toEqual(['GUARD.status']);
    vi.setSystemTime((now += 3_600_000));
    expect((await push(variables)).errors.join()).not.toContain('too many pushes');
  });
});

it('a preview asks what is left to the account before it asks the host: it does so again and again', async () => {
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(() => {
    asked.push('the host');
    return Promise.reject(new TypeError('no network'));
  });
  await push({}, { options: 'preview' });
  expect(asked.slice(0, 4)).toEqual([
    'GUARD.admit',
    'HOST_ACCOUNTS.denial',
    'HOST_ACCOUNTS.reserve',
    'the host',
  ]);
});

const missing = () => Promise.resolve(Response.json({ message: 'Not Found' }, { status: 404 }));

/** Git is asked at another address. */
const API = 'http://127.0.0.1:9/api';
const isCall = (request: unknown) => typeof request === 'string' && request.startsWith(`${API}/`);

const page = (number: number, variables: object = {}) =>
  ask(`/v1/gh/octo/made-up-${number}`, BROWSER, { LIMIT_DISCOVERIES: '10000/1m', ...variables });

describe('a client that has made the service ask the host as often as it may within an hour', () => {
  it(
    'causes no more calls by pages, comments or pushes, until an hour is over; others do',
    exhaustive,
    async () => {
      const host = vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(missing);
      // What pushes of other tests still ask about theirs does not count.
      remote = '/v1/gh/octo/counted';
      const askedAbout = () =>
        host.mock.calls.filter(([request]) => new Request(request as string).url.includes('/octo/counted'));
      const variables = { LIMIT_CALLS: '50/1h' };
      for (let number = 0; number < 40; number++) await page(number, variables);
      expect(host.mock.calls.length).toBeGreaterThan(45);
      // The last page may go on.
      expect(host.mock.calls.length).toBeLessThan(60);
      [asked] = [[]];
      host.mockClear();
      const comment = await postJson('/issues/7/comments/anonymous', { body: 'Hi' }, variables);
      expect(comment.status).toBe(429);
      expect(comment.headers.get('Retry-After')).toBe('3600');
      expect(comment.text).toContain(
        'too many requests to the code host from your network: at most 50 in 1h',
      );
      const pushed = await push(variables);
      expect(pushed.errors).toEqual(['push rejected: too many requests']);
      expect(pushed.progress.join('\n')).toContain('try again in about an hour.');
      await push(variables);
      expect([asked.filter((call) => call !== 'GUARD.status'), askedAbout()]).toEqual([[], []]);
      address += 1;
      await page(301, variables);
      expect(host).toHaveBeenCalled();
      address -= 1;
      vi.setSystemTime((now += 3_600_000));
      host.mockClear();
      await page(302, variables);
      expect(host).toHaveBeenCalled();
    },
  );

  it('causes no more by pages that begin at once', async () => {
    const host = vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(missing);
    const variables = { HOSTING_API_URL: API, LIMIT_CALLS: '50/1h' };
    await Promise.all(Array.from({ length: 120 }, (_, number) => page(1_000 + number, variables)));
    const calls = host.mock.calls.filter(([request]) => isCall(request));
    expect(calls).toHaveLength(50);
  });

  describe('while the host limits reads by address', () => {
    const variables = { HOSTING_API_URL: API, LIMIT_CALLS: '50/1h', LIMIT_DISCOVERIES: '10000/1m' };
    const REPOSITORY = {
      id: 1,
      name: 'known',
      owner: { login: 'octo' },
      private: false,
      archived: false,
      size: 1,
    };
    let host: MockInstance<HttpClient['fetch']>;
    const calls = () => host.mock.calls.filter(([request]) => isCall(request));
    const discover = (name: string, headers = {}, service = 'git-receive-pack') =>
      ask(`/v1/gh/octo/${name}.git/info/refs?service=${service}`, { headers }, variables);

    beforeEach(() => {
      host = vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (request, { headers } = {}) => {
        if (isCall(request)) return Response.json(REPOSITORY);
        const status = new Headers(headers).has('Authorization') ? 404 : 429;
        return new Response('slow down', { status });
      });
    });

    it('causes no more by discoveries, and is told why', async () => {
      for (let number = 0; number < 60; number++) await discover(`limited-${number}`);
      expect(calls()).toHaveLength(50);
      const refused = await discover('last');
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '3600']);
      expect(refused.text).toContain(
        'Too many requests to the code host from your network: at most 50 in 1h; try again in about an hour.',
      );
      // A fetch only asks Git.
      expect((await discover('last', {}, 'git-upload-pack')).text).toContain('slow down');
    });

    it('causes none by discoveries of pages of other sites', async () => {
      for (let number = 0; number < 5; number++)
        expect((await discover(`foreign-${number}`, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(502);
      expect([host.mock.calls.length, calls().length]).toEqual([5, 0]);
    });
  });

  it('is known to other isolates, too', async () => {
    const told: unknown[] = [];
    const CLIENT_WINDOWS = {
      idFromName: () => 'id',
      get: () => ({
        async hit(_client: string, action: string, limits: unknown) {
          if (action === 'calls') told.push(limits);
          return { allowed: true, attempts: 1, waitMs: action === 'calls' ? 60_000 : 0 };
        },
      }),
    };
    vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(missing);
    const variables = { LIMIT_DISCOVERIES: '10000/1m', CLIENT_WINDOWS };
    for (let number = 0; number < 15; number++) await ask(`/v1/gh/octo/other-${number}`, BROWSER, variables);
    expect(told).toEqual([[{ most: 25, withinMs: 3_600_000 }]]);
    expect((await push(variables)).errors).toEqual(['push rejected: too many requests']);
  });
});

describe('when a third of the calls of the account is left', () => {
  it('pages ask the host nothing more until it counts anew, and people write', async () => {
    const reset = String(Math.floor(now / 1000) + 1200);
    const headers = {
      'X-RateLimit-Limit': '5000',
      'X-RateLimit-Remaining': '1600',
      'X-RateLimit-Reset': reset,
    };
    const host = vi
      .spyOn(HttpClient.prototype, 'fetch')
      .mockImplementation(async () => Response.json({ message: 'Not Found' }, { status: 404, headers }));
    await page(401);
    expect(host).toHaveBeenCalled();
    host.mockClear();
    for (let number = 402; number < 412; number++) expect((await page(number)).status).toBeLessThan(500);
    expect(host).not.toHaveBeenCalled();
    const threads = new FakeThreads();
    expect((await WRITES['a comment']!()).status).toBe(200);
    expect(threads.comments).toHaveLength(1);
    vi.setSystemTime((now += 1_200_000));
    threads.requests.length = 0;
    await page(412);
    expect(threads.requests).not.toEqual([]);
  });
});

describe('when ten networks have spent most calls of the account', exhaustive, () => {
  it('they wait, and the rest is for others who push and comment', async () => {
    address += 1;
    const reset = String(Math.floor(now / 1000) + 1200);
    let left = '4000';
    vi.spyOn(HttpClient.prototype, 'openAhead').mockResolvedValue();
    const host = vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async () => {
      const limits = {
        'X-RateLimit-Limit': '5000',
        'X-RateLimit-Remaining': left,
        'X-RateLimit-Reset': reset,
      };
      return Response.json({ message: 'Not Found' }, { status: 404, headers: limits });
    });
    for (let number = 0; number < 70; number++) await page(500 + number);
    expect(host.mock.calls.length).toBeGreaterThan(100);
    left = '1600';
    address += 1;
    await page(599);
    expect((await push()).errors).not.toEqual(['push rejected: too many requests']);
    address -= 1;
    expect((await push()).errors).toEqual(['push rejected: too many requests']);
    expect((await postJson('/issues/7/comments/anonymous', { body: 'Hi' })).status).toBe(429);
    vi.setSystemTime((now += 1_200_000));
    expect((await push()).errors).not.toEqual(['push rejected: too many requests']);
  });
});

describe('what a client has caused', () => {
  it('is told to its window, although the calls of another client have become too old to count', async () => {
    const told: string[] = [];
    const CLIENT_WINDOWS = {
      idFromName: () => 'id',
      get: () => ({
        async hit(_client: string, action: string) {
          if (action === 'calls') told.push(action);
          return { allowed: true, attempts: 1, waitMs: 0 };
        },
      }),
    };
    vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(missing);
    let count = 0;
    const pages = async (number: number) => {
      for (let left = number; left > 0; left--)
        await ask(`/v1/gh/octo/seen-${count++}`, BROWSER, { LIMIT_DISCOVERIES: '10000/1m', CLIENT_WINDOWS });
    };
    await pages(1);
    address += 1;
    vi.setSystemTime((now += 50 * 60_000));
    await pages(3);
    expect(told).toEqual([]);
    // Now the first one is forgotten.
    vi.setSystemTime((now += 20 * 60_000));
    await pages(3);
    expect(told).toEqual(['calls']);
  });
});

/** Tells what a push may do in the name of the account, when nobody can ask how much that is. */
async function take(creates: boolean): Promise<string> {
  address += 1;
  const variables = { HOST_ACCOUNTS: UNREACHABLE };
  const refusal = await admitted(`198.51.100.${address}`, variables, async (admission) =>
    creates
      ? (await admission.slot(`push ${address}`)).take({ owner: 'octo', name: 'hello' }, [])
      : admission.takeQuota(),
  );
  return refusal === null ? 'ok' : [refusal.reason, ...refusal.lines].join('\n');
}

it('a push while the account cannot be asked opens nothing, as its client may have had all, and may update', async () => {
  expect(await take(true)).toBe(
    'the service cannot check its limits\nNothing was changed. Push again in a few minutes.',
  );
  expect(await take(false)).toBe('ok');
});

const ANOTHER = { ref: 'refs/heads/another' };

async function refusedOnes(count: number): Promise<void> {
  for (let left = count; left > 0; left--) {
    const { errors, progress } = await push({}, ANOTHER);
    expect(errors).toEqual(['push rejected: rate limit exceeded']);
    expect(progress.join('\n')).toContain('Rate limit exceeded: max 5 PRs per hour per IP.');
  }
}

const refusals = () => asked.filter((call) => call === 'HOST_ACCOUNTS.denial').length;

describe('a push of a client that has no place left', () => {
  beforeEach(() => {
    vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
    vi.spyOn(HttpClient.prototype, 'openAhead').mockResolvedValue();
  });
  it(
    'asks the account once in a minute, and the guard as often as it must know to see a burst',
    exhaustive,
    async () => {
      await fill();
      await refusedOnes(50);
      expect(refusals()).toBe(1);
      // The first one, which the account refuses, and as many as make a burst.
      expect(asked.filter((call) => call === 'GUARD.admit')).toHaveLength(21);
      expect(asked.filter((call) => !/\.denial$|GUARD.(?:admit|status)/.test(call))).toEqual(['GUARD.tell']);
      [asked] = [[]];
      vi.setSystemTime((now += 60_000));
      // Forgotten: it comes to the account, which refuses it.
      expect((await reserve('f'))?.reason).toBe('rate limit exceeded');
      await refusedOnes(1);
      expect(refusals()).toBe(0);
    },
  );

  it('goes on if it is repeated and has a place, as long as it was not answered', async () => {
    await fill(['a', 'b', 'c', 'd']);
    const variables = { LIMIT_PUSHES: '100/1m' };
    expect(await reserve('answered')).toBeNull();
    for (let count = 0; count < 3; count++)
      expect((await push(variables, ANOTHER)).errors.join()).toContain('limit');
    expect(await reserve('answered')).toBeNull();
    expect((await reserve('answered', true))?.reason).toBe('rate limit exceeded');
  });

  it('asks again if a place was given back while the account said that there is none', async () => {
    await fill(['a', 'b', 'c', 'd']);
    const released = Promise.withResolvers<void>();
    const releasing = Promise.withResolvers<void>();
    const accounts = bindings.HOST_ACCOUNTS as unknown as DurableObjectNamespace;
    const HOST_ACCOUNTS = {
      idFromName: (name: string) => accounts.idFromName(name),
      get: (id: DurableObjectId) => {
        const stub = accounts.get(id) as unknown as Methods;
        return {
          reserve: (...values: unknown[]) => stub['reserve']?.(...values),
          async release(...values: unknown[]) {
            releasing.resolve();
            await released.promise;
            return stub['release']?.(...values);
          },
        };
      },
    };
    const variables = { ...SECRETS, HOST_ACCOUNTS };
    const failed = admitted(`198.51.100.${address}`, variables, async (admission) => {
      const slot = await admission.slot('failed');
      await slot.settle(false);
      await slot.release();
    });
    await releasing.promise;
    expect((await reserve('next'))?.reason).toBe('rate limit exceeded');
    released.resolve();
    expect(await failed).toBeNull();
    expect(await reserve('next')).toBeNull();
  });

  it('is told of panic before the account is asked', async () => {
    await fill();
    const guard = bindings.GUARD.get(bindings.GUARD.idFromName('guard'));
    await guard.setPanic(true, { kind: 'password' });
    const { errors } = await push({ HOST_ACCOUNTS: UNREACHABLE }, ANOTHER);
    expect(errors).toEqual(['push rejected: service temporarily suspended']);
    await guard.setPanic(false, { kind: 'password' });
  });

  it('is told of panic first, as is one over another limit', exhaustive, async () => {
    await fill();
    for (let count = 0; count < 25; count++) await push({}, ANOTHER);
    expect((await push({}, ANOTHER)).errors).toEqual(['push rejected: rate limit exceeded']);
    const guard = bindings.GUARD.get(bindings.GUARD.idFromName('guard'));
    await guard.setPanic(true, { kind: 'password' });
    vi.setSystemTime((now += 2_000));
    const { errors, progress } = await push({}, ANOTHER);
    expect(errors).toEqual(['push rejected: service temporarily suspended']);
    expect(progress).toContain('SERVICE TEMPORARILY SUSPENDED');
    await guard.setPanic(false, { kind: 'password' });
    const few = { LIMIT_PUSHES: '1/1h' };
    address += 1;
    await push(few);
    await push(few);
    vi.setSystemTime((now += 2_000));
    expect((await push(few)).errors).toEqual(['push rejected: too many pushes']);
    await guard.setPanic(true, { kind: 'password' });
    vi.setSystemTime((now += 2_000));
    expect((await push(few)).errors).toEqual(['push rejected: service temporarily suspended']);
    await guard.setPanic(false, { kind: 'password' });
  });
});
