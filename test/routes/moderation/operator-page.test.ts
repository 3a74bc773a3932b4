/**
 * /admin, and the endpoint beside it: whether alerts arrive, and a test alert from the service
 * itself.
 */
import {
  createExecutionContext,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HostConfig } from '../../../src/config/hosts.ts';
import { configOf } from '../../../src/config/configured.ts';
import { SqlStances } from '../../../src/durable/notification-feed/stances.ts';
import type { Env } from '../../../src/env.ts';
import { accountOf } from '../../../src/host-access.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import { feedOf, guardOf } from '../../../src/objects.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import worker from '../../../src/worker.ts';
import { REPOSITORY } from '../../host/support/repository.ts';
import { deleteObjects } from '../../support/all-objects.ts';

const PASSWORD = 'correct horse battery staple';
const TOPIC = { NOTIFY_ADMIN_TOPIC: 'operator', NOTIFY_ADMIN_URL: 'https://ntfy.test' };
const bindings = {
  ...(env as unknown as Env),
  PANIC_PASSWORD: PASSWORD,
  SERVICE_URL: 'https://gitveil.test',
  ...TOPIC,
} satisfies Env;

const guard = () => guardOf(bindings);

/** Gives the object its variables. */
async function configureGuard(variables: Partial<Env> = {}): Promise<void> {
  await runInDurableObject(guard(), (instance) => {
    Object.assign(instance, { env: { ...bindings, ...variables } });
  });
}

let address = 0;
let published: { title: string }[];
let status: number;

beforeEach(async () => {
  address += 1;
  published = [];
  status = 200;
  // Ahead of the clock: by itself no alarm goes off within a test.
  vi.setSystemTime(new Date('2046-11-28T12:00:00Z'));
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(async (_url, init) => {
    if (status === 200) published.push(JSON.parse(init?.body as string));
    return new Response(null, { status });
  });
  await configureGuard();
});

afterEach(async () => {
  vi.useRealTimers();
  await deleteObjects(0);
});

interface Sent {
  readonly body?: BodyInit;
  readonly headers?: Readonly<Record<string, string>>;
  readonly variables?: Partial<Env>;
}

