/**
 * /v1/delayed/<name>: what it tells whom, and its two buttons. What becomes of the push: test/e2e.
 */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DelayedLease, NewDelayedPush } from '../../../src/durable/delayed-pushes/delayed-push.ts';
import type { Env } from '../../../src/env.ts';
import { delayedPushesOf } from '../../../src/objects.ts';
import { prKeyOf } from '../../../src/secret/keyed-hash.ts';
import worker from '../../../src/worker.ts';
import { withoutPauses } from '../../support/timeouts.ts';

const SECRET = 'a secret of at least 32 characters, for tests';
const bindings = { ...(env as unknown as Env), IDENTITY_SECRET: SECRET, SERVICE_URL: 'https://gitveil.test' };
const HOUR_MS = 60 * 60 * 1000;
const NOON = Date.UTC(2030, 0, 1, 12);
const PUBLISHED = { prHash: 'aaaabbbbcccc', url: 'https://host.test/octo/hello/pull/1', isKeyShown: true };
const INTENT = { prHash: 'aaaabbbbcccc', committedAt: 1 };

/** Each test has a push and an address of its own. */
let count = 0;
let lines: string[] = [];

beforeEach(() => {
  count += 1;
  lines = [];
  vi.setSystemTime(NOON);
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
});

afterEach(() => {
  vi.useRealTimers();
});

const nameOf = (number: number): string => number.toString(16).padStart(32, '0');
const object = () => delayedPushesOf(bindings);

async function kept(more: Partial<NewDelayedPush> = {}): Promise<string> {
  const name = nameOf(count);
  const push = {
    name,
    host: 'gh',
    reason: 'delay',
    push: name,
    client: name,
    spool: { attempt: name, rowEnds: [1_000] },
    entryBytes: 500,
    commits: 1,
    keptAt: NOON,
    from: NOON + HOUR_MS,
    to: NOON + 2 * HOUR_MS,
    dueAt: NOON + HOUR_MS,
    until: NOON + 14 * 24 * HOUR_MS,
    ...more,
  } satisfies NewDelayedPush;
  expect(await object().keep(push, [], 1_000_000)).toMatchObject({ kind: 'kept' });
  return name;
}

/** Part of it may be public. */
async function begun(name: string): Promise<DelayedLease> {
  const lease = (await object().publishNow(name)) as DelayedLease;
  await object().begin(lease, { prHash: PUBLISHED.prHash, committedAt: NOON / 1000 });
  return lease;
}

