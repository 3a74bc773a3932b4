/**
 * compose.yml, run by Docker Compose with images, ports and a token of this test: the service
 * behind Caddy, with HTTPS and nobody in a log.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { get as getInClear } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  baseOf,
  CADDY,
  caddyOf,
  composing,
  type Engine,
  engine,
  NAME,
  said,
  store,
} from './container-engine.ts';
import { freePorts, ROOT } from './programs.ts';

if (composing === null)
  console.log('Skipped: it needs Docker and Compose (apt-get install docker.io docker-compose mmdebstrap).');

/** Name for which Caddy is its own authority. */
const SITE = 'localhost';
const AUTHORITY = '/data/caddy/pki/authorities/local/root.crt';
const CLIENT = { 'User-Agent': 'A-Client-Of-Its-Own', 'X-Real-IP': '192.0.2.99' };

/** Answers the path of a copy for this machine. */
function composeFile(docker: Engine, http: number, https: number): string {
  const variables = join(store, 'gitveil.env');
  writeFileSync(variables, 'HOSTING_TOKEN=nobody\n');
  const changes = [
    ['build: .', `build: { context: '${ROOT}', args: { BASE: '${baseOf(docker)}' } }`],
    ['/etc/gitveil.env', variables],
    ['./Caddyfile', join(ROOT, 'Caddyfile')],
    [CADDY, caddyOf(docker)],
    ["['80:80', '443:443']", `['127.0.0.1:${http}:80', '127.0.0.1:${https}:443']`],
  ] as const;
  let text = readFileSync(join(ROOT, 'compose.yml'), 'utf8');
  for (const [from, to] of changes) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  const path = join(store, 'compose.yml');
  writeFileSync(path, text);
  return path;
}

/** @param authority whose certificate is trusted; null: http. */
async function ask(port: number, path: string, authority: string | null) {
  const headers = { Host: SITE, ...CLIENT };
  const where = { host: '127.0.0.1', port, path, headers, agent: false as const };
  return new Promise<{ status: number | undefined; location: string | undefined }>((resolve, reject) => {
    const asked = authority === null ? getInClear(where) : get({ ...where, servername: SITE, ca: authority });
    asked.on('error', reject).on('response', (answer) => {
      answer.resume();
      resolve({ status: answer.statusCode, location: answer.headers.location });
    });
  });
}

describe.skipIf(composing === null)('compose.yml', () => {
  let http: number;
  let https: number;
  let authority: string;
  let compose: (...words: string[]) => string;

  const health = () =>
    ask(https, '/health', authority).then(
      ({ status }) => status,
      () => null,
    );

  beforeAll(async () => {
    const [program = '', ...first] = composing ?? [];
    http = await freePorts();
    https = http + 1;
    const file = composeFile(engine as Engine, http, https);
    const all = [...first, `--project-name=${NAME}`, `--file=${file}`];
    compose = (...words) => said(program, [...all, ...words], { ...process.env, SITE });
    // Caddy starts once the health check of the service passes.
    compose('up', '--build', '--detach');
    authority = await vi.waitFor(() => compose('exec', '-T', 'caddy', 'cat', AUTHORITY), 30_000);
  });

  afterAll(() => void compose?.('down', '--volumes', '--rmi=local'));

  it('serves with HTTPS, and leads there from HTTP', async () => {
    await expect.poll(health, { timeout: 30_000 }).toBe(200);
    expect(await ask(http, '/v1/x', null)).toEqual({ status: 308, location: `https://${SITE}/v1/x` });
  });

  it.each(['gitveil', 'caddy'])('lets %s write to its volume only, and get no more rights', (service) => {
    const written = compose('exec', '-T', service, 'sh', '-c', 'touch /srv/x /etc/x 2>/dev/null || echo no');
    expect(written.trim()).toBe('no');
    expect(compose('exec', '-T', service, 'grep', 'NoNewPrivs', '/proc/1/status')).toMatch(/\t1$/m);
  });

  it('logs nobody, and says where to push to', () => {
    const log = compose('logs');
    expect(log).toContain(`git push https://${SITE}/v1/gh/`);
    for (const trace of [...Object.values(CLIENT), '/v1/x', '/health']) expect(log).not.toContain(trace);
  });

  it('ends cleanly when it is told to, and starts again with its state', async () => {
    compose('stop');
    const ids = compose('ps', '--quiet', '--all').trim().split('\n');
    const codes = ids.map((id) => said('docker', ['inspect', '--format={{.State.ExitCode}}', id]).trim());
    expect(codes).toEqual(['0', '0']);
    compose('start');
    await expect.poll(health, { timeout: 60_000 }).toBe(200);
  });
});
