/**
 * The limit of five pull requests an hour, and the alerts to the operator (contract, 2.9, 4.6, 6,
 * 7, 8).
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Message, type MessageAction, useCodeHost } from './support/code-host.ts';
import { bodyOf, change, post, push, type Pushed, RESULT_TYPE } from './support/hand-push.ts';
import { type Answer, CLIENT_HEADER, expectError, inTurns, send } from './support/http.ts';
import { FLUSH, pkt, readReport } from './support/pkt.ts';
import { touch } from './support/records.ts';
import { useService } from './support/service.ts';

const password = 'a password that stands in no alert';
const TOPIC = 'alerts-of-the-operator';
const LIMIT = /rate limit exceeded/i;
const ACTION_TOKEN = /\b[0-9a-f]{32}\b/g;

const host = useCodeHost();
const service = useService(() => (port) => ({
  ...host.variables,
  PANIC_PASSWORD: password,
  NOTIFY_ADMIN_TOPIC: TOPIC,
  SERVICE_URL: `http://127.0.0.1:${port}`,
  CLIENT_IP_HEADER: CLIENT_HEADER,
}));

const remote = (repository = 'octo/hello'): string => `${service.url}/v1/gh/${repository}`;
let tip = '';

const pushChange = (from: string, options?: readonly string[]): Promise<Pushed> =>
  push(remote(), bodyOf(change(tip), options), from);

/** By their titles. */
const alerts = (title: RegExp): Message[] =>
  host.messagesOn(TOPIC).filter((message) => title.test(message.title ?? ''));
const pulls = (): number => host.repositories.get('octo/hello')?.threads.length ?? 0;

beforeAll(async () => {
  await host.createRepository('octo', 'hello');
  tip = await host.tip('octo', 'hello', 'main');
});

/** Presses a button as the app of the notification service does. */
function press({ url, method = 'POST', headers = {}, body = '' }: MessageAction): Promise<Answer> {
  return send(url, { method, headers, body });
}

const button = (message: Message | undefined, label: RegExp): MessageAction => {
  const found = message?.actions?.find((action) => label.test(action.label));
  if (found === undefined) throw new Error(`no button ${label}: ${JSON.stringify(message)}`);
  return found;
};

function expectButtons(message: Message | undefined): void {
  const buttons = [/^activate panic/i, /close burst prs/i, /deactivate panic/i].map((label) =>
    button(message, label),
  );
  expect(message?.actions).toHaveLength(3);
  for (const { url } of buttons) expect(url.startsWith(`${service.url}/admin/`)).toBe(true);
  const tokens = buttons.map((action) => JSON.stringify(action).match(ACTION_TOKEN) ?? []);
  expect(tokens.map((found) => found.length)).toEqual([1, 1, 1]);
  expect(new Set(tokens.flat()).size).toBe(3);
  expect(JSON.stringify(message)).not.toContain(password);
}

describe('a burst', () => {
  it('from ten addresses within a minute raises an alert with both figures and the same buttons', async () => {
    for (let count = 0; count < 10; count++)
      await post(remote(), bodyOf({ id: change(tip).id, pack: Buffer.alloc(0) }), `198.51.100.${count}`);
    await expect.poll(() => alerts(/burst/i)).toHaveLength(1);
    const [burst] = alerts(/burst/i);
    const text = `${burst?.title}\n${burst?.message}`;
    expect(text).toMatch(/suspicious burst/i);
    expect(text).toMatch(/\b60 ?s/);
    expect(text).toMatch(/\b10\b.*\b10\b/s);
    expectButtons(burst);
  });

  it('has buttons that count beside a wrong password', async () => {
    const off = button(alerts(/burst/i)[0], /deactivate/i);
    const json = { ...(JSON.parse(off.body ?? '') as object), password: 'wrong' };
    expect((await send(off.url, { json })).json).toEqual({ panic_mode: false, state: 'deactivated' });
  });
});

function expectLimited(answer: Answer): void {
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe(RESULT_TYPE);
  const { progress, errors, report } = readReport(answer.body);
  expect(progress.filter((line) => line !== '').slice(0, 2)).toEqual([
    'Rate limit exceeded: max 5 PRs per hour per IP.',
    'Please try again later.',
  ]);
  expect(errors).toEqual(['push rejected: rate limit exceeded']);
  expect(report.filter((line) => line.startsWith('ok '))).toEqual([]);
}

