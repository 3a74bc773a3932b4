/**
 * A real Gitea on the loopback address, with SQLite in a temporary folder, made ready by its own
 * command line.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustRun, neutralEnvironment } from '../../e2e/support/run.ts';
import { freePorts } from '../../support/free-ports.ts';
import type { GiteaProgram } from './gitea-build.ts';

export const BOT = 'gitveil-bot';
/** Owns the repositories upstream, and may do anything. */
export const MAINTAINER = 'mona';
/** Owns further ones. */
const OTHER = 'other';
/** Scopes that the service asks for. */
export const BOT_SCOPES = 'write:repository,write:issue,read:user,read:notification';
/** Fewer than the service asks for, so that few entries make a second page. */
export const PAGE_SIZE = 10;

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;

/** As plain data, which crosses from the program that starts it to the tests. */
export interface GiteaAddress {
  readonly kind: 'gitea' | 'forgejo';
  readonly url: string;
  readonly apiUrl: string;
  readonly botToken: string;
  readonly maintainerToken: string;
  /** The folder of `<owner>/<name>.git`. */
  readonly repositories: string;
  /** For its own command line. */
  readonly program: string;
  readonly config: string;
}

export interface Gitea {
  readonly address: GiteaAddress;
  stop(): Promise<void>;
}

export interface GiteaSettings {
  /** Lines of the configuration, by section. */
  readonly sections?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

type Ready = Extract<GiteaProgram, { kind: 'ready' }>;

export async function startGitea({ program, folder }: Ready, settings: GiteaSettings = {}): Promise<Gitea> {
  const work = mkdtempSync(join(tmpdir(), 'gitveil-gitea-'));
  const port = await freePorts();
  const url = `http://127.0.0.1:${port}`;
  const config = join(work, 'app.ini');
  writeFileSync(config, configuration(work, port, folder, settings));
  mkdirSync(join(work, 'home'));
  const address = { url, apiUrl: `${url}/api/v1`, repositories: join(work, 'repositories'), program, config };
  await giteaCommand(address, 'migrate');
  for (const [name, ...more] of [[BOT], [MAINTAINER, '--admin'], [OTHER]] as const) {
    const person = ['--username', name, '--email', `${name}@gitea.example`, '--password', 'Not-secret-123'];
    await giteaCommand(
      address,
      'admin',
      'user',
      'create',
      ...person,
      '--must-change-password=false',
      ...more,
    );
  }
  const botToken = await newToken(address, BOT, BOT_SCOPES);
  const maintainerToken = await newToken(address, MAINTAINER, 'all');
  const child = spawn(program, ['--config', config, 'web'], { env: environment(config), stdio: 'ignore' });
  const ended = once(child, 'exit');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(killer);
    }
    rmSync(work, { recursive: true, force: true });
  };
  try {
    await answering(`${url}/api/v1/version`, () => child.exitCode !== null);
  } catch (error) {
    await stop();
    throw error;
  }
  const isForgejo = (await fetch(`${url}/api/forgejo/v1/version`)).ok;
  const kind = isForgejo ? 'forgejo' : 'gitea';
  return { address: { ...address, kind, botToken, maintainerToken }, stop };
}

/** Runs Gitea's command line; answers what it printed. */
export async function giteaCommand(
  { program, config }: Pick<GiteaAddress, 'program' | 'config'>,
  ...args: string[]
): Promise<string> {
  const output = await mustRun(program, ['--config', config, ...args], {
    cwd: tmpdir(),
    env: environment(config),
  });
  return output.toString();
}

let tokens = 0;

/** A new token of an account. @param scopes separated by commas. */
export async function newToken(
  address: Pick<GiteaAddress, 'program' | 'config'>,
  login: string,
  scopes: string,
): Promise<string> {
  const name = `test-${process.pid}-${(tokens += 1)}`;
  const wanted = ['--username', login, '--token-name', name, '--scopes', scopes, '--raw'];
  const printed = await giteaCommand(address, 'admin', 'user', 'generate-access-token', ...wanted);
  const token = /^[0-9a-f]{40}$/m.exec(printed)?.[0];
  if (token === undefined) throw new Error('Gitea made no token');
  return token;
}

function environment(config: string): NodeJS.ProcessEnv {
  const work = join(config, '..');
  return neutralEnvironment({ HOME: join(work, 'home'), GITEA_WORK_DIR: work });
}

function configuration(
  work: string,
  port: number,
  folder: string | null,
  { sections = {} }: GiteaSettings,
): string {
  const all: Record<string, Record<string, string>> = {
    '': {
      RUN_MODE: 'prod',
      WORK_PATH: work,
      // In a container there may be nobody else.
      ...(process.getuid?.() === 0 && { RUN_USER: 'root', I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true' }),
    },
    server: {
      HTTP_ADDR: '127.0.0.1',
      HTTP_PORT: String(port),
      ROOT_URL: `http://127.0.0.1:${port}/`,
      DISABLE_SSH: 'true',
      OFFLINE_MODE: 'true',
      ...(folder !== null && { STATIC_ROOT_PATH: folder }),
    },
    // Its command line writes beside it, and its half second is little where a disk is slow.
    database: { DB_TYPE: 'sqlite3', PATH: join(work, 'gitea.db'), SQLITE_TIMEOUT: '30000' },
    repository: { ROOT: join(work, 'repositories'), DEFAULT_BRANCH: 'main' },
    security: { INSTALL_LOCK: 'true', SECRET_KEY: 'of-a-test', PASSWORD_HASH_ALGO: 'pbkdf2_v2' },
    service: { DISABLE_REGISTRATION: 'true' },
    log: { MODE: 'console', LEVEL: 'Error' },
    indexer: { ISSUE_INDEXER_TYPE: 'db' },
    api: { MAX_RESPONSE_ITEMS: String(PAGE_SIZE) },
    actions: { ENABLED: 'false' },
    packages: { ENABLED: 'false' },
    cron: { ENABLED: 'false' },
  };
  for (const [name, values] of Object.entries(sections)) all[name] = { ...all[name], ...values };
  return Object.entries(all)
    .map(([name, values]) => {
      const lines = Object.entries(values).map(([key, value]) => `${key} = ${value}`);
      return [...(name === '' ? [] : [`[${name}]`]), ...lines, ''].join('\n');
    })
    .join('\n');
}

async function answering(url: string, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const isUp = await fetch(url).then(
      (response) => response.status < 500,
      () => false,
    );
    if (isUp) return;
    if (hasEnded()) throw new Error('Gitea has ended while it was starting');
    if (Date.now() > deadline) throw new Error('Gitea does not answer');
    await new Promise((done) => setTimeout(done, 50));
  }
}
