/**
 * Builds and runs images on this machine with Docker, or with buildah, which needs no daemon and
 * starts processes in a chroot. Where the public images of Debian and Caddy are out of reach,
 * mmdebstrap makes one, and Debian's package the other.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { ROOT } from './programs.ts';

const BASE = 'docker.io/library/debian:12-slim';
const OWN_BASE = 'localhost/debian-base';
export const CADDY = 'docker.io/library/caddy:2';
export const NAME = 'gitveil-test';
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
const TRUST = `NODE_EXTRA_CA_CERTS=${AUTHORITIES}`;
const TRUSTING = `--customize-hook=upload ${AUTHORITIES} ${AUTHORITIES}`;
/** Makes a root as small as that of Debian's slim images, nearly. */
const LIKE_SLIM = [
  '--quiet',
  '--variant=minbase',
  '--include=usr-is-merged',
  '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr',
  '--aptopt=APT::Install-Recommends "false"',
  ...['doc', 'locale', 'man'].map((folder) => `--dpkgopt=path-exclude=/usr/share/${folder}/*`),
];
/** Time for an image on a slow line. */
const PULL_MS = 5 * 60_000;

export interface Engine {
  readonly build: (base: string) => void;
  /**
   * A container of the image, with the port of the service; `exec` runs a command in it, as its
   * user.
   */
  readonly run: (port: number) => { process: ChildProcess; exec: (...words: string[]) => string };
  /** Fetches it, if that is possible. */
  readonly hasImage: (name: string) => boolean;
  /**
   * @param archive of the root of a Debian that trusts whom this machine trusts: a proxy may have
   * its own authority
   */
  readonly importBase: (archive: string, name: string) => void;
  readonly end: () => void;
}

const has = (program: string, args: readonly string[], timeout = 10_000): boolean =>
  spawnSync(program, args, { timeout, stdio: 'ignore' }).status === 0;

export const said = (program: string, args: readonly string[], env = process.env): string =>
  execFileSync(program, args, {
    encoding: 'utf8',
    env,
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
    hasImage: (name) =>
      has('docker', ['image', 'inspect', name]) || has('docker', ['pull', '--quiet', name], PULL_MS),
    importBase: (archive, name) => void said('docker', ['import', `--change=ENV ${TRUST}`, archive, name]),
    end: () => void spawnSync('docker', ['rm', '--force', NAME]),
  };
}

/** @param folder for its images. */
function buildah(folder: string): Engine {
  const where = [
    `--root=${join(folder, 'images')}`,
    `--runroot=${join(folder, 'run')}`,
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
      ask('config', '--env', TRUST, 'base');
      ask('commit', '--quiet', 'base', name);
    },
    end: () => void spawnSync('buildah', [...where, 'rm', '--all']),
  };
}

/** A folder of this test file's own. */
export const store = mkdtempSync(join(tmpdir(), 'gitveil-container-'));
afterAll(() => rmSync(store, { recursive: true, force: true }));

const hasDocker = has('docker', ['info']);

/** Engine of this machine; `null` if there is none. */
export const engine = hasDocker ? docker() : has('buildah', ['--version']) ? buildah(store) : null;

/** The words that begin a command of Compose; null: it is not here. */
export const composing = hasDocker
  ? ([['docker', 'compose'], ['docker-compose']].find(([program = '', ...words]) =>
      has(program, [...words, 'version']),
    ) ?? null)
  : null;

/** Answers the name of an image of Debian. */
export function baseOf({ hasImage, importBase }: Engine): string {
  const found = [BASE, OWN_BASE].find(hasImage);
  if (found !== undefined) return found;
  const archive = join(store, 'debian.tar');
  said('mmdebstrap', [...LIKE_SLIM, '--include=ca-certificates', TRUSTING, 'bookworm', archive]);
  importBase(archive, OWN_BASE);
  return OWN_BASE;
}

/** Answers the name of an image of Caddy. @param chosen Docker */
export function caddyOf(chosen: Engine): string {
  if (chosen.hasImage(CADDY)) return CADDY;
  const context = join(store, 'caddy');
  mkdirSync(context);
  const lines = [
    `FROM ${baseOf(chosen)}`,
    'RUN apt-get update && apt-get install -y --no-install-recommends caddy',
    'ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data',
    'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]',
  ];
  writeFileSync(join(context, 'Dockerfile'), lines.join('\n'));
  said('docker', ['build', '--quiet', `--tag=${NAME}-caddy`, context]);
  return `${NAME}-caddy`;
}
