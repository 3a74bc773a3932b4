/** A request that is sent again has its names for a day, and nobody else's request has them. */
import { expect, it } from 'vitest';
import { namesAt } from '../../../src/routes/git/sent-before.ts';

const HOUR_MS = 3_600_000;
const KEY = '0123456789abcdef';
const SENT = ['network', '/v1/gh/octo/hello/bundle', 'content'];
const secret = 's'.repeat(32);
const names = (hours: number, key = KEY, sent = SENT) => namesAt(secret, key, sent, hours * HOUR_MS);

it('keeps its names for twelve hours, and finds them for as long again', () => {
  const [, now] = names(24);
  expect(now).toMatchObject({
    prHash: expect.stringMatching(/^(?=.*[a-f])[0-9a-f]{12}$/),
    delayed: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(names(35.9)[1]).toEqual(now);
  expect(names(36)[0]).toEqual(now);
  expect(names(47.9)[0]).toEqual(now);
  expect(names(48)).not.toContainEqual(now);
});

it.each([
  ['another key', 'f'.repeat(16), SENT],
  ['another network', KEY, ['elsewhere', ...SENT.slice(1)]],
  ['another repository', KEY, ['network', '/v1/gh/octo/other/bundle', 'content']],
  ['other content', KEY, [...SENT.slice(0, 2), 'more']],
])('has other names for %s', (_, key, sent) => {
  const all = [...names(24), ...names(24, key, sent)].flatMap((each) => Object.values(each) as string[]);
  expect(new Set(all).size).toBe(all.length);
});
