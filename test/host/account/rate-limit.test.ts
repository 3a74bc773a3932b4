/** How long an answer asks to be left alone, and that all calls of the account do. */
import { describe, expect, it } from 'vitest';
import { AccountBackOff, type PauseBoard } from '../../../src/host/account/account-back-off.ts';
import { GitHubRepositories } from '../../../src/host/github/repositories.ts';
import { GITHUB_RULES } from '../../../src/host/github/account-rules.ts';
import { pauseAskedBy } from '../../../src/host/account/rate-limit.ts';
import { SmartHttp } from '../../../src/host/git/smart-http.ts';
import { ACCOUNT } from '../support/back-off.ts';
import { API, json, PatientClock, ScriptedHost } from '../support/scripted-host.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const NOW = Date.parse('2026-11-22T12:00:00Z');
/** The host's clock is five minutes ahead. */
const HOST_DATE = 'Sun, 22 Nov 2026 12:05:00 GMT';
const HOST_SECONDS = Date.parse(HOST_DATE) / 1000;

const SECONDARY = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';

function pause(status: number, headers: Record<string, string> = {}, text = ''): number | null {
  const all = new Headers(headers);
  return pauseAskedBy({ status, header: (name) => all.get(name), text }, NOW, GITHUB_RULES.limitText);
}

describe('an answer', () => {
  it.each([
    ['seconds', { 'Retry-After': '30' }, 30 * SECOND_MS],
    ['a date by the host’s clock', { 'Retry-After': HOST_DATE, Date: HOST_DATE }, SECOND_MS],
    ['no time at all', { 'Retry-After': '0' }, SECOND_MS],
    ['a time that has passed', { 'Retry-After': '-5' }, SECOND_MS],
    ['a year', { 'Retry-After': '31536000' }, 60 * MINUTE_MS],
    [
      'until the next hour',
      { Date: HOST_DATE, 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(HOST_SECONDS + 600) },
      10 * MINUTE_MS,
    ],
    [
      'until an hour that never comes',
      { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '99999999999' },
      60 * MINUTE_MS,
    ],
    ['until nobody knows when', { 'X-RateLimit-Remaining': '0' }, MINUTE_MS],
    ['nonsense', { 'Retry-After': 'soon', 'X-RateLimit-Remaining': '0' }, MINUTE_MS],
  ])('that asks for %s is heeded', (_, headers, ms) => {
    expect(pause(429, headers)).toBe(ms);
    expect(pause(403, headers)).toBe(ms);
  });

  it.each([
    SECONDARY,
    'You have exceeded a secondary rate limit and have been temporarily blocked from content creation.',
    'You have triggered an abuse detection mechanism. Please wait a few minutes before you try again.',
    'API rate limit exceeded for user ID 1.',
  ])('that says without any header "%s" asks for a minute', (text) => {
    expect(pause(403, {}, text)).toBe(MINUTE_MS);
    expect(pause(403, { 'X-RateLimit-Remaining': '4999' }, text)).toBe(MINUTE_MS);
  });

  it('that refuses for another reason, or does not refuse, asks for nothing', () => {
    expect(pause(403, {}, 'Repository access blocked')).toBeNull();
    expect(pause(403, { 'X-RateLimit-Remaining': '4999', 'X-RateLimit-Reset': '1' }, 'No.')).toBeNull();
    for (const status of [200, 401, 404, 422, 500, 503]) expect(pause(status, {}, SECONDARY)).toBeNull();
    expect(pause(429)).toBe(MINUTE_MS);
  });
});

let accounts = 0;

/** An account, the board that all isolates share, and a host that asks for a pause as often as is said. */
function world({ refusals = 1, board: given = {} }: { refusals?: number; board?: Partial<PauseBoard> } = {}) {
  const clock = new PatientClock();
  const raised: number[] = [];
  let asked = 0;
  let onBoard = 0;
  let left = refusals;
  const board: PauseBoard = {
    hostPause: async () => ((asked += 1), onBoard),
    pauseHost: async (ms) => void raised.push(ms),
    ...given,
  };
  const account = `bot-${(accounts += 1)}`;
  const backOff = new AccountBackOff({
    account,
    hostName: 'host.test',
    board,
    clock,
    limitText: GITHUB_RULES.limitText,
    later: () => {},
  });
  const http = new ScriptedHost(() =>
    left-- > 0 ? json(403, { message: SECONDARY }) : json(200, { id: 1, login: 'bot' }),
  );
  const github = new GitHubRepositories({ apiUrl: API, token: 'secret', http, ...ACCOUNT, backOff, clock });
  const git = new SmartHttp('https://host.test', { token: 'secret', ...ACCOUNT, backOff }, http);
  return {
    clock,
    backOff,
    http,
    github,
    git,
    raised,
    set onBoard(ms: number) {
      onBoard = ms;
    },
    get asked() {
      return asked;
    },
  };
}

