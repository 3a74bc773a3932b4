/**
 * The service as `npm start` runs it for somebody who tries it: no token, so with the embedded code
 * host, and no SERVICE_URL. Its notifications go to a recording stand-in.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { type Message, useCodeHost } from './support/code-host.ts';
import { Workplace } from './support/git.ts';
import { bannerOf, bodyOf, post } from './support/hand-push.ts';
import { expectError, inTurns, send } from './support/http.ts';
import { useService } from './support/service.ts';

const recorder = useCodeHost();
const service = useService(() => ({
  NOTIFY_BASE_URL: recorder.notifyUrl,
  NOTIFY_ADMIN_TOPIC: 'operator-alerts',
}));
const place = new Workplace();
afterAll(() => place.remove());

const api = (path: string): string => `${service.hostUrl}/api/v3/repos/octo/hello${path}`;

describe('before anything was pushed', () => {
  it('health has seven fields, and verify two', async () => {
    const answer = await send(`${service.url}/health`);
    expect(answer.status).toBe(200);
    const { sourceRepo } = answer.json as { sourceRepo: string };
    expect(sourceRepo).toMatch(/^https:\/\/[^\s/]+\/\S+[^/]$/);
    expect(answer.json).toEqual({
      status: 'healthy',
      deployedCommit: 'main',
      deployedAt: expect.stringMatching(/^(unknown|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)$/) as string,
      sourceRepo,
      platform: false,
      goVersion: expect.stringMatching(/\S/) as string,
      verify: {
        github: expect.stringMatching(/^https:\/\/\S+\/main$/) as string,
        source: expect.stringMatching(/\S/) as string,
      },
    });
    expect(answer.headers['x-bundle']).toMatch(/^[0-9a-f]{64}$/);
  });

  it('statistics hold only a zero', async () => {
    const stats = await send(`${service.url}/api/stats`);
    expect(stats.status).toBe(200);
    expect(stats.json).toEqual({ total_prs: 0 });
    const recent = await send(`${service.url}/api/recent-prs`);
    expect(recent.status).toBe(200);
    expect(recent.json).toEqual({ prs: [], total: 0 });
  });

  it('status holds only that pushes are accepted', async () => {
    const answer = await send(`${service.url}/api/status`);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ panic_mode: false });
  });

  it('one warning says where statistics are kept', () => {
    const warnings = service
      .stdout()
      .split('\n')
      .filter((line) => line.includes('DB_URL') || line.includes('DB_KEY'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/statistics/i);
    expect(service.stderr()).toBe('');
  });
});

const uptime = async (): Promise<unknown> =>
  ((await send(`${service.url}/metrics`)).json as { uptime: unknown }).uptime;

describe('metrics without a key', () => {
  it.each(['', 'application/json', 'text/plain', 'application/openmetrics-text', 'text/html', '*/*'])(
    'are the fields of the contract for whoever accepts %j',
    async (accept) => {
      const answer = await send(`${service.url}/metrics`, {
        headers: accept === '' ? {} : { Accept: accept },
      });
      expect(answer.status).toBe(200);
      const count = expect.toSatisfy((value) => Number.isInteger(value) && value >= 0) as number;
      expect(answer.json).toEqual({
        memory: { alloc: count, total_alloc: count, sys: count, num_gc: count },
        goroutines: count,
        uptime: expect.stringMatching(/^(\d+h)?(\d+m)?\d+(\.\d+)?m?s$/) as string,
      });
    },
  );

  it('are live', async () => {
    const first = await uptime();
    await expect.poll(uptime).not.toBe(first);
  });
});

describe('the status of a pull request', () => {
  it.each(['0123456789ab', 'abcd1234', 'x', 'Some_Hash-1.2', 'ABCDEF', '0', 'a'.repeat(80), '-._'])(
    'echoes %s',
    async (hash) => {
      const answer = await send(`${service.url}/api/pr-status/${hash}`);
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({
        hash,
        notify_topic: `anon-pr-${hash}`,
        subscribe_url: `${recorder.notifyUrl}/anon-pr-${hash}`,
      });
    },
  );

  it('is told as often as somebody asks, and so are the statistics', async () => {
    for (const path of [
      '/api/pr-status/made-up',
      '/api/stats',
      '/api/recent-prs',
      '/api/status',
      '/health',
    ]) {
      const answers = await inTurns(100, () => send(`${service.url}${path}`));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    }
  });
});

/** Those that the operator has got, by their titles. */
const alerts = (title: RegExp): Message[] =>
  recorder.messagesOn('operator-alerts').filter((message) => title.test(message.title ?? ''));

/** Some addresses at which somebody may reach it. */
const HOSTS = ['veil.test', 'veil.test:8443', '127.0.0.1'];

