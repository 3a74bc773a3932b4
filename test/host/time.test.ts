/** A host's time is read from answers that were just made, and from nothing else. */
import { expect, it } from 'vitest';
import { askTime, timeOf } from '../../src/host/time.ts';
import type { RestAccess } from '../../src/host/rest/rest.ts';

const NOON = Date.UTC(2026, 10, 28, 12);
const TEXT = 'Sat, 28 Nov 2026 12:00:00 GMT';

const read = (headers: Record<string, string>): number | null =>
  timeOf((name) => new Headers(headers).get(name));

it('is the second of the answer', () => {
  expect(read({ Date: TEXT })).toBe(NOON);
  expect(read({ Date: 'Thu, 01 Jan 1970 00:00:00 GMT' })).toBe(0);
});

it.each([
  ['no date', {}],
  ['an answer that a cache has kept', { Date: TEXT, Age: '0' }],
  ['another form of date', { Date: '2026-11-28T12:00:00Z' }],
  ['another zone', { Date: 'Sat, 28 Nov 2026 12:00:00 +0100' }],
  ['no date of any month', { Date: 'Sat, 28 Foo 2026 12:00:00 GMT' }],
  ['two dates', { Date: `${TEXT}, ${TEXT}` }],
  ['nothing', { Date: '' }],
])('is not told by %s', (_, headers) => {
  expect(read(headers)).toBeNull();
});

/** A host that answers so. */
function access(fetch: () => Promise<Response>): RestAccess {
  return {
    kind: 'github',
    apiUrl: 'https://api.host.test',
    token: 'token',
    http: { fetch },
    clock: { now: () => 0, sleep: async () => {} },
    backOff: {
      throwIfPaused: async () => {},
      observe: () => null,
    },
    tokenWatch: { observe: () => {} },
    callMeter: { observe: () => {} },
  };
}

it('is asked for with one call, and told by a refusal as well', async () => {
  let calls = 0;
  for (const status of [200, 401, 404, 503]) {
    const fetch = async () => (calls++, Response.json({ login: 'bot' }, { status, headers: { Date: TEXT } }));
    expect(await askTime(access(fetch))).toBe(NOON);
  }
  expect(calls).toBe(4);
});

it('is unknown where the host does not answer', async () => {
  expect(await askTime(access(() => Promise.reject(new Error('reset'))))).toBeNull();
});
