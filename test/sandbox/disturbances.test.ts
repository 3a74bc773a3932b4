/** What goes wrong on purpose: injected faults, clients that vanish, and what is kept of each request. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { commandLineOf, descendantsOf } from '../local/programs.ts';
import { Workshop, git, tryGit } from './support/git.ts';
import { call, createFilled, pushUrl } from './support/host.ts';
import { exhaustive } from '../support/exhaustive.ts';

const workshop = new Workshop();
let host: Sandbox;
let workTree: string;
let own: string;

beforeAll(async () => {
  host = await startSandbox({ capture: 'bodies' });
  workTree = await workshop.workTree();
  await createFilled(host, workTree, { owner: host.botLogin, name: 'own' });
  own = pushUrl(host, `${host.botLogin}/own`);
});

afterEach(() => host.faults.clear());

afterAll(async () => {
  await host.close();
  workshop.remove();
});

describe('faults', () => {
  test('answer instead, as often as asked, and only where they match', async () => {
    host.faults.inject({
      method: 'GET',
      path: /\/user$/,
      times: 2,
      answer: { status: 403, headers: { 'retry-after': '1' }, body: { message: 'Slow down' } },
    });
    const first = await get('/user');
    expect([first.status, first.headers.get('retry-after')]).toEqual([403, '1']);
    expect(await first.json()).toEqual({ message: 'Slow down' });
    expect((await get('/users/nobody')).status).toBe(404);
    expect((await get('/user')).status).toBe(403);
    expect((await get('/user')).status).toBe(200);
  });

  test('delay', exhaustive, async () => {
    host.faults.inject({ path: /\/user$/, delayMs: 150 });
    const start = performance.now();
    expect((await get('/user')).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThan(140);
  });

  test('cut before anything is done', exhaustive, async () => {
    host.faults.inject({ method: 'POST', path: /\/issues$/, cut: { during: 'request', afterBytes: 0 } });
    await expect(call(host, 'POST', `/repos/${host.botLogin}/own/issues`, { title: 'x' })).rejects.toThrow();
    expect((await call(host, 'GET', `/repos/${host.botLogin}/own/issues`)).list).toEqual([]);
  });

  test('cut when everything is done, but before it is known', async () => {
    host.faults.inject({ method: 'POST', path: /\/issues$/, cut: { during: 'answer', afterBytes: 0 } });
    await expect(call(host, 'POST', `/repos/${host.botLogin}/own/issues`, { title: 'x' })).rejects.toThrow();
    expect((await call(host, 'GET', `/repos/${host.botLogin}/own/issues`)).list).toHaveLength(1);
  });

  test('cut in the middle of an answer', async () => {
    host.faults.inject({ path: /\/user$/, cut: { during: 'answer', afterBytes: 100 } });
    const response = await get('/user');
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  test('cut in the middle of a push and of a clone', exhaustive, async () => {
    host.faults.inject({
      path: /receive-pack$/,
      method: 'POST',
      // The client tries again when a connection breaks that it had used before.
      times: 9,
      cut: { during: 'request', afterBytes: 60 },
    });
    expect((await tryGit(workTree, 'push', own, 'HEAD:refs/heads/cut')).code).not.toBe(0);
    expect(await git(workTree, 'ls-remote', own)).not.toContain('refs/heads/cut');
    host.faults.inject({
      path: /upload-pack$/,
      method: 'POST',
      times: 9,
      cut: { during: 'answer', afterBytes: 50 },
    });
    expect((await tryGit(workshop.dir, 'clone', own, workshop.path())).code).not.toBe(0);
    host.faults.clear();
    expect((await tryGit(workTree, 'push', own, 'HEAD:refs/heads/cut')).code).toBe(0);
  });

  test('let a push happen whose answer is lost', exhaustive, async () => {
    await git(workTree, 'commit', '--quiet', '--allow-empty', '--message', 'Lost');
    const path = /receive-pack$/;
    host.faults.inject({ path, method: 'POST', times: 9, cut: { during: 'answer', afterBytes: 0 } });
    expect((await tryGit(workTree, 'push', own, 'HEAD:refs/heads/lost')).code).not.toBe(0);
    expect(await git(workTree, 'ls-remote', own)).toContain('refs/heads/lost');
  });
});

describe('clients that vanish', () => {
  test('leave no process behind', async () => {
    const socket = connect(Number(new URL(host.url).port), '127.0.0.1');
    socket.write(`${head(1_000_000)}00`);
    await until(() => gitChildren() > 0);
    socket.destroy();
    await until(() => gitChildren() === 0);
  });

  test('leave none either when they only stop to write', async () => {
    const socket = connect({ port: Number(new URL(host.url).port), host: '127.0.0.1', allowHalfOpen: true });
    socket.end(`${head(1_000_000)}00`);
    await until(() => socket.closed || socket.resume().readableEnded);
    await until(() => gitChildren() === 0);
    socket.destroy();
    expect((await fetch(`${host.apiUrl}/users/${host.botLogin}`)).status).toBe(200);
  });
});

test('closing ends what is under way', async () => {
  const other = await startSandbox({ botToken: host.botToken });
  await createFilled(other, workTree, { owner: other.botLogin, name: 'own' });
  const before = gitChildren();
  const socket = connect(Number(new URL(other.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`${head(1_000_000)}00`);
  await until(() => gitChildren() > before);
  await other.close();
  expect(gitChildren()).toBe(before);
  socket.destroy();
});

describe('capture', () => {
  test('keeps each request byte for byte', exhaustive, async () => {
    host.clearCaptured();
    await call(host, 'GET', '/user?x=1', undefined, { headers: { 'x-test': 'yes' } });
    await git(workTree, 'commit', '--quiet', '--allow-empty', '--message', 'Captured');
    await git(workTree, 'push', '--quiet', own, 'HEAD:refs/heads/captured');
    const [first] = host.captured;
    const push = host.captured.find(({ method }) => method === 'POST');
    expect(first).toMatchObject({ method: 'GET', path: '/api/v3/user?x=1', headers: { 'x-test': 'yes' } });
    expect(push).toMatchObject({ method: 'POST', path: `/${host.botLogin}/own.git/git-receive-pack` });
    expect(push?.body.length).toBe(Number(push?.headers['content-length']));
    expect(push?.body.includes('refs/heads/captured')).toBe(true);
    expect(push?.body.includes('PACK')).toBe(true);
  });

  test('keeps no bodies, or nothing at all, when so asked', async () => {
    for (const [capture, kept] of [
      ['requests', [0]],
      ['nothing', []],
    ] as const) {
      const other = await startSandbox({ capture });
      await fetch(`${other.notifyUrl}/topic`, { method: 'POST', body: 'text' });
      expect(other.captured.map(({ body }) => body.length)).toEqual(kept);
      await other.close();
    }
  });
});

function get(path: string): Promise<Response> {
  return fetch(host.apiUrl + path, { headers: { authorization: `token ${host.botToken}` } });
}

/** The head of a push whose body is to be so long. */
function head(length: number): string {
  return [
    `POST /${host.botLogin}/own.git/git-receive-pack HTTP/1.1`,
    'host: localhost',
    `authorization: Basic ${btoa(`x-access-token:${host.botToken}`)}`,
    'content-type: application/x-git-receive-pack-request',
    `content-length: ${length}`,
    '\r\n',
  ].join('\r\n');
}

/** Programs of git that this process has started and that have not ended. */
function gitChildren(): number {
  const lines = descendantsOf(process.pid).map(commandLineOf);
  return lines.filter((line) => /git (?:upload|receive)-pack/.test(line)).length;
}

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('waited in vain');
    await delay(20);
  }
}