describe('without SERVICE_URL', () => {
  it.each(HOSTS)('the footer of a comment has scheme and host of the request: %s', async (Host) => {
    const url = `${service.url}/v1/gh/octo/hello/issues/1/comments/anonymous`;
    const answer = await send(url, { json: { body: 'Hello.' }, headers: { Host } });
    expect(answer.status, answer.text).toBe(200);
    const { hash } = answer.json as { hash: string };
    const comments = (await send(api('/issues/1/comments?per_page=100'))).json as { body: string }[];
    expect(comments.at(-1)?.body).toBe(
      `Hello.\n\n---\nanon-${hash} · karma (1) · [report](http://${Host}/v1/moderation/report?hash=${hash})`,
    );
  });

  it.each(HOSTS)('the footer of an issue links to the host of the request: %s', async (Host) => {
    const url = `${service.url}/v1/gh/octo/hello/issues/anonymous`;
    const answer = await send(url, { json: { title: 'a', body: 'b' }, headers: { Host } });
    expect(answer.status, answer.text).toBe(200);
    const { number } = answer.json as { number: number };
    const { body } = (await send(api(`/issues/${number}`))).json as { body: string };
    expect(body).toContain(`](http://${Host})`);
  });
});

describe('one client', () => {
  const banner: string[] = [];

  it('opens five pull requests, which statistics know of when the banner is there', async () => {
    const clone = await place.clone(`${service.url}/v1/gh/octo/hello`);
    const known: unknown[] = [];
    for (let count = 1; count <= 5; count++) {
      await clone.must('switch', '--quiet', '--create', `change-${count}`, 'origin/main');
      await clone.commit(`Change ${count}`, { [`file-${count}`]: 'x\n' });
      const pushed = await clone.git('push', 'origin', `change-${count}`);
      expect(pushed.code, pushed.stderr).toBe(0);
      banner.splice(0, Infinity, ...pushed.remote);
      const [stats, recent, badge] = await Promise.all(
        ['/api/stats', '/api/recent-prs', '/badge/octo/hello'].map((path) => send(service.url + path)),
      );
      known.push([stats?.json, recent?.json, badge?.text.match(/>(\d+)<\/text>/)?.[1]]);
    }
    expect(known).toEqual(
      [1, 2, 3, 4, 5].map((count) => [
        expect.objectContaining({ total_prs: count }),
        expect.objectContaining({ total: count }),
        `${count}`,
      ]),
    );
  });

  it('is told the address under which it has pushed', () => {
    expect(banner.join('\n')).toContain(`${recorder.notifyUrl}/anon-pr-${bannerOf(banner).prHash}`);
    expect(banner.join('\n')).toContain(`${service.url}/v1/gh/octo/hello`);
  });

  it('finds the newest first in a list of five-field records', async () => {
    const { prs, total } = (await send(`${service.url}/api/recent-prs`)).json as {
      prs: object[];
      total: number;
    };
    expect(total).toBe(5);
    expect(prs).toEqual(
      [5, 4, 3, 2, 1].map(() => ({
        id: expect.any(Number) as number,
        owner: 'octo',
        repo: 'hello',
        pr_url: expect.stringContaining(`${service.hostUrl}/octo/hello/pull/`) as string,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/) as string,
      })),
    );
    const numbers = prs.map((pr) => Number((pr as { pr_url: string }).pr_url.split('/').at(-1)));
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
    const stats = (await send(`${service.url}/api/stats`)).json;
    expect(stats).toEqual({ total_prs: 5, last_updated: (prs[0] as { created_at: string }).created_at });
  });

  it('is refused the sixth, and the alert names 127.0.0.1', async () => {
    const clone = await place.clone(`${service.url}/v1/gh/octo/hello`);
    await clone.must('switch', '--quiet', '--create', 'change-6');
    await clone.commit('Change 6', { 'file-6': 'x\n' });
    const pushed = await clone.git('push', 'origin', 'change-6');
    expect(pushed.code).not.toBe(0);
    expect(pushed.remote).toContain('Rate limit exceeded: max 5 PRs per hour per IP.');
    await expect.poll(() => alerts(/rate limit/i)).toHaveLength(1);
    const [alert] = alerts(/rate limit/i);
    expect(alert?.message).toContain('127.0.0.1');
    for (const { url } of alert?.actions ?? [])
      expect(url.startsWith(`${service.url}/admin/`), url).toBe(true);
  });

  it('makes a burst of twenty pushes within a minute, which is told with their number', async () => {
    const id = '1'.repeat(40);
    await inTurns(20, () => post(`${service.url}/v1/gh/octo/hello`, bodyOf({ id, pack: Buffer.alloc(0) })));
    await expect.poll(() => alerts(/burst/i)).toHaveLength(1);
    expect(alerts(/burst/i)[0]?.message).toMatch(/\b2\d\b/);
  });

  it('is told within seconds what the maintainer does: the embedded host is asked every five', async () => {
    const { prHash, prUrl } = bannerOf(banner);
    const topic = `anon-pr-${prHash}`;
    const told = (words: RegExp): Message[] =>
      recorder.messagesOn(topic).filter(({ message }) => words.test(message));
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: service.hostUrl };
    for (const body of ['act=comment&text=Nice.', 'act=close'])
      expect((await send(prUrl, { body, headers })).status).toBe(303);
    await expect.poll(() => told(/comment/i)).toHaveLength(1);
    await expect.poll(() => told(/closed/i)).toHaveLength(1);
  });
});

describe('without PANIC_PASSWORD', () => {
  it.each(['/admin/panic', '/admin/rollback'])('%s is opened by no password', async (path) => {
    for (const password of [undefined, '', 'panic']) {
      const json = { active: true, ...(password !== undefined && { password }) };
      expectError(await send(`${service.url}${path}`, { json }), 401, 'invalid credentials');
    }
  });
});
