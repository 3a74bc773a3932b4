/**
 * How long `npm start` takes until the service answers, without state or caches, against Miniflare
 * with a Worker of one route. Both build their Worker with esbuild, and start workerd.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { claimPort } from '../../local/runtime/ports.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { Helper } from '../support/helper.ts';
import type { WorkerActions } from '../support/worker-process.ts';

const ROUNDS = 7;
const MOST_TIMES = 2;
const PAUSE_MS = 5;
/** Far more than a busy machine needs. */
const PATIENCE_MS = 60_000;
const ROOT = join(import.meta.dirname, '../..');
const WORKER = join(import.meta.dirname, '../support/worker-process.ts');

export async function start(): Promise<Row[]> {
  const { cold, bare } = await medians(ROUNDS, { cold: coldStart, bare: bareStart });
  const name = 'npm start until it answers, against Miniflare with one route';
  return [row({ name, value: cold, reference: bare, goal: MOST_TIMES, unit: 'ms' })];
}

async function bareStart(): Promise<number> {
  const began = performance.now();
  const worker = new Helper<WorkerActions>(WORKER);
  try {
    const { url } = await worker.ask('start', { file: 'bare-route-worker.ts' });
    const answer = await fetch(`${url}/with-headers`);
    if (!answer.ok) throw new Error(`the route answered ${answer.status}`);
    return performance.now() - began;
  } finally {
    await worker.end();
  }
}

async function coldStart(): Promise<number> {
  const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-start-'));
  const port = await claimPort('127.0.0.1', 0);
  const began = performance.now();
  const { PATH = '', HOME = '' } = process.env;
  const service = spawn('npm', ['start', '--silent'], {
    cwd: ROOT,
    env: { PATH, HOME, PORT: String(port), STATE_DIR: stateDir },
    stdio: 'ignore',
  });
  try {
    await untilHealthy(service, `http://127.0.0.1:${port}/health`);
    return performance.now() - began;
  } finally {
    service.kill('SIGTERM');
    if (service.exitCode === null) await once(service, 'close');
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function untilHealthy(service: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline && service.exitCode === null) {
    const isHealthy = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isHealthy) return;
    await pause(PAUSE_MS);
  }
  throw new Error('npm start did not answer');
}
