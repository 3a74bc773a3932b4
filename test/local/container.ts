/**
 * The Dockerfile, built and run as compose.yml runs it: it serves, as a user without rights, writes to its volume only, and its
 * health check says so. With what this machine has: Docker, or buildah, which needs no daemon and starts processes in a
 * chroot. Where the public image of Debian cannot be had, mmdebstrap makes one.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts, ROOT } from './programs.ts';

const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const BASE = 'docker.io/library/debian:12-slim';
const NAME = 'gitveil-test';
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';

/** What builds and runs images here. */
interface Engine {
  readonly build: (base: string) => void;
  /** A container of the image, with the port of the service; `exec` runs a command in it, as its user. */
  readonly run: (port: number) => { process: ChildProcess; exec: (...words: string[]) => string };
  readonly hasImage: (name: string) => boolean;
  /** @param archive of the root of a Debian */
  readonly importBase: (archive: string, name: string) => void;
  readonly end: () => void;
}

const has = (program: string, args: readonly string[], timeout = 10_000): boolean =>
  spawnSync(program, args, { timeout, stdio: 'ignore' }).status === 0;
/** On a slow line. */
const PULL_MS = 5 * 60_000;
const said = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 ** 2,
  });

const variables = (port: number): string[] => [
  'HOSTING_TOKEN=nobody',
  'SERVICE_URL=https://git.example.org',
  `PORT=${port}`,
];

function docker(): Engine {
  return {
    build: (base) =>
      void said('docker', ['build', '--quiet', `--build-arg=BASE=${base}`, `--tag=${NAME}`, ROOT]),
    run: (port) => {
      const confined = ['--read-only', '--tmpfs=/tmp', '--cap-drop=ALL', '--security-opt=no-new-privileges'];
      const env = variables(port).flatMap((variable) => ['--env', variable]);
      const args = ['run', '--rm', `--name=${NAME}`, '--network=host', ...confined, ...env, NAME];
      return {
        process: spawn('docker', args, { stdio: 'ignore' }),
        exec: (...words) => said('docker', ['exec', NAME, ...words]),
      };
    },
    hasImage: (name) => has('docker', ['pull', '--quiet', name], PULL_MS),
    importBase: (archive, name) => void said('docker', ['import', archive, name]),
    end: () => void spawnSync('docker', ['rm', '--force', NAME]),
  };
}

/** @param store a folder for its images. */
function buildah(store: string): Engine {
  const where = [
    `--root=${join(store, 'images')}`,
    `--runroot=${join(store, 'run')}`,
    '--storage-driver=vfs',
  ];
  const ask = (...args: string[]) => said('buildah', [...where, ...args]);
  const inside = (port: number, words: readonly string[]) => [
    ...where,
    'run',
    '--isolation=chroot',
    ...variables(port).flatMap((variable) => ['--env', variable]),
    NAME,
    '--',
    ...words,
  ];
  let port = 0;
  return {
    build: (base) => {
      ask('build', '--quiet', '--isolation=chroot', `--build-arg=BASE=${base}`, `--tag=${NAME}`, ROOT);
      ask('from', `--name=${NAME}`, '--pull-never', `localhost/${NAME}`);
    },
    run: (free) => {
      port = free;
      const { OCIv1 } = JSON.parse(ask('inspect', NAME)) as { OCIv1: { config: { Cmd: string[] } } };
      return {
        process: spawn('buildah', inside(port, OCIv1.config.Cmd), { stdio: 'ignore' }),
        exec: (...words) => said('buildah', inside(port, words)),
      };
    },
    hasImage: (name) => has('buildah', [...where, 'pull', '--quiet', name], PULL_MS),
    importBase: (archive, name) => {
      ask('from', '--name=base', 'scratch');
      ask('add', '--quiet', 'base', archive, '/');
      // Trusts whom this machine trusts: a proxy before the registries may have a certificate of its own.
      ask('add', '--quiet', 'base', AUTHORITIES, AUTHORITIES);
      ask('config', '--env', `NODE_EXTRA_CA_CERTS=${AUTHORITIES}`, 'base');
      ask('commit', '--quiet', 'base', name);
    },
    end: () => void spawnSync('buildah', [...where, 'rm', '--all']),
  };
}

const store = mkdtempSync(join(tmpdir(), 'gitveil-container-'));
const engine = has('docker', ['info']) ? docker() : has('buildah', ['--version']) ? buildah(store) : null;
const why =
  engine === null ? 'neither Docker nor buildah (apt-get install buildah mmdebstrap) is here' : null;
if (why !== null) console.log(`Skipped: ${why}.`);

/** Answers the name of an image of Debian. */
function baseOf({ hasImage, importBase }: Engine): string {
  if (hasImage(BASE)) return BASE;
  const archive = join(store, 'debian.tar');
  said('mmdebstrap', ['--quiet', '--variant=minbase', '--include=ca-certificates', 'bookworm', archive]);
  importBase(archive, 'localhost/debian-base');
  return 'localhost/debian-base';
}

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
    rmSync(store, { recursive: true, force: true });
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

  it('has no Git, which the service does not need', () => {
    expect(running.exec('sh', '-c', 'command -v git || echo none').trim()).toBe('none');
  });
});