describe('after five pull requests within an hour', () => {
  const client = '192.0.2.77';
  const opened: Pushed[] = [];

  beforeAll(async () => {
    for (let count = 0; count < 5; count++) opened.push(await pushChange(client));
    expect(opened.map(({ prHash }) => prHash)).not.toContain('');
  });

  it('the sixth is refused, and nothing is asked of the host', async () => {
    const [count, asked] = [pulls(), host.requests.length];
    expectLimited(await post(remote(), bodyOf(change(tip)), client));
    expect(pulls()).toBe(count);
    // It may still be looking at what it has opened before.
    const isWork = /git-(?:upload|receive)-pack|\/(?:forks|pulls)$|\/repos\/octo\/hello$/;
    expect(host.requests.slice(asked).filter(({ path }) => isWork.test(path))).toEqual([]);
  });

  it('an alert names the address, the limit and the attempts', async () => {
    await expect.poll(() => alerts(LIMIT)).toHaveLength(1);
    const [alert] = alerts(LIMIT);
    const text = `${alert?.title}\n${alert?.message}`;
    expect(text).toMatch(/rate limit exceeded/i);
    expect(text).toContain(client);
    expect(text).toMatch(/\b5 PRs per hour\b/);
    expect(alert?.message).toMatch(/\b6\b/);
  });

  it.each([
    ['an empty body', () => Buffer.alloc(0)],
    ['a malformed command', () => Buffer.concat([pkt('no command'), FLUSH, FLUSH])],
    ['no pkt-lines', () => Buffer.from('what is this?')],
    ['no pack', () => bodyOf({ id: change(tip).id, pack: Buffer.alloc(0) })],
    ['the hash of nothing', () => bodyOf(change(tip), ['pr-hash=0123456789ab'])],
  ])('%s is refused alike', async (_, body) => {
    expectLimited(await post(remote(), body(), client));
  });

  it('the probe of Git is no push', async () => {
    const answer = await post(remote(), FLUSH, client);
    expect(answer.status).toBe(200);
    expect(answer.body).toHaveLength(0);
  });

  it('an update of an open pull request passes', async () => {
    const [first] = opened as [Pushed];
    const count = pulls();
    const updated = await pushChange(client, [`pr-hash=${first.prHash}`]);
    expect(updated, updated.progress.join('\n')).toMatchObject({ prUrl: first.prUrl, errors: [] });
    expect(pulls()).toBe(count);
  });

  it('an update of a closed one would open another, and does not pass', async () => {
    const { prHash, prUrl } = opened[1] as Pushed;
    const thread = host.repositories.get('octo/hello')?.threads[Number(prUrl.split('/').at(-1)) - 1];
    touch(thread!, { state: 'closed' });
    const count = pulls();
    expectLimited(await post(remote(), bodyOf(change(tip), [`pr-hash=${prHash}`]), client));
    expect(pulls()).toBe(count);
  });

  it('another address is not held up', async () => {
    expect((await pushChange('192.0.2.78')).errors).toEqual([]);
  });
});

describe('the buttons of that alert', () => {
  it('are three, with a token each and without the password', () => {
    expectButtons(alerts(LIMIT)[0]);
  });

  it('activate and deactivate panic, once', async () => {
    const [on, off] = [button(alerts(LIMIT)[0], /^activate/i), button(alerts(LIMIT)[0], /deactivate/i)];
    const activated = await press(on);
    expect(activated.status, activated.text).toBe(200);
    expect(activated.json).toEqual({ panic_mode: true, state: 'activated' });
    expectError(await press(on), 401, 'invalid credentials');
    const deactivated = await press(off);
    expect(deactivated.json).toEqual({ panic_mode: false, state: 'deactivated' });
    expectError(await press(off), 401, 'invalid credentials');
    expect((await send(`${service.url}/api/status`)).json).toEqual({ panic_mode: false });
  });

  it('close the pull requests of the last two hours, once', async () => {
    const close = button(alerts(LIMIT)[0], /close/i);
    const answer = await press(close);
    expect(answer.status, answer.text).toBe(200);
    const { closed, closed_urls } = answer.json as { closed: number; closed_urls: string[] };
    // Of the six that were opened, one was closed before.
    expect(closed).toBeGreaterThanOrEqual(5);
    expect(answer.json).toEqual({ closed, failed: 0, closed_urls, failed_urls: [] });
    expect(closed_urls).toHaveLength(closed);
    const states = host.repositories.get('octo/hello')?.threads.map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['closed']));
    expect((await press(close)).status).toBe(401);
  });
});

/** The number on the badge of a repository. */
async function countOn(repository: string): Promise<string | undefined> {
  const { text } = await send(`${service.url}/badge/${repository}`);
  return text.match(/>(\d+)<\/text>/)?.[1];
}

describe('forty pull requests in an hour', () => {
  it('are opened in one repository, for clients that differ', async () => {
    await host.createRepository('octo', 'popular');
    expect(await countOn('octo/popular')).toBe('0');
    const boundary = await host.tip('octo', 'popular', 'main');
    const results = await inTurns(
      40,
      (index) => push(remote('octo/popular'), bodyOf(change(boundary)), `203.0.113.${index}`),
      4,
    );
    expect(results.flatMap(({ errors }) => errors)).toEqual([]);
    expect(host.repositories.get('octo/popular')?.threads).toHaveLength(40);
    expect(await countOn('octo/popular')).toBe('40');
  });

  it('are in the statistics: their total, and the newest ten', async () => {
    const total = 40 + pulls();
    const recent = await send(`${service.url}/api/recent-prs`);
    const { prs } = recent.json as { prs: { id: number; pr_url: string; created_at: string }[] };
    expect(recent.json).toEqual({ prs, total });
    expect(prs).toHaveLength(10);
    for (const pr of prs) {
      expect(pr).toEqual({
        id: expect.any(Number) as number,
        owner: 'octo',
        repo: 'popular',
        pr_url: expect.stringMatching(`^${host.url}/octo/popular/pull/\\d+$`) as string,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/) as string,
      });
    }
    const times = prs.map(({ created_at }) => Date.parse(created_at));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    const stats = await send(`${service.url}/api/stats`);
    expect(stats.json).toEqual({ total_prs: total, last_updated: prs[0]?.created_at });
  });
});