interface Sent {
  readonly action?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A POST if it has an action. Answers as a browser gets it, unless it asks otherwise. */
async function send(name: string, { action, headers }: Sent = {}): Promise<Response> {
  const context = createExecutionContext();
  const request = new Request(`https://gitveil.test/v1/delayed/${name}`, {
    method: action === undefined ? 'GET' : 'POST',
    headers: { Accept: 'text/html', 'CF-Connecting-IP': `198.51.100.${count}`, ...headers },
    ...(action !== undefined && { body: new URLSearchParams({ action }) }),
    redirect: 'manual',
  });
  const response = await worker.fetch(request, bindings, context);
  await waitOnExecutionContext(context);
  return response;
}

const textOf = async (name: string, sent: Sent = {}) => {
  const response = await send(name, sent);
  return `${response.status} ${await response.text()}`;
};
const TERMINAL = { headers: { Accept: '*/*' } };

describe('the page of a delayed push', () => {
  it('tells the window to the minute, that nothing is public, and has two buttons', async () => {
    const name = await kept();
    const response = await send(name);
    expect(response.status).toBe(200);
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(response.headers.get('Referrer-Policy')).toBe('same-origin');
    const page = await response.text();
    expect(page).toContain('between 2030-01-01 13:00 UTC and 2030-01-01 14:00 UTC');
    expect(page).toContain('Nothing of it is public yet.');
    expect(page).toContain('<meta name="robots" content="noindex" />');
    expect(page.match(/<button/g)).toHaveLength(2);
    expect(page).not.toContain('<script');
  });

  it('shows the same in a terminal, with commands in place of buttons', async () => {
    const name = await kept();
    const text = await textOf(name, TERMINAL);
    expect(text).toMatch(/^200 Delayed\nIt will be published between/);
    expect(text).toContain(`curl -d action=publish https://gitveil.test/v1/delayed/${name}\n`);
    expect(text).toContain(`curl -d action=give-up https://gitveil.test/v1/delayed/${name}\n`);
  });

  it('says until when a busy one is tried, and who has to see one first', async () => {
    const name = await kept({ reason: 'busy', until: NOON + 24 * HOUR_MS });
    expect(await textOf(name)).toContain('tries until 2030-01-02 12:00 UTC');
    count += 1;
    const reviewed = await kept({ reason: 'review', dueAt: null });
    const page = await textOf(reviewed);
    expect(page).toContain('The operator of this service looks at it before it is published');
    expect(page).toContain('It waits until 2030-01-15 12:00 UTC');
    expect(page).not.toContain('Publish now');
    await object().approve({ name: reviewed, attempt: reviewed });
    expect(await textOf(reviewed)).not.toContain('The operator');
  });

  it('says why it could not be published yet, and that the service tries again by itself', async () => {
    const name = await kept();
    const lease = (await object().publishNow(name)) as DelayedLease;
    await object().begin(lease, INTENT);
    const failure = {
      kind: 'later',
      said: ['The code host is full.'],
      askedMs: HOUR_MS,
      counts: true,
    } as const;
    await object().failed(lease, failure, NOON);
    const page = await textOf(name);
    expect(page).toContain('The code host is full.');
    expect(page).toContain('tries again by itself');
    expect(page).toContain('Part of it may be public already.');
  });

  it('has hash, key and address once it is published', async () => {
    const name = await kept();
    const notes = ['The host did not take its title.'];
    await object().ended(await begun(name), 'published', notes, PUBLISHED);
    const key = prKeyOf(SECRET, PUBLISHED.prHash);
    const page = await textOf(name);
    for (const part of [PUBLISHED.prHash, key, PUBLISHED.url, `/v1/pr/${PUBLISHED.prHash}`])
      expect(page).toContain(part);
    expect(page).toContain(`It was published as ${PUBLISHED.url}`);
    expect(page).toContain(notes[0]);
    expect(page).not.toContain('is open');
    expect(page).not.toContain('type="submit"');
    expect(page).not.toContain('2030-01-01');
    const inTerminal = await textOf(name, TERMINAL);
    expect(inTerminal).toContain(`PR key:   ${key}\n`);
    const last = `PR URL:   ${PUBLISHED.url}\nWhoever opens it early looks like its author there.\n`;
    expect(inTerminal.endsWith(last)).toBe(true);
  });

  it('has no key for who has updated a pull request without it', async () => {
    const name = await kept();
    await object().ended(await begun(name), 'published', [], { ...PUBLISHED, isKeyShown: false });
    const page = await textOf(name);
    expect(page).toContain(PUBLISHED.url);
    expect(page).not.toContain(prKeyOf(SECRET, PUBLISHED.prHash));
  });

  it('is not there for a name that nobody has, and says what to do', async () => {
    for (const name of [nameOf(0xdead), 'short', nameOf(0xabc).toUpperCase()]) {
      const page = await textOf(name);
      expect(page).toMatch(/^404 /);
      expect(page).toContain('Copy the whole address from the answer to the push.');
    }
    expect(await textOf('short', TERMINAL)).toMatch(/^404 No such delayed push\./);
    expect((await send(nameOf(0xdead), { action: 'publish' })).status).toBe(404);
  });
});

describe('its buttons', () => {
  it('publish it now, once', async () => {
    const name = await kept();
    const response = await send(name, { action: 'publish' });
    expect(response.status).toBe(303);
    expect(response.headers.get('Location')).toBe(`/v1/delayed/${name}`);
    expect(await textOf(name)).toContain('It is being published now.');
    const again = await textOf(name, { action: 'publish' });
    expect(again).toMatch(/^409 /);
    expect(again).toContain('The service is at work on it, so nothing was done.');
  });

  it('give it up, once', async () => {
    const name = await kept();
    expect((await send(name, { action: 'give-up' })).status).toBe(303);
    expect(await textOf(name)).toContain('You have given it up.');
    expect(await textOf(name, { action: 'give-up' })).toContain('It does not wait any more');
    expect(await textOf(name, { action: 'publish' })).toContain('It does not wait any more');
  });

  it('do not give it up while it is being published', async () => {
    const name = await kept();
    await object().publishNow(name);
    expect(await textOf(name, { action: 'give-up' })).toMatch(/^409 [^]*at work on it, so nothing/);
  });

  it('do not publish what the operator has to see, but what was just tried', async () => {
    const name = await kept({ reason: 'review', dueAt: null });
    expect(await textOf(name, { action: 'publish' })).toMatch(/^409 [^]*The operator looks at it/);
    count += 1;
    const tried = await kept();
    const failure = { kind: 'later', said: ['Full.'], askedMs: HOUR_MS, counts: true } as const;
    await object().failed((await object().publishNow(tried)) as DelayedLease, failure, NOON);
    expect(await textOf(tried)).toContain('tries again by itself');
    expect((await send(tried, { action: 'publish' })).status).toBe(303);
    expect(await textOf(tried)).toContain('It is being published now.');
  });

  it('say so if what is at the host could not be removed', async () => {
    const pauses = withoutPauses();
    const name = await kept();
    await object().begin((await object().publishNow(name)) as DelayedLease, INTENT);
    vi.setSystemTime(NOON + HOUR_MS);
    const page = await textOf(name, { action: 'give-up' });
    expect(page).toMatch(/^409 /);
    // None after the last of three attempts: nobody waits for nothing.
    expect(pauses).toEqual([500, 1000]);
    expect(page).toContain('could not be removed');
    expect(await object().view(name)).toMatchObject({ state: 'waiting', isBeingPublished: false });
    const later = await textOf(name);
    expect(later).toContain('Press “Give up” again to remove that.');
    expect(later).not.toContain('Publish now');
    expect(later).not.toContain('operator');
  });

  it('take no form of another site, and no other form', async () => {
    const name = await kept();
    for (const headers of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'https://elsewhere.test' },
      { Origin: 'null' },
    ]) {
      expect((await send(name, { action: 'give-up', headers })).status).toBe(403);
    }
    const headers = { 'Content-Type': 'application/json' };
    expect((await send(name, { action: 'give-up', headers })).status).toBe(400);
    expect((await send(name, { action: 'else' })).status).toBe(400);
    expect(await object().view(name)).toMatchObject({ state: 'waiting' });
  });
});

it('leaves no name in the log or in the metrics', async () => {
  const name = await kept();
  await send(name);
  await send(name, { action: 'publish' });
  await send(name, { action: 'give-up' });
  const metrics = await worker.fetch(
    new Request('https://gitveil.test/metrics', { headers: { Accept: 'text/plain' } }),
    bindings,
    createExecutionContext(),
  );
  expect(lines.join('\n')).not.toContain(name);
  expect(await metrics.text()).not.toContain(name);
});
