/**
 * Disturbances on purpose: injected faults, clients that vanish, and what is kept of each request.
 */
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { commandLineOf, descendantsOf } from '../local/programs.ts';
import { Workshop } from './support/git.ts';
import { createFilled } from './support/host.ts';

const workshop = new Workshop();
let host: Sandbox;
let workTree: string;

beforeAll(async () => {
  host = await startSandbox({ capture: 'bodies' });
  workTree = await workshop.workTree();
  await createFilled(host, workTree, { owner: host.botLogin, name: 'own' });
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
});

describe('clients that vanish', () => {
  test('leave no process behind', async () => {
    const socket = connect(Number(new URL(host.url).port), '127.0.0.1');
    socket.write(`${head(1_000_000)}00`);
    await expect.poll(gitChildren).toBe(1);
    socket.destroy();
    await expect.poll(gitChildren).toBe(0);
  });

  test('leave none either when they only stop to write', async () => {
    const socket = connect({ port: Number(new URL(host.url).port), host: '127.0.0.1', allowHalfOpen: true });
    socket.end(`${head(1_000_000)}00`);
    await expect.poll(() => socket.closed || socket.resume().readableEnded).toBe(true);
    await expect.poll(gitChildren).toBe(0);
    socket.destroy();
    expect((await fetch(`${host.apiUrl}/users/${host.botLogin}`)).status).toBe(200);
  });
});

test('closing ends what is under way', async () => {
  const other = await startSandbox({ botToken: host.botToken });
  await createFilled(other, workTree, { owner: other.botLogin, name: 'own' });
  const socket = connect(Number(new URL(other.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`${head(1_000_000)}00`);
  await expect.poll(gitChildren).toBe(1);
  await other.close();
  expect(gitChildren()).toBe(0);
  socket.destroy();
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