const slowDown = { code: 'rate-limited', publicMessage: expect.stringContaining('asks to wait 1 minute.') };

describe('an account that is to slow down', () => {
  it('makes no call before the time is over, by neither interface, and makes calls then', async () => {
    const { clock, http, github, git, raised } = world();
    await expect(github.account()).rejects.toMatchObject(slowDown);
    expect([http.asked.length, raised]).toEqual([1, [MINUTE_MS]]);
    clock.at += 59 * SECOND_MS;
    const repository = { owner: 'o', name: 'r' };
    const push = () => git.post(repository, 'git-receive-pack', 'bot', new Uint8Array(0));
    await expect(push()).rejects.toMatchObject({ code: 'rate-limited' });
    expect(http.asked).toHaveLength(1);
    // What goes out in nobody's name is not the account's.
    await git.post(repository, 'git-upload-pack', 'public', new Uint8Array(0));
    expect(http.asked).toHaveLength(2);
    clock.at += SECOND_MS;
    await push();
    expect(await github.account()).toMatchObject({ login: 'bot' });
  });

  it('is known to the calls of this isolate at once, and to others when they ask', async () => {
    const shared = world();
    await shared.backOff.heed();
    shared.onBoard = 5 * MINUTE_MS;
    // The board was asked a moment ago.
    await shared.backOff.heed();
    expect(shared.asked).toBe(1);
    shared.clock.at += 10 * SECOND_MS;
    await expect(shared.backOff.heed()).rejects.toMatchObject({ pauseMs: 5 * MINUTE_MS });
    expect(shared.asked).toBe(2);
  });

  it('lasts no longer when a clock was set back, and what other isolates know is asked for then', async () => {
    const { clock, github, backOff } = world();
    await expect(github.account()).rejects.toMatchObject(slowDown);
    clock.at -= 24 * 60 * MINUTE_MS;
    expect(backOff.leftMs()).toBe(0);
    await expect(github.account()).resolves.toMatchObject({ login: 'bot' });
    const shared = world();
    await shared.backOff.heed();
    shared.onBoard = 5 * MINUTE_MS;
    shared.clock.at -= 24 * 60 * MINUTE_MS;
    await expect(shared.backOff.heed()).rejects.toMatchObject({ pauseMs: 5 * MINUTE_MS });
    shared.clock.at -= 24 * 60 * MINUTE_MS;
    shared.backOff.learn(MINUTE_MS);
    expect(shared.backOff.leftMs()).toBe(MINUTE_MS);
  });

  it('need not be asked about where someone has just learned it', async () => {
    const shared = world();
    shared.backOff.learn(0);
    await shared.backOff.heed();
    shared.backOff.learn(MINUTE_MS);
    await expect(shared.backOff.heed()).rejects.toMatchObject(slowDown);
    expect(shared.asked).toBe(0);
  });

  it('is not forgotten because the board has not heard of it, or is out of reach', async () => {
    const board = { hostPause: () => Promise.reject(new Error('down')), pauseHost: async () => {} };
    const { backOff, github, clock } = world({ board });
    await expect(github.account()).rejects.toMatchObject(slowDown);
    backOff.learn(0);
    await expect(backOff.heed()).rejects.toMatchObject(slowDown);
    clock.at += MINUTE_MS;
    await backOff.heed();
  });

  it('for some seconds is waited for', async () => {
    const clock = new PatientClock();
    const answers = [json(429, {}, { 'Retry-After': '3' }), json(200, { id: 1, login: 'bot' })];
    const http = new ScriptedHost(() => answers.shift() as Response);
    const board = { hostPause: async () => 0, pauseHost: async () => {} };
    const account = `bot-${(accounts += 1)}`;
    const backOff = new AccountBackOff({
      account,
      hostName: 'host.test',
      board,
      clock,
      limitText: GITHUB_RULES.limitText,
      later: () => {},
    });
    const github = new GitHubRepositories({ apiUrl: API, token: 'secret', http, ...ACCOUNT, backOff, clock });
    expect(await github.account()).toMatchObject({ login: 'bot' });
    expect(clock.slept).toEqual([3 * SECOND_MS]);
  });
});
