/**
 * The secret that a service has made for itself: exported from its state, and told of once another
 * one is given.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WorkerBuild } from '../../local/deploy/build.ts';
import remoteExport from '../../local/operator/export-secret/worker.ts';
import { startService } from '../../local/runtime/service.ts';
import { builtWorker } from '../e2e/support/built-worker.ts';
import { exhaustive } from '../support/exhaustive.ts';

const PROGRAM = join(import.meta.dirname, '../../local/operator/export-secret/run.ts');

let build: WorkerBuild;
let stateDir: string;

beforeAll(async () => {
  build = builtWorker();
  stateDir = await mkdtemp(join(tmpdir(), 'gitveil-test-'));
});

afterAll(() => rm(stateDir, { recursive: true, force: true }));

function exportSecret(given = {}): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'], STATE_DIR: stateDir, ...given };
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM], { env }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

/** Runs the service on the state and answers the lines that it logs. */
async function logOf(env: Record<string, string>): Promise<string[]> {
  const lines: string[] = [];
  const service = await startService({
    build,
    env: { LOG_FORMAT: 'text', ...env },
    stateDir: join(stateDir, 'service'),
    writeLog: (line) => lines.push(line),
  });
  try {
    await service.runScheduled();
    await service.runScheduled();
    // The client is hashed, for which a secret is needed.
    await fetch(`${service.url}/admin/panic`, { method: 'POST', body: '{"active": true}' });
  } finally {
    await service.dispose();
  }
  return lines;
}

/** Answers of the exporting Worker for a service with this secret. */
async function answer(secret: string | null): Promise<unknown[]> {
  const object = {
    isMade: async () => secret !== null,
    read: async () => secret ?? expect.fail('it would make one'),
  };
  const objects = { idFromName: () => 'id', get: () => object };
  const response = await remoteExport.fetch(new Request('http://localhost:8787/'), {
    SERVICE_SECRET: objects as never,
  });
  return [response.status, await response.text()];
}

it(
  'is printed once it is made, and the log says once that another one is in its place',
  exhaustive,
  async () => {
    const given = { IDENTITY_SECRET: 'x'.repeat(32) };
    const none = {
      code: 1,
      stderr: expect.stringMatching(
        /^gitveil: there is no secret that the service created[^]*; npm run --silent export-secret\)\n$/,
      ) as string,
    };
    expect(await exportSecret()).toMatchObject(none);
    expect(await logOf(given)).toEqual([]);
    expect(await exportSecret()).toMatchObject(none);
    expect((await exportSecret(given)).stderr).toMatch(/It uses the IDENTITY_SECRET .*: keep that one\.\n$/);
    expect(await logOf({})).toEqual([]);
    const { code, stdout } = await exportSecret();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[0-9a-f]{64}\n$/);
    const warned = await logOf(given);
    expect(warned).toEqual([
      expect.stringMatching(/ warn IDENTITY_SECRET is set, .* variable=IDENTITY_SECRET$/),
    ]);
    expect(warned.join()).not.toContain(stdout.trim());
  },
);

it('of a deployed service is answered, and none is made for that', async () => {
  expect(await answer('abc')).toEqual([200, 'abc\n']);
  expect(await answer(null)).toEqual([404, 'The service has made no secret.\n']);
});
