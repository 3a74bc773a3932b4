/**
 * The Worker in one workerd: its address, its variables, its state, its log, and a body that is not
 * held up.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { WorkerBuild } from '../../local/deploy/build.ts';
import { clientNetwork } from '../../src/limits/client.ts';
import { type Service, type ServiceOptions, startService } from '../../local/runtime/service.ts';
import { builtWorker } from '../e2e/support/built-worker.ts';
import { exhaustive } from '../support/exhaustive.ts';

let build: WorkerBuild;
let folder: string;
let services: Service[] = [];

beforeAll(async () => {
  build = builtWorker();
  folder = await mkdtemp(join(tmpdir(), 'gitveil-test-'));
});

afterEach(async () => {
  await Promise.all(services.map((service) => service.dispose()));
  services = [];
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function start(options: Partial<ServiceOptions> = {}): Promise<Service> {
  const service = await startService({ build, env: {}, stateDir: null, ...options });
  services.push(service);
  return service;
}

/**
 * A build whose Worker is this handler instead of the service; but for the Durable Objects, the
 * bindings are its.
 */
const withHandler = (body: string): WorkerBuild => ({
  ...build,
  settings: { ...build.settings, durableObjects: {} },
  script: `export default { async fetch(request, env) { ${body} } };`,
});

describe('startService', exhaustive, () => {
  it('serves /health with the build it was given, and says which error the system gave for a port in use', async () => {
    const { url, workerdPid } = await start();
    const response = await fetch(`${url}/health`);
    expect(await response.json()).toMatchObject({
      // Nobody has deployed it, so nobody vouches for a commit.
      deployedCommit: 'main',
      deployedAt: build.builtAt,
      // What wrangler.toml sets.
      goVersion: `workerd ${build.settings.compatibilityDate}`,
    });
    expect(await readFile(`/proc/${workerdPid}/cmdline`, 'utf8')).toContain('workerd');
    await expect(start({ port: Number(new URL(url).port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('hands variables to the Worker, and where it listens, but as no address for others; and who has connected', async () => {
    const echo = withHandler(
      'return Response.json({ cf: request.cf ?? {}, env: [env.HOST, env.PORT, env.SERVICE_URL, env.ANON_EMAIL] });',
    );
    const { url } = await start({ build: echo, env: { ANON_EMAIL: 'nobody@example.org' } });
    const { cf, env } = await (await fetch(url)).json<{ cf: unknown; env: unknown }>();
    const { hostname, port } = new URL(url);
    expect(env).toEqual([hostname, port, null, 'nobody@example.org']);
    const direct = { headers: new Headers(), cf } as unknown as Request;
    expect(clientNetwork(direct, 'CF-Connecting-IP')).toBe('127.0.0.1');
    // No client can say that itself.
    const headers = { 'MF-CF-Blob': JSON.stringify({ clientIp: '192.0.2.1', country: 'XX' }) };
    expect(await (await fetch(url, { headers })).text()).not.toMatch(/192\.0\.2\.1|XX/);
  });
});
