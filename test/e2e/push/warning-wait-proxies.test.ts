/**
 * Behind the proxies of deploy/ and the Caddyfile, a push that waits shows its warnings, and
 * notices that its person leaves. Run with nginx and Caddy where they are installed (Debian's
 * packages `nginx-light` and `caddy`).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';
import { freePorts } from '../../support/free-ports.ts';
import { placeOf } from '../../support/is-installed.ts';
import { contribute } from '../support/contribution.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { WaitingPush } from '../support/waiting-push.ts';

const ROOT = join(import.meta.dirname, '../../..');
const bed = useOwnTestBed({ env: { WARNING_WAIT: '60s' } });

/** The part of a configuration of ours between a line and the one that closes its bracket. */
function block(file: string, first: string): string {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const start = text.indexOf(first);
  const indent = /[ \t]*$/.exec(text.slice(0, start))?.[0] ?? '';
  return text.slice(start, text.indexOf(`\n${indent}}`, start) + indent.length + 2);
}

function nginxConfig(folder: string, port: number, service: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const location = block('deploy/nginx.conf', 'location / {').replace('http://127.0.0.1:8080', service);
  return `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}
    http { access_log off; ${temporary.join(' ')} server { listen 127.0.0.1:${port}; server_name git.example.org; ${location} } }`;
}

const caddyConfig = (_folder: string, port: number, service: string): string =>
  `{\n\tadmin off\n}\nhttp://127.0.0.1:${port} {\n\t${block('Caddyfile', 'reverse_proxy').replace(
    '{$SERVICE:127.0.0.1:8080}',
    service,
  )}\n}\n`;

const PROXIES = [
  [
    'nginx',
    nginxConfig,
    (file: string, folder: string) => ['-p', folder, '-c', file, '-e', `${folder}/e.log`],
  ],
  ['caddy', caddyConfig, (file: string) => ['run', '--adapter', 'caddyfile', '--config', file]],
] as const;

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined));
    socket.once('error', () => resolve(false));
  });

describe.each(PROXIES)('behind %s', exhaustive, (name, configOf, argumentsFor) => {
  it.skipIf(placeOf(name) === undefined)('Ctrl-C stops a push that waits', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit({ files: { 'notes.txt': 'See /home/grace/project.\n' } });
    const folder = mkdtempSync(join(tmpdir(), 'gitveil-proxy-'));
    const [file, port] = [join(folder, 'proxy.conf'), await freePorts()];
    writeFileSync(file, configOf(folder, port, bed.service.url));
    const home = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const proxy = spawn(placeOf(name) as string, argumentsFor(file, folder), {
      env: { ...process.env, ...home },
      stdio: 'ignore',
    });
    const closed = once(proxy, 'close');
    try {
      await expect.poll(() => isOpen(port)).toBe(true);
      const stopped = () => bed.logLines.filter((line) => line.includes('push stopped')).length;
      const before = stopped();
      const remote = `http://127.0.0.1:${port}${new URL(upstream.url).pathname}`;
      const push = new WaitingPush(clone, remote, 'HEAD:refs/heads/topic');
      await push.waits;
      push.stop();
      await push.ended;
      await expect.poll(stopped).toBe(before + 1);
      expect(await bed.host.pulls(upstream)).toEqual([]);
      expect(bed.host.forkPath(upstream)).toBe(null);
    } finally {
      proxy.kill('SIGTERM');
      await closed;
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
