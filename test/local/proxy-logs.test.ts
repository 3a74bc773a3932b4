/**
 * The reverse proxies of deploy/ and the Caddyfile log nobody: whether the service is up, down, or
 * dies in the middle of a push or a clone. Run with nginx and Caddy where they are installed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { placeOf } from '../support/is-installed.ts';
import { freePorts, ROOT } from './programs.ts';

const NGINX = placeOf('nginx') ?? '';
const CADDY = placeOf('caddy') ?? '';
/** This machine's, too, but no other part of a log has it. */
const CLIENT = '127.0.0.99';
const CIRCUIT = 'fc00:dead:beef:4dad::4242';
const PATH = '/v1/gh/octo/recognizable-path';
const AGENT = 'recognizable-agent/1';
const TRACES = [CLIENT, CIRCUIT, 'recognizable-path', 'recognizable-agent'];

let folder: string;
/** Output of the proxy on the terminal. */
let printed: string;
let end: () => Promise<void>;
let upstream: Server | null;
/** Handles a request for the service once its first bytes have arrived. */
let serve: (socket: Socket) => void;
/** Whose request is under way. */
let client: Socket | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
  printed = '';
  end = async () => {};
  upstream = null;
  client = null;
});

afterEach(async () => {
  client?.destroy();
  await end();
  upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

const configured = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

async function runProxy(program: string, args: readonly string[], port: number): Promise<void> {
  const home = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(program, args, { env: { ...process.env, ...home }, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk));
  const closed = once(child, 'close');
  end = async () => {
    child.kill('SIGTERM');
    await closed;
  };
  await expect.poll(() => isOpen(port)).toBe(true);
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined));
    socket.once('error', () => resolve(false));
  });

async function startService(port: number): Promise<void> {
  upstream = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => serve(socket));
  });
  upstream.listen(port, '127.0.0.1');
  await once(upstream, 'listening');
}

async function stopService(): Promise<void> {
  upstream?.close();
  upstream = null;
}

interface Door {
  readonly port: number;
  readonly isTls: boolean;
  /** Before the request, as Tor writes it. */
  readonly greeting: string;
}

/** Sends a request as it stands; answers what came back until the connection has ended. */
async function ask({ port, isTls, greeting }: Door, request: string): Promise<string> {
  const plain = connect({ port, host: '127.0.0.1', localAddress: CLIENT });
  await once(plain, 'connect');
  plain.write(greeting);
  const socket = isTls
    ? connectTls({ socket: plain, rejectUnauthorized: false, servername: 'git.example.org' })
    : plain;
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
    // A client whose request has failed leaves. Caddy would wait for the rest of a push.
    if (/^HTTP\/1\.1 [45]/.test(answer)) socket.destroy();
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  client = socket;
  socket.write(request);
  await closed;
  return answer;
}

const head = (host: string, method: string, ...more: string[]): string =>
  [
    `${method} ${PATH} HTTP/1.1`,
    `Host: ${host}`,
    `User-Agent: ${AGENT}`,
    'Connection: close',
    ...more,
    '',
    '',
  ].join('\r\n');

