/** Publishing: what counts as taken. */
import { expect, it, vi } from 'vitest';
import { operatorService, publicService, publishNotification } from '../../src/notify/ntfy.ts';
import { troubleOf, troubleWords } from '../../src/notify/trouble.ts';
import type { Http } from '../../src/outgoing/http-client.ts';
import { OutgoingError } from '../../src/outgoing/outgoing-error.ts';

const NOTE = { topic: 'anon-pr-0123456789ab', title: 'Title', message: 'Text' };
const SERVICE = { notifyBaseUrl: 'https://ntfy.test', notifyToken: null };

/** A server that answers like this; a redirection leads to a page, if it is followed. */
function server(status: number) {
  return {
    fetch: vi.fn<Http['fetch']>(async (_, init) => {
      const isFollowed = status >= 300 && status < 400 && init?.redirect !== 'manual';
      return new Response(null, { status: isFollowed ? 200 : status });
    }),
  };
}

it('is done when the service has taken the message', async () => {
  const http = server(200);
  await publishNotification(http, SERVICE, NOTE);
  expect(http.fetch).toHaveBeenCalledTimes(1);
  const [url, init] = http.fetch.mock.calls[0]!;
  expect(url).toBe('https://ntfy.test/');
  expect(new Headers(init?.headers).has('Authorization')).toBe(false);
});

it.each([301, 302, 307, 429, 503])('is to be done again after the status %i', async (status) => {
  await expect(publishNotification(server(status), SERVICE, NOTE)).rejects.toThrow(String(status));
});

it.each([200, 302, 307])('shows the token to that service alone, also when it answers %i', async (status) => {
  const http = server(status);
  const publishing = publishNotification(http, { ...SERVICE, notifyToken: 'tk_secret' }, NOTE);
  await (status === 200 ? publishing : expect(publishing).rejects.toThrow(/^((?!tk_secret).)*$/));
  const sent = http.fetch.mock.calls.map(([url, init]) => [
    url,
    new Headers(init?.headers).get('Authorization'),
  ]);
  expect(sent).toEqual([['https://ntfy.test/', 'Bearer tk_secret']]);
  expect(http.fetch.mock.calls[0]![1]?.redirect).toBe('manual');
});

it.each([
  ['30', 30_000],
  ['Sun, 22 Nov 2026 06:00:00 GMT', null],
  [null, null],
])('passes on how long the service asks to wait: %s', async (retryAfter, retryAfterMs) => {
  const headers = retryAfter === null ? {} : { 'Retry-After': retryAfter };
  const http = { fetch: async () => new Response(null, { status: 429, headers }) };
  await expect(publishNotification(http, SERVICE, NOTE)).rejects.toMatchObject({ status: 429, retryAfterMs });
});

it('gives the token to the server of the alerts, and to that of the events only if it is the same', () => {
  const [notifyBaseUrl, notifyToken] = ['https://ntfy.test', 'tk_secret'];
  const elsewhere = { notifyBaseUrl, notifyToken, notifyAdminUrl: 'https://alerts.test' };
  expect(publicService(elsewhere)).toEqual({ notifyBaseUrl, notifyToken: null });
  expect(operatorService(elsewhere)).toEqual({ notifyBaseUrl: 'https://alerts.test', notifyToken });
  const same = { notifyBaseUrl, notifyToken, notifyAdminUrl: notifyBaseUrl };
  expect(publicService(same)).toEqual({ notifyBaseUrl, notifyToken });
});

it.each([
  [401, 'refused', 'Set NOTIFY_TOKEN'],
  [403, 'refused', 'Set NOTIFY_TOKEN'],
  [429, 'too-many', 'Set NOTIFY_ADMIN_URL to a server of yours, or NOTIFY_TOKEN'],
  [503, 'failing', 'the status 503'],
])('says what the operator can do about the status %i', async (status, reason, words) => {
  const error = await publishNotification(server(status), SERVICE, NOTE).catch((thrown: unknown) => thrown);
  expect(troubleOf(error)).toEqual({ reason, status });
  // The others of the topic are kept back, too, and not tried one by one.
  expect(error).toHaveProperty('concernsTopic', reason !== 'failing');
  expect(troubleWords('https://ntfy.test:8443', troubleOf(error))).toMatch(/^ntfy\.test:8443 /);
  expect(troubleWords('https://ntfy.test', troubleOf(error))).toContain(words);
});

it.each([
  [new DOMException('', 'TimeoutError'), 'no-answer', 'within ten seconds'],
  [new OutgoingError('unreachable', ''), 'unreachable', 'OUTGOING_FETCH_HOSTS'],
])('says what the operator can do if there is no answer: %o', (error, reason, words) => {
  expect(troubleOf(error)).toEqual({ reason, status: null });
  expect(troubleWords('https://ntfy.test', troubleOf(error))).toContain(words);
});