/** A POST if it has a body. */
async function send(path: string, { body, headers, variables }: Sent = {}): Promise<Response> {
  const context = createExecutionContext();
  const request = new Request(`https://gitveil.test${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'CF-Connecting-IP': `198.51.100.${address}`, ...headers },
    ...(body !== undefined && { body }),
    redirect: 'manual',
  });
  const response = await worker.fetch(request, { ...bindings, ...variables }, context);
  await waitOnExecutionContext(context);
  return response;
}

const noAnswer = () => Promise.reject(new Error('no answer'));

/** The headers of somebody for whom the page is open. */
async function opened(): Promise<{ Cookie: string }> {
  const response = await send('/admin', { body: new URLSearchParams({ password: PASSWORD }) });
  expect(response.status).toBe(303);
  expect(response.headers.get('Location')).toBe('/admin');
  return { Cookie: response.headers.get('Set-Cookie')?.split(';')[0] ?? '' };
}

const ALERT = { kind: 'rate-limit', client: 'client-1', attempts: 6 } as const;
const TEST = { step: 'test-alert' };

describe('/admin', () => {
  it('is closed without the password, and sends nothing', async () => {
    expect(await (await send('/admin')).text()).toContain('PANIC_PASSWORD of this service');
    expect((await send('/admin', { body: new URLSearchParams({ password: 'guess' }) })).status).toBe(401);
    expect((await send('/admin', { body: new URLSearchParams(TEST) })).status).toBe(401);
    expect(published).toEqual([]);
  });

  it('opens what waits for review, too', async () => {
    const headers = await opened();
    expect(await (await send('/admin', { headers })).text()).toContain('href="/admin/delayed"');
    expect(await (await send('/admin/delayed', { headers })).text()).toContain('No push waits.');
  });

  it('says first what needs attention, and what ends it', async () => {
    const headers = await opened();
    expect(await (await send('/admin', { headers })).text()).toContain('Nothing needs your attention');
    await guard().setPanic(true, { kind: 'password' }, 'all');
    const read = configOf(bindings);
    const [host] = read.kind === 'valid' ? read.config.hosts : [];
    const place = { hostName: 'github.com', variable: 'HOSTING_TOKEN' };
    await guard().tokenProblems(accountOf(host as HostConfig), place, ['suspended']);
    await guard().tokenProblems(`${accountOf(host as HostConfig)}:app`, place, ['app-permission']);
    forgetEverything();
    const html = await (await send('/admin', { headers })).text();
    const order = [
      'has suspended the bot account',
      'has not granted the App all permissions',
      'Pushes are rejected.',
      'Comments and issues are refused.',
    ];
    const places = order.map((words) => html.indexOf(words));
    expect(places).toEqual(places.filter((at) => at > 0).toSorted((a, b) => a - b));
    expect(html.indexOf('id="attention"')).toBeLessThan(html.indexOf('id="alerts"'));
    expect(html).toContain('"active": false');
  });

  it('opens while the switches and what waits cannot be read', async () => {
    const headers = await opened();
    const dead = { idFromName: () => '', get: () => ({ counts: noAnswer }) };
    const variables = { DELAYED_PUSHES: dead as unknown as Env['DELAYED_PUSHES'] };
    const response = await send('/admin', { headers, variables });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('What waits cannot be read now.');
  });

  it('lists the repositories whose maintainers have said stop', async () => {
    const headers = await opened();
    expect(await (await send('/admin', { headers })).text()).toContain('None.');
    await runInDurableObject(feedOf(bindings, 'gh'), (_, { storage }) => {
      const stop = { word: 'stop', at: Date.parse('2026-11-27T10:00:00Z'), saidBy: 2, since: 1 } as const;
      new SqlStances(storage.sql).setStance(REPOSITORY, 0, stop);
    });
    const html = await (await send('/admin', { headers })).text();
    expect(html).toContain('octo/hello</a>');
    expect(html).toContain('2026-11-27 10:00:00 UTC');
  });

  it('opens while nothing is known of what maintainers have said', async () => {
    const dead = { idFromName: () => '', get: () => ({ stopped: noAnswer }) };
    const variables = { NOTIFICATION_FEED: dead as unknown as Env['NOTIFICATION_FEED'] };
    const response = await send('/admin', { headers: await opened(), variables });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('Not known now.');
  });

  it('says since when and why alerts do not arrive, until one does', async () => {
    const headers = await opened();
    const page = async () => (await send('/admin', { headers })).text();
    const test = async () => (await send('/admin', { headers, body: new URLSearchParams(TEST) })).text();
    expect(await page()).toContain('No alert has failed');
    status = 429;
    await guard().tell(ALERT);
    await runDurableObjectAlarm(guard());
    vi.setSystemTime(Date.now() + 60_000);
    const failed = await test();
    expect(failed).toContain(
      'The test alert was not taken. ntfy.test takes no more messages for now (status 429).',
    );
    for (const html of [failed, await page()]) {
      expect(html).toContain('Alerts do not arrive');
      expect(html).toContain('2046-11-28 12:00:00 UTC');
      expect(html).toContain('<dd>1 alert</dd>');
    }
    status = 200;
    const taken = await test();
    expect(taken).toContain('ntfy.test has taken the test alert.');
    expect(taken).toContain('No alert has failed');
    expect(published.map(({ title }) => title)).toEqual(['A test alert']);
  });

  it('says that nobody is told without a topic', async () => {
    const headers = await opened();
    const html = await (await send('/admin', { headers, variables: { NOTIFY_ADMIN_TOPIC: '' } })).text();
    expect(html).toContain('Nobody is told of a flood: NOTIFY_ADMIN_TOPIC is not set.');
    expect(html).not.toContain('Send a test alert');
  });

  it('takes no other form, and none of another site', async () => {
    const headers = await opened();
    expect((await send('/admin', { headers, body: new URLSearchParams({ step: 'x' }) })).status).toBe(400);
    const foreign = { ...headers, 'Sec-Fetch-Site': 'cross-site' };
    expect((await send('/admin', { headers: foreign, body: new URLSearchParams(TEST) })).status).toBe(403);
  });
});

async function ask(password = PASSWORD): Promise<[status: number, body: unknown]> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await send('/admin/test-alert', { headers, body: JSON.stringify({ password }) });
  return [response.status, await response.json()];
}

describe('POST /admin/test-alert', () => {
  it('has the service send one', async () => {
    expect(await ask()).toEqual([200, { sent: true }]);
    expect(published).toHaveLength(1);
  });

  it('says why it was not sent', async () => {
    status = 403;
    const problem =
      'ntfy.test refuses the messages (status 403). Set NOTIFY_TOKEN to a token that may write to the topic.';
    expect(await ask()).toEqual([200, { sent: false, problem }]);
    await configureGuard({ NOTIFY_ADMIN_TOPIC: '' });
    expect(await ask()).toEqual([200, { sent: false, problem: 'NOTIFY_ADMIN_TOPIC is not set.' }]);
  });

  it('needs the password, and counts like the operator’s other endpoints', async () => {
    for (let attempt = 1; attempt <= 10; attempt++) expect((await ask('guess'))[0]).toBe(401);
    expect((await ask())[0]).toBe(429);
    expect(published).toEqual([]);
  });
});
