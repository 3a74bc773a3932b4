/** Notification topics, as ntfy's documentation describes publishing and polling. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';

type Message = Record<string, unknown>;

let host: Sandbox;
let clock = Date.UTC(2026, 0, 1);

beforeAll(async () => {
  host = await startSandbox({ now: () => new Date(clock) });
});

afterAll(() => host.close());

async function publish(path: string, init: RequestInit): Promise<{ status: number; message: Message }> {
  const response = await fetch(host.notifyUrl + path, { method: 'POST', ...init });
  return { status: response.status, message: await response.json<Message>() };
}

async function poll(topic: string, query = 'poll=1'): Promise<Message[]> {
  const response = await fetch(`${host.notifyUrl}/${topic}/json?${query}`);
  expect(response.headers.get('content-type')).toMatch(/^application\/x-ndjson/);
  const lines = (await response.text()).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Message);
}

async function texts(topic: string, since: string): Promise<unknown[]> {
  const messages = await poll(topic, `poll=1&since=${since}`);
  return messages.map((message) => message['message']);
}

test('keeps a plain message and gives it back', async () => {
  const { status, message } = await publish('/plain', { body: 'Backup done 😀' });
  expect(status).toBe(200);
  const time = Math.floor(clock / 1000);
  expect(message).toEqual({
    id: message['id'],
    time,
    expires: time + 43_200,
    event: 'message',
    topic: 'plain',
    message: 'Backup done 😀',
  });
  expect(message['id']).toMatch(/^[A-Za-z0-9]{12}$/);
  expect(await poll('plain')).toEqual([message]);
  expect((await publish('/plain', { method: 'PUT', body: '' })).message['message']).toBe('triggered');
});

test('reads JSON, with its actions', async () => {
  const actions = [{ action: 'http', label: 'Stop', url: 'https://example.org', method: 'POST', body: '{}' }];
  const { message } = await publish('/', {
    body: JSON.stringify({
      topic: 'json',
      message: 'm',
      title: 't',
      tags: ['a'],
      priority: 5,
      click: 'https://x.y',
      actions,
    }),
  });
  expect(message).toMatchObject({
    topic: 'json',
    message: 'm',
    title: 't',
    tags: ['a'],
    priority: 5,
    actions,
  });
  expect(await poll('json')).toEqual([message]);
});

const sent = (more: object) => JSON.stringify({ topic: 't', message: 'x', ...more });
const view = { action: 'view', label: 'A', url: 'b' };

test.each<[string, string, string, number]>([
  ['a bad topic', '/no.topic', 'x', 40009],
  ['a bad priority', '/', sent({ priority: 6 }), 40007],
  ['a message that is too long', '/t', 'x'.repeat(4097), 40014],
  ['JSON that is none', '/', '{', 40017],
  ['JSON without a topic', '/', '{"message":"x"}', 40009],
  ['an unknown action', '/', sent({ actions: [{ ...view, action: 'dance' }] }), 40018],
  ['an action without an address', '/', sent({ actions: [{ ...view, url: '' }] }), 40018],
  ['four actions', '/', sent({ actions: [view, view, view, view] }), 40018],
])('refuses %s', async (_what, path, body, code) => {
  const { status, message } = await publish(path, { body });
  expect(status).toBe(400);
  expect(message).toMatchObject({ code, http: 400 });
});

test('polls since a message, a time, a duration, and several topics at once', async () => {
  const first = await publish('/since', { body: 'first' });
  clock += 60_000;
  await publish('/since', { body: 'second' });
  await publish('/other', { body: 'third' });
  expect(await texts('since', 'all')).toEqual(['first', 'second']);
  expect(await texts('since', String(first.message['id']))).toEqual(['second']);
  expect(await texts('since', String(clock / 1000))).toEqual(['second']);
  expect(await texts('since', '30s')).toEqual(['second']);
  expect(await texts('since', 'none')).toEqual([]);
  expect(await texts('since,other', 'all')).toEqual(['first', 'second', 'third']);
  expect((await fetch(`${host.notifyUrl}/since/json?poll=1&since=yesterday`)).status).toBe(400);
});