/** All that a proxy meets in its life. @param host the name of the service. */
async function live(door: Door, host: string, servicePort: number): Promise<void> {
  const push = `${head(host, 'POST', 'Transfer-Encoding: chunked')}5\r\nhello\r\n`;
  expect(await ask(door, head(host, 'GET'))).toMatch(/^HTTP\/1\.1 502 /);
  expect(await ask(door, `${push}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 502 /);
  await startService(servicePort);
  // A proxy that keeps this connection could send the next request on it, just as it ends.
  serve = (socket) => void socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok');
  expect(await ask(door, head(host, 'GET'))).toMatch(/^HTTP\/1\.1 200 /);
  // It dies in the middle of a push, and in the middle of a clone.
  // Caddy asks for the rest of the push before it answers.
  serve = (socket) => {
    socket.destroy();
    client?.write('0\r\n\r\n');
  };
  expect(await ask(door, push)).toMatch(/^HTTP\/1\.1 502 /);
  serve = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart', () => socket.destroy());
  };
  expect(await ask(door, head(host, 'GET'))).toContain('part');
  // It says what is no HTTP.
  serve = (socket) => void socket.end('nonsense\r\n\r\n');
  await ask(door, head(host, 'GET'));
  // Requests that the proxy itself refuses.
  await ask(door, `GET ${PATH} HTTP/1.1\r\nUser-Agent: ${AGENT}\r\nbad header\r\n\r\n`);
  await ask(door, head(host, 'GET', `X-Long: ${'x'.repeat(100_000)}`));
  await stopService();
  expect(await ask(door, head(host, 'GET'))).toMatch(/^HTTP\/1\.1 502 /);
}

/** Finds what is left of a client in any file, or was printed. */
function traces(): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(?:conf|pem)$|^Caddyfile$/.test(entry.name))
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  return TRACES.filter((trace) => [printed, ...files].some((text) => text.includes(trace)));
}

/**
 * Writes a configuration like Debian's nginx.conf: both logs are on unless a server says otherwise.
 */
function nginxConfig(servers: string): string {
  const file = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const text = `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
    events {} http { access_log ${folder}/access.log; ${temporary.join(' ')} ${servers} }`;
  writeFileSync(file, text);
  return file;
}

async function startNginx(servers: string, port: number): Promise<void> {
  await runProxy(NGINX, ['-p', folder, '-c', nginxConfig(servers), '-e', join(folder, 'error.log')], port);
}

function makeCertificate(): void {
  const names = [
    '-keyout',
    join(folder, 'key.pem'),
    '-out',
    join(folder, 'cert.pem'),
    '-subj',
    '/CN=git.example.org',
  ];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...names], {
    stdio: 'ignore',
  });
}

/** Starts nginx with the server of an onion. @param change makes its configuration another one. */
async function startOnion(
  change = (text: string): string => text,
): Promise<{ port: number; service: number }> {
  const [port, service] = [await freePorts(), await freePorts()];
  const servers = configured('deploy/nginx-onion.conf')
    .replace('127.0.0.1:8081', `127.0.0.1:${port}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${service}`)
    .replaceAll('<address>', 'abc');
  await startNginx(change(servers), port);
  return { port, service };
}

/** Ends the proxy, and answers what it leaves of a client. */
async function tracesLeft(): Promise<string[]> {
  await end();
  end = async () => {};
  return traces();
}

describe.skipIf(NGINX === '')('nginx, if it is installed (apt-get install nginx-light)', () => {
  it('logs nobody with the servers of nginx.conf', async () => {
    makeCertificate();
    const [plain, secure, service] = [await freePorts(), await freePorts(), await freePorts()];
    const servers = configured('deploy/nginx.conf')
      .replace('listen 80;', `listen 127.0.0.1:${plain};`)
      .replace('listen 443 ssl;', `listen 127.0.0.1:${secure} ssl;`)
      .replace('127.0.0.1:8080', `127.0.0.1:${service}`)
      .replace(/\/etc\/\S+fullchain\.pem/, join(folder, 'cert.pem'))
      .replace(/\/etc\/\S+privkey\.pem/, join(folder, 'key.pem'));
    await startNginx(servers, secure);
    await live({ port: secure, isTls: true, greeting: '' }, 'git.example.org', service);
    const door = { port: plain, isTls: false, greeting: '' };
    expect(await ask(door, head('git.example.org', 'GET'))).toMatch(/^HTTP\/1\.1 301 /);
    // No TLS, and TLS that breaks off.
    await ask({ ...door, port: secure }, head('git.example.org', 'GET'));
    await ask({ ...door, port: secure }, '\x16\x03\x01\x00\x05nonsense');
    expect(await tracesLeft()).toEqual([]);
  });

  it('logs nobody with the server of nginx-onion.conf', async () => {
    const { port, service } = await startOnion();
    const greeting = `PROXY TCP6 ${CIRCUIT} ::1 4242 80\r\n`;
    await live({ port, isTls: false, greeting }, 'abc.onion', service);
    await ask({ port, isTls: false, greeting: '' }, head('abc.onion', 'GET'));
    expect(await tracesLeft()).toEqual([]);
  });

  it('lets 64 requests of one circuit through at once, and logs nobody', async () => {
    const { port, service } = await startOnion();
    await startService(service);
    const held: Socket[] = [];
    serve = (socket) => void held.push(socket);
    const door = { port, isTls: false, greeting: `PROXY TCP6 ${CIRCUIT} ::1 4242 80\r\n` };
    const answers = Array.from({ length: 64 }, () => ask(door, head('abc.onion', 'GET')));
    await expect.poll(() => held).toHaveLength(64);
    expect(await ask(door, head('abc.onion', 'GET'))).toMatch(/^HTTP\/1\.1 503 /);
    for (const socket of held)
      socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok');
    for (const answer of answers) expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(await tracesLeft()).toEqual([]);
  });

  it('would log them without the line about errors, so that these tests see it', async () => {
    const { port, service } = await startOnion((servers) =>
      servers.replace(' proxy_protocol;', ';').replace(/error_log .*;/, ''),
    );
    await live({ port, isTls: false, greeting: '' }, 'abc.onion', service);
    expect(await tracesLeft()).toEqual([CLIENT, 'recognizable-path']);
  });
});

async function startCaddy(change: (text: string) => string): Promise<{ port: number; service: number }> {
  const [port, service] = [await freePorts(), await freePorts()];
  const text = configured('Caddyfile')
    .replace('{$SITE}', `http://127.0.0.1:${port}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${service}`)
    // Another program may have the port of its interface.
    .replace(/^\{/m, '{\n    admin off\n');
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, change(text));
  mkdirSync(join(folder, 'caddy'));
  await runProxy(CADDY, ['run', '--config', file, '--adapter', 'caddyfile'], port);
  return { port, service };
}

describe.skipIf(CADDY === '')('Caddy, if it is installed (apt-get install caddy)', () => {
  it.each([
    ['logs nobody with the Caddyfile', (text: string) => text, [] as string[]],
    [
      'would log them without the first lines, so that these tests see it',
      (text: string) => text.replace(/exclude http$/m, 'level INFO'),
      [CLIENT, 'recognizable-path', 'recognizable-agent'],
    ],
  ])('%s', async (_, change, left) => {
    const { port, service } = await startCaddy(change);
    await live({ port, isTls: false, greeting: '' }, `127.0.0.1:${port}`, service);
    expect(await tracesLeft()).toEqual(left);
  });
});
