/**
 * `npm run check-egress`: against servers that echo, on this machine, and with a program in
 * wrangler's place.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exhaustive } from '../support/exhaustive.ts';

const PROGRAM = join(import.meta.dirname, '../../local/operator/check-egress/run.ts');

let folder: string;
const servers: Server[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-check-egress-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

/** Answers with the header it got. */
const echo = () =>
  listening((request, response) => {
    const lines = request.rawHeaders.flatMap((name, at, all) =>
      at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : [],
    );
    response.end(lines.join('\n'));
  });

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function checkEgress(...args: string[]): Promise<Result> {
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}

describe('on this machine', () => {
  it('shows a request that tells of nobody, byte for byte', exhaustive, async () => {
    const url = await echo();
    const { code, stdout } = await checkEgress(url, '--local');
    expect(stdout).toContain(
      `It answered 200:\n\nHost: ${new URL(url).host}\nUser-Agent: gitveil\nAccept-Encoding: gzip\n\nNo header`,
    );
    expect(code).toBe(0);
  });

  it('fails where the address does not answer', exhaustive, async () => {
    expect(await checkEgress('http://127.0.0.1:1/', '--local')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('could not be asked: the server cannot be reached') as string,
    });
  });

  it.each([[[]], [['ftp://echo.test']], [['echo.test']]])('needs an address: %j', async (args) => {
    const { code, stderr } = await checkEgress(...args);
    expect(stderr).toContain('npm run check-egress -- URL');
    expect(code).toBe(1);
  });
});

/**
 * A program in wrangler's place, which writes down how it was called and has deployed to this
 * address.
 */
function fakeWrangler(target: string | null): () => string[] {
  const calls = join(folder, 'calls');
  writeFileSync(calls, '');
  const output = JSON.stringify({ type: 'deploy', targets: target === null ? [] : [target] });
  const program = `#!/usr/bin/env node
const { appendFileSync, writeFileSync } = require('node:fs');
const words = process.argv.slice(2);
appendFileSync(${JSON.stringify(calls)}, words.map((word) => word.replace(/.*\\//, '')).join(' ') + '\\n');
if (words[0] === 'deploy') writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, '{"type":"version"}\\n' + ${JSON.stringify(output)});
`;
  writeFileSync(join(folder, 'wrangler'), program);
  chmodSync(join(folder, 'wrangler'), 0o755);
  return () => readFileSync(calls, 'utf8').split('\n').filter(Boolean);
}

const CALLS = ['deploy --config wrangler.toml --var echo.test', 'delete --config wrangler.toml --force'];

/** A deployed Worker that reports this. */
const reporting = (report: unknown) => listening((_, response) => response.end(JSON.stringify(report)));

describe('on Cloudflare', exhaustive, () => {
  it('deploys a Worker, asks it once, and deletes it', async () => {
    const calls = fakeWrangler(
      await reporting({ echo: { status: 200, text: 'Host: echo.test' }, clientAddress: '198.51.100.1' }),
    );
    const { code, stdout } = await checkEgress('https://echo.test');
    expect(stdout).toContain('Host: echo.test');
    expect(calls()).toEqual(CALLS);
    expect(code).toBe(0);
  });

  it('fails where it tells of a client, and names each header, however it is written', async () => {
    const text = [
      'cf-connecting-ip: 198.51.100.1',
      'X-Real-IP: 198.51.100.1',
      '"CF-Worker": "veil.example"',
      'X-Forwarded-For: 198.51.100.1',
      'Via: 1.1 proxy',
    ].join('\n');
    fakeWrangler(await reporting({ echo: { status: 200, text }, clientAddress: '198.51.100.1' }));
    const { code, stderr } = await checkEgress('https://echo.test');
    const names = 'CF-Connecting-IP, CF-Worker, Via, X-Forwarded-For, X-Real-IP, your own address';
    expect(stderr).toContain(`This identifies a client: ${names}.`);
    expect(code).toBe(1);
  });

  it('deletes the Worker also where it has no address', async () => {
    const calls = fakeWrangler(null);
    const { code, stderr } = await checkEgress('https://echo.test');
    expect(stderr).toContain('workers.dev subdomain');
    expect(calls()).toEqual(CALLS);
    expect(code).toBe(1);
  });
});
