/**
 * The Dockerfile, built and run as compose.yml runs it: it serves, as a user without rights, writes
 * to its volume only, and its health check says so.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { baseOf, type Engine, engine, store } from './container-engine.ts';
import { freePorts, ROOT } from './programs.ts';

const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');

if (engine === null)
  console.log('Skipped: neither Docker nor buildah (apt-get install buildah mmdebstrap) is here.');

const statusAt = async (port: number): Promise<number | undefined> =>
  (await fetch(`http://127.0.0.1:${port}/health`).catch(() => null))?.status;

describe.skipIf(engine === null)('the container', () => {
  let port: number;
  let running: ReturnType<Engine['run']>;

  beforeAll(async () => {
    mkdirSync(join(store, 'run'));
    const chosen = engine as Engine;
    chosen.build(baseOf(chosen));
    port = await freePorts();
    running = chosen.run(port);
  });

  afterAll(() => {
    running?.process.kill('SIGTERM');
    engine?.end();
  });

  it('serves, and its health check says so', async () => {
    await expect.poll(() => statusAt(port), { timeout: 120_000 }).toBe(200);
    const [, check = '[]'] = /HEALTHCHECK [^[]*(\[.*\])$/ms.exec(DOCKERFILE) ?? [];
    const words = (JSON.parse(check.split('\n')[0] ?? '') as string[]).map((word) =>
      word.replace('8080', String(port)),
    );
    running.exec(...words);
  });

  it('runs as a user without rights, who can write to the volume and nowhere else', () => {
    expect(running.exec('id', '-un').trim()).toBe('gitveil');
    const written = (path: string) =>
      running.exec('sh', '-c', `touch ${path}/probe 2>&1 && echo yes || echo no`);
    expect(written('/var/lib/gitveil')).toMatch(/yes/);
    expect(written('/srv/gitveil')).toMatch(/no/);
  });

  it('is smaller than docs/deploy.md says', () => {
    const [, most = ''] =
      /image of less than (\d+) MB/.exec(readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8')) ?? [];
    // Without what is mounted, and what only root may read.
    const mib = parseInt(running.exec('sh', '-c', 'du -xsm / 2>/dev/null || true'), 10);
    expect(mib).toBeGreaterThan(200);
    expect(mib).toBeLessThan(Number(most));
  });

  it('has no Git, which the service does not need', () => {
    expect(running.exec('sh', '-c', 'command -v git || echo none').trim()).toBe('none');
  });
});
