/** An account that is asked to slow down is left alone by all its calls. */
import { describe, expect, it } from 'vitest';
import { AccountBackOff, type PauseBoard } from '../../../src/host/account/account-back-off.ts';
import { openRepositories } from '../../../src/host/open.ts';
import { SECONDARY_LIMIT } from '../../../sandbox/known-answers.ts';
import { SmartHttp } from '../../../src/host/git/smart-http.ts';
import { ACCOUNT } from '../support/back-off.ts';
import { API, json, PatientClock, ScriptedHost } from '../support/scripted-host.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

let accounts = 0;

/** A bot of its own, at a host that knows it. */
function bot(board: PauseBoard, clock: PatientClock, http: ScriptedHost) {
  const account = `bot-${(accounts += 1)}`;
  const backOff = new AccountBackOff({ account, hostName: 'host.test', board, clock, later: () => {} });
  const access = { kind: 'github', apiUrl: API, token: 'secret', http, ...ACCOUNT, backOff, clock } as const;
  return { backOff, github: openRepositories(access) };
}

/**
 * An account, the board that all isolates share, and a host that asks for a pause as often as is
 * said.
 */
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
  const http = new ScriptedHost(() =>
    left-- > 0 ? json(403, SECONDARY_LIMIT.body) : json(200, { id: 1, login: 'bot' }),
  );
  const { backOff, github } = bot(board, clock, http);
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
    await shared.backOff.throwIfPaused();
    shared.onBoard = 5 * MINUTE_MS;
    // The board was asked a moment ago.
    await shared.backOff.throwIfPaused();
    expect(shared.asked).toBe(1);
    shared.clock.at += 10 * SECOND_MS;
    await expect(shared.backOff.throwIfPaused()).rejects.toMatchObject({
      failure: { retryAfterMs: 5 * MINUTE_MS },
    });
    expect(shared.asked).toBe(2);
  });

  it('lasts no longer when a clock was set back, and what other isolates know is asked for then', async () => {
    const { clock, github, backOff } = world();
    await expect(github.account()).rejects.toMatchObject(slowDown);
    clock.at -= 24 * 60 * MINUTE_MS;
    expect(backOff.leftMs()).toBe(0);
    await expect(github.account()).resolves.toMatchObject({ login: 'bot' });
    const shared = world();
    await shared.backOff.throwIfPaused();
    shared.onBoard = 5 * MINUTE_MS;
    shared.clock.at -= 24 * 60 * MINUTE_MS;
    await expect(shared.backOff.throwIfPaused()).rejects.toMatchObject({
      failure: { retryAfterMs: 5 * MINUTE_MS },
    });
    shared.clock.at -= 24 * 60 * MINUTE_MS;
    shared.backOff.learn(MINUTE_MS);
    expect(shared.backOff.leftMs()).toBe(MINUTE_MS);
  });

  it('need not be asked about where someone has just learned it', async () => {
    const shared = world();
    shared.backOff.learn(0);
    await shared.backOff.throwIfPaused();
    shared.backOff.learn(MINUTE_MS);
    await expect(shared.backOff.throwIfPaused()).rejects.toMatchObject(slowDown);
    expect(shared.asked).toBe(0);
  });

  it('is not forgotten because the board has not heard of it, or is out of reach', async () => {
    const board = { hostPause: () => Promise.reject(new Error('down')), pauseHost: async () => {} };
    const { backOff, github, clock } = world({ board });
    await expect(github.account()).rejects.toMatchObject(slowDown);
    backOff.learn(0);
    await expect(backOff.throwIfPaused()).rejects.toMatchObject(slowDown);
    clock.at += MINUTE_MS;
    await backOff.throwIfPaused();
  });

  it('waits twice as long each time when the host goes on refusing, and names no time', async () => {
    const { clock, github, raised } = world({ refusals: 9 });
    const refused = async () => {
      await expect(github.account()).rejects.toMatchObject({ code: 'rate-limited' });
      clock.at += raised.at(-1) ?? 0;
    };
    for (let time = 0; time < 8; time++) await refused();
    expect(raised.map((ms) => ms / MINUTE_MS)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    clock.at += 60 * MINUTE_MS;
    await refused();
    expect(raised.at(-1)).toBe(MINUTE_MS);
  });

  it('waits no longer because several calls were under way', async () => {
    const { github, git, raised, clock } = world({ refusals: 3 });
    const push = () => git.post({ owner: 'o', name: 'r' }, 'git-receive-pack', 'bot', new Uint8Array(0));
    const calls = [github.account(), github.account(), push()];
    const all = await Promise.allSettled(calls);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(raised.every((ms) => ms === MINUTE_MS)).toBe(true);
    clock.at += MINUTE_MS;
    expect(await github.account()).toMatchObject({ login: 'bot' });
  });

  it('for some seconds is waited for', async () => {
    const clock = new PatientClock();
    const answers = [json(429, {}, { 'Retry-After': '3' }), json(200, { id: 1, login: 'bot' })];
    const http = new ScriptedHost(() => answers.shift() as Response);
    const board = { hostPause: async () => 0, pauseHost: async () => {} };
    const { github } = bot(board, clock, http);
    expect(await github.account()).toMatchObject({ login: 'bot' });
    expect(clock.slept).toEqual([3 * SECOND_MS]);
  });
});
