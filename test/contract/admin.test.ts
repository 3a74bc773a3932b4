/** The panic switch and the rollback (contract, 3.2, 3.4, 4.16, 4.17, 5, 7, 8). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { useCodeHost } from './support/code-host.ts';
import { Workplace } from './support/git.ts';
import { bodyOf, change, post, push, type Pushed, RESULT_TYPE } from './support/hand-push.ts';
import { type Answer, CLIENT_HEADER, expectError, inTurns, send } from './support/http.ts';
import { FLUSH, pkt, readReport } from './support/pkt.ts';
import { useService } from './support/service.ts';

const password = 'a password that nobody guesses';

const host = useCodeHost();
const service = useService(() => (port) => ({
  ...host.variables,
  PANIC_PASSWORD: password,
  SERVICE_URL: `http://127.0.0.1:${port}`,
  CLIENT_IP_HEADER: CLIENT_HEADER,
}));
const place = new Workplace();
afterAll(() => place.remove());

let clients = 0;
const newClient = (): string => `203.0.113.${++clients}`;
const remote = (): string => `${service.url}/v1/gh/octo/hello`;

function admin(path: 'panic' | 'rollback', json: unknown, from = newClient()): Promise<Answer> {
  return send(`${service.url}/admin/${path}`, { json, from });
}

async function setPanic(active: boolean): Promise<void> {
  expect((await admin('panic', { password, active })).status).toBe(200);
}

async function opened(): Promise<Pushed> {
  const pushed = await push(remote(), bodyOf(change(await host.tip('octo', 'hello', 'main'))), newClient());
  expect(pushed.prUrl, pushed.progress.join('\n')).not.toBe('');
  return pushed;
}

const openUrls = (): string[] =>
  (host.repositories.get('octo/hello')?.threads ?? [])
    .filter(({ pull, state }) => pull !== null && state === 'open')
    .map(({ number }) => `${host.url}/octo/hello/pull/${number}`);

beforeAll(async () => {
  await host.createRepository('octo', 'hello');
});

const badge = async (): Promise<string> => (await send(`${service.url}/badges/deployed.svg`)).text;

describe('the panic switch', () => {
  it('answers with the new state, and nothing else', async () => {
    const on = await admin('panic', { password, active: true });
    expect(on.status).toBe(200);
    expect(on.json).toEqual({ panic_mode: true, state: 'activated' });
    expect((await send(`${service.url}/api/status`)).json).toEqual({ panic_mode: true });
    const off = await admin('panic', { password, active: false });
    expect(off.status).toBe(200);
    expect(off.json).toEqual({ panic_mode: false, state: 'deactivated' });
    expect((await send(`${service.url}/api/status`)).json).toEqual({ panic_mode: false });
  });

  it('shows on the badge', async () => {
    await setPanic(true);
    expect(await badge()).toMatch(/suspended/i);
    expect(await badge()).toContain('#e05d44');
    expect(await badge()).not.toContain('#0ea5e9');
    await setPanic(false);
    expect(await badge()).not.toMatch(/suspended/i);
    expect(await badge()).toContain('#0ea5e9');
    expect(await badge()).not.toContain('#e05d44');
  });

  it.each([
    {},
    { password: 'wrong' },
    { password: '' },
    { token: '0'.repeat(32) },
    { token: '' },
    { password: 'wrong', token: 'wrong' },
  ])('is not opened by %j', async (credentials) => {
    expectError(await admin('panic', { ...credentials, active: true }), 401, 'invalid credentials');
    expect((await send(`${service.url}/api/status`)).json).toEqual({ panic_mode: false });
  });

  it.each(['', '{', 'null', '[]', '"x"', 'active=true'])(
    'refuses what is no JSON object: %j',
    async (body) => {
      const answer = await send(`${service.url}/admin/panic`, { method: 'POST', body, from: newClient() });
      expectError(answer, 400, 'invalid payload');
    },
  );

  it.each([
    { password, active: 'yes' },
    { password, active: 1 },
    { password: 5, active: true },
    { password, token: 5, active: true },
  ])('refuses a value of another type: %j', async (json) => {
    expectError(await admin('panic', json), 400, 'invalid payload');
    expect((await send(`${service.url}/api/status`)).json).toEqual({ panic_mode: false });
  });

  it('takes ten requests a minute from one address', async () => {
    const from = newClient();
    const statuses: number[] = [];
    for (let count = 0; count < 11; count++)
      statuses.push((await admin('panic', { password: 'wrong', active: true }, from)).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
    expect((await admin('rollback', { password }, from)).status).toBe(429);
  });
});

describe('in panic mode', () => {
  beforeAll(() => setPanic(true));
  afterAll(() => setPanic(false));

  const garbage = pkt('no command at all');
  it.each([
    ['a push', async () => bodyOf(change(await host.tip('octo', 'hello', 'main')))],
    [
      'an update',
      async () => bodyOf(change(await host.tip('octo', 'hello', 'main')), ['pr-hash=0123456789ab']),
    ],
    ['an empty body', () => Buffer.alloc(0)],
    ['a malformed command', () => Buffer.concat([garbage, FLUSH, FLUSH])],
    ['no pkt-lines', () => Buffer.from('what is this?')],
    ['half a pkt-line', () => Buffer.from('00a0half')],
    [
      'commands without a pack',
      async () => {
        const { id } = change(await host.tip('octo', 'hello', 'main'));
        return bodyOf({ id, pack: Buffer.alloc(0) });
      },
    ],
  ])('%s is answered with the suspension', async (_, body) => {
    const before = host.requests.length;
    const answer = await post(remote(), await body(), newClient());
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe(RESULT_TYPE);
    const { progress, errors, report } = readReport(answer.body);
    const lines = progress.filter((line) => line !== '');
    expect(lines[0]).toBe('SERVICE TEMPORARILY SUSPENDED');
    const explanation = lines.slice(1).join(' ');
    expect(explanation).toMatch(/suspended due to detected bot activity sending mass PRs/);
    expect(explanation).toMatch(/retry in 15 minutes/);
    expect(errors).toEqual(['push rejected: service temporarily suspended']);
    expect(report.filter((line) => line.startsWith('ok '))).toEqual([]);
    expect(host.causedSince(before)).toEqual([]);
  });

  it('the probe of Git is no push', async () => {
    const answer = await post(remote(), FLUSH, newClient());
    expect(answer.status).toBe(200);
    expect(answer.body).toHaveLength(0);
  });

  it('Git shows the suspension, and clones', async () => {
    const clone = await place.clone(remote());
    await clone.commit('Not now', { 'not-now.txt': 'x\n' });
    const pushed = await clone.git('push', 'origin', 'HEAD:refs/heads/not-now');
    expect(pushed.code).not.toBe(0);
    expect(pushed.remote).toContain('SERVICE TEMPORARILY SUSPENDED');
    expect(pushed.remote).toContain('push rejected: service temporarily suspended');
    expect(pushed.stderr).toContain('(push rejected: service temporarily suspended)');
  });

  it('everything else goes on', async () => {
    const json = { title: 'a', body: 'b' };
    const answers = await Promise.all([
      send(`${service.url}/health`),
      send(`${service.url}/api/stats`),
      send(`${service.url}/api/recent-prs`),
      send(`${service.url}/metrics`),
      send(`${remote()}/info/refs?service=git-upload-pack`),
      send(`${remote()}/issues/anonymous`, { json, from: newClient() }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { number } = answers[5].json as { number: number };
    const comment = await send(`${remote()}/issues/${number}/comments/anonymous`, {
      json: { body: 'b' },
      from: newClient(),
    });
    expect(comment.status).toBe(200);
  });
});

describe('a rollback', () => {
  beforeEach(async () => {
    // What earlier tests have opened.
    await admin('rollback', { password });
  });

  it('closes every pull request of the last two hours, burst or not', async () => {
    const urls: string[] = [];
    for (let count = 0; count < 3; count++) urls.push((await opened()).prUrl);
    expect(openUrls()).toEqual(urls);
    const answer = await admin('rollback', { password });
    expect(answer.status).toBe(200);
    const { closed_urls } = answer.json as { closed_urls: string[] };
    expect(closed_urls.toSorted()).toEqual(urls.toSorted());
    expect(answer.json).toEqual({ closed: 3, failed: 0, closed_urls, failed_urls: [] });
    expect(openUrls()).toEqual([]);
  });

  it('knows of a pull request as soon as its banner is there', async () => {
    for (let count = 0; count < 3; count++) {
      const { prUrl } = await opened();
      const answer = await admin('rollback', { password });
      expect(answer.json).toEqual({ closed: 1, failed: 0, closed_urls: [prUrl], failed_urls: [] });
    }
  });

  it('names what it could not close', async () => {
    const [first, second] = [await opened(), await opened()];
    const number = second.prUrl.split('/').at(-1);
    host.intercept = ({ method, path }) =>
      method === 'PATCH' && path.endsWith(`/pulls/${number}`)
        ? { status: 403, json: { message: 'Forbidden' } }
        : null;
    try {
      const answer = await admin('rollback', { password });
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({
        closed: 1,
        failed: 1,
        closed_urls: [first.prUrl],
        failed_urls: [second.prUrl],
      });
    } finally {
      host.intercept = () => null;
    }
  });

  it('of nothing closes nothing', async () => {
    const answer = await admin('rollback', { password });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ closed: 0, failed: 0, closed_urls: [], failed_urls: [] });
  });

  it('needs the password', async () => {
    const { prUrl } = await opened();
    for (const json of [{}, { password: 'wrong' }, { password: '' }])
      expect((await admin('rollback', json)).status).toBe(401);
    expect(openUrls()).toEqual([prUrl]);
  });

  it('is taken five times a minute from one address', async () => {
    const from = newClient();
    const statuses: number[] = [];
    for (let count = 0; count < 6; count++)
      statuses.push((await admin('rollback', { password: 'wrong' }, from)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    const others = await inTurns(3, () => admin('rollback', { password: 'wrong' }));
    expect(others.map(({ status }) => status)).toEqual([401, 401, 401]);
  });
});
