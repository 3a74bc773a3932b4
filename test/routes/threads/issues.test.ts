/** Anonymous issues (contract, 4.3 and section 7). */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeThreads } from '../../durable/support/fake-threads.ts';
import { holdClock } from '../../support/clock.ts';
import { type Call, post } from '../support/json-caller.ts';

let host: FakeThreads;

const open = (payload: unknown, more: Partial<Call> & { on?: string } = {}) => {
  const { on = 'octo/hello', ...call } = more;
  return post(`/v1/gh/${on}/issues/anonymous`, { payload, ...call });
};

beforeEach(() => {
  host = new FakeThreads();
  holdClock();
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('an issue is refused', () => {
  const FOOTER = "*The original author's identity has been anonymized.*";
  it.each<[what: string, payload: unknown, message: unknown]>([
    ['a NUL in the title', { title: 'T\0', body: 'Words' }, 'title must not contain NUL characters'],
    [
      'an open comment',
      { title: 'T', body: '<!--' },
      expect.stringContaining('comment or block is never closed'),
    ],
    [
      'a footer',
      { title: 'T', body: FOOTER },
      expect.stringContaining("line that looks like the service's footer"),
    ],
    ['a long title', { title: 'x'.repeat(257), body: 'Words' }, 'title must have at most 256 characters'],
  ])('with %s, and the host is not asked', async (_, payload, message) => {
    expect(await open(payload)).toMatchObject({ status: 400, body: { error: message } });
    expect(host.requests).toEqual([]);
  });

  it('when body and footer are longer than the host takes', async () => {
    const { status, body } = await open({ title: 'Title', body: 'x'.repeat(65_536) });
    const [, limit] = /^body must have at most (\d+) characters$/.exec(body['error'] as string) ?? [];
    expect(status).toBe(400);
    expect((await open({ title: 'Title', body: 'x'.repeat(Number(limit)) })).status).toBe(200);
  });

  it('about a name that is none', async () => {
    const { status, body } = await open({ title: 'Title', body: 'Words' }, { on: 'octo/he%2fllo' });
    expect(status).toBe(400);
    expect(body['error']).toContain('letters, digits');
  });

  it.each([
    [404, {}, 400, 'failed to create issue: 404 Not Found'],
    [410, {}, 400, 'failed to create issue: 410 Gone'],
    [403, {}, 400, 'failed to create issue: 403 Forbidden'],
    [
      429,
      { 'retry-after': '60' },
      503,
      '127.0.0.1:9 asks to slow down; the issue was not created: try again later',
    ],
  ])('as the host does, with %i', async (hostStatus, headers, status, message) => {
    host.disturb = ({ method }) =>
      method === 'POST' ? Response.json({}, { status: hostStatus, headers }) : undefined;
    // Accounts of their own: one that is to slow down is left alone.
    const variables = { HOSTING_TOKEN: `bot-that-meets-${hostStatus}` };
    const answer = await open({ title: 'Title', body: 'Words' }, { variables });
    expect(answer).toMatchObject({ status, body: { error: message } });
  });

  it('when the answer is lost, and whoever sends it again with its key is told', async () => {
    host.disturb = ({ method }) => {
      if (method === 'POST') throw new TypeError('the connection is gone');
      return undefined;
    };
    const call = {
      variables: { HOSTING_TOKEN: 'bot-whose-answers-are-lost' },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    };
    const send = () => open({ title: 'Title', body: 'Words' }, call);
    expect(await send()).toMatchObject({ status: 502, code: 'may-exist' });
    host.disturb = () => undefined;
    const again = await send();
    expect(again).toMatchObject({ status: 409, code: 'may-exist' });
    expect(again.body['error']).toMatch(/before you send it with another key$/);
  });

  it('when the answer is lost, once: nobody wants it twice', async () => {
    host.loseAnswer = ({ method }) => (method === 'POST' ? Response.json({}, { status: 502 }) : undefined);
    const { status, body } = await open({ title: 'Title', body: 'Words' });
    expect(status).toBe(502);
    expect(body['error']).toContain('look there before you try again');
    expect(host.issues).toHaveLength(1);
  });
});
