/** Deletions that a stopped service has left undone, when it is started again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../../../local/service.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { builtWorker } from '../support/built-worker.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const THREAD = '/v1/gh/octo/hello/issues';
const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-restart-'));
let sandbox: Sandbox;
let service: Service;

const start = (): Promise<Service> =>
  startService({
    build: builtWorker(),
    env: {
      HOSTING_URL: sandbox.url,
      HOSTING_API_URL: sandbox.apiUrl,
      HOSTING_TOKEN: sandbox.botToken,
      NOTIFY_BASE_URL: sandbox.notifyUrl,
    },
    stateDir,
    writeLog: () => {},
  });

async function post(path: string, payload: object, address = '192.0.2.1'): Promise<Record<string, unknown>> {
  const headers = {
    'CF-Connecting-IP': address,
    Accept: 'application/json',
    'Content-Type': 'application/json',
  };
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers,
    body: JSON.stringify(payload),
  });
  return response.json<Record<string, unknown>>();
}

async function commentCount(): Promise<number> {
  const response = await fetch(`${sandbox.apiUrl}/repos/octo/hello/issues/1/comments`);
  return (await response.json<unknown[]>()).length;
}

beforeAll(async () => {
  sandbox = await startSandbox();
  sandbox.createRepository({ owner: 'octo', name: 'hello' });
  service = await start();
});

afterAll(async () => {
  await service.dispose();
  await sandbox.close();
  rmSync(stateDir, { recursive: true, force: true });
});

it('are done then', exhaustive, async () => {
  const issue = await post(`${THREAD}/anonymous`, { title: 'A thread', body: 'to talk on' });
  const payload = { body: 'Hi', user_token: issue['user_token'] };
  for (let count = 0; count < 2; count++) await post(`${THREAD}/1/comments/anonymous`, payload);
  sandbox.faults.inject({ method: 'DELETE', path: /./, times: 100, answer: { status: 503 } });
  for (let reporter = 1; reporter <= 6; reporter++) {
    await post('/v1/moderation/report', { hash: issue['hash'] }, `192.0.2.${reporter}`);
  }
  expect(await commentCount()).toBe(2);
  await service.dispose();
  sandbox.faults.clear();
  service = await start();
  await expect.poll(commentCount).toBe(0);
  expect(await post(`${THREAD}/1/comments/anonymous`, payload)).toMatchObject({
    error: 'hash bloqueado por reportes',
  });
});
