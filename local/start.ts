/**
 * `npm start`: the whole service on this machine.
 *
 * Every variable is taken from the process environment and checked before anything starts; a bad one ends the program
 * with exit code 1 and a sentence for each. Without HOSTING_TOKEN there is no bot account to act with, so the embedded
 * code host is started too and the service is pointed at it. Ctrl-C ends everything; the state stays.
 */
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { type Config, VARIABLES, parseConfig } from '../src/config.ts';
import { buildWorker } from './build.ts';
import { everyMinute } from './every-minute.ts';
import { SEED, seedRepository } from './seed.ts';
import { claimPort, startService } from './service.ts';
import { sandboxWelcome, welcome } from './welcome.ts';

/** What has been started and must be ended, in this order. */
const running: (() => Promise<void>)[] = [];

async function start(): Promise<void> {
  const env = variables();
  const result = parseConfig(env);
  if (result.kind === 'invalid') return fail(...result.problems.map(({ message }) => message));
  const { config, warnings } = result;
  for (const { message } of warnings) process.stderr.write(`gitveil: warning: ${message}\n`);
  const { host, port } = config;
  // First of all: two programs must never work on the same state.
  await claimPort(host, port).catch((error: NodeJS.ErrnoException) => fail(whyNotListening(config, error)));

  const [build, sandbox] = await Promise.all([
    buildWorker(),
    config.hostingToken === null ? startEmbeddedHost(config) : null,
  ]);
  const service = await startService({
    build,
    env: { ...env, ...(sandbox && addressesOf(sandbox)) },
    host,
    port,
    stateDir: join(config.stateDir, 'service'),
  });
  const endRuns = everyMinute(() => service.runScheduled());
  running.unshift(() => {
    endRuns();
    return service.dispose();
  });
  takeSignals();

  const text = sandbox
    ? sandboxWelcome(service.url, sandbox.url, config.stateDir)
    : welcome(service.url, config.hostingUrl, config.stateDir);
  // Standard output is the log's: a program that reads JSON lines there must not meet prose.
  (config.logFormat === 'json' ? process.stderr : process.stdout).write(text);
}

/** The service's variables as the environment sets them; an empty one counts as absent. */
function variables(): Record<string, string> {
  const entries = VARIABLES.map((name) => [name, process.env[name] ?? ''] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

async function startEmbeddedHost(config: Config): Promise<Sandbox> {
  const dir = join(config.stateDir, 'sandbox');
  // Beside the service, and the same each time: the state holds addresses of pull requests.
  const nextPort = config.port < 65_535 ? config.port + 1 : 0;
  const port = await claimPort('127.0.0.1', nextPort).catch(() => 0);
  const sandbox = await startSandbox({ port, dir });
  running.push(() => sandbox.close());
  const known = await fetch(`${sandbox.apiUrl}/repos/${SEED.owner}/${SEED.name}`);
  if (known.status === 404) await seedRepository(sandbox.createRepository(SEED), new Date());
  return sandbox;
}

function addressesOf(sandbox: Sandbox): Record<string, string> {
  return {
    HOSTING_URL: sandbox.url,
    HOSTING_API_URL: sandbox.apiUrl,
    HOSTING_TOKEN: sandbox.botToken,
    NOTIFY_BASE_URL: sandbox.notifyUrl,
  };
}

function whyNotListening({ host, port }: Config, error: NodeJS.ErrnoException): string {
  if (error.code === 'EADDRINUSE') {
    return `PORT is "${port}": that port is in use; stop what listens there, or set PORT to a free one`;
  }
  if (error.code === 'EACCES') {
    return `PORT is "${port}": ports below 1024 need privileges; set PORT to a higher one`;
  }
  return `HOST is "${host}": this machine cannot listen there; set HOST to one of its addresses`;
}

function fail(...messages: string[]): never {
  for (const message of messages) process.stderr.write(`gitveil: ${message}\n`);
  process.exit(1);
}

async function stop(): Promise<void> {
  // What is still starting must be there before it can be ended.
  await starting.catch(() => undefined);
  for (const end of running) await end();
  process.exit(0);
}

let stopping = false;

function onSignal(): void {
  if (!stopping) void stop();
  stopping = true;
}

/** Ours must be the only listeners: miniflare's end the program at once, before the code host has saved its records. */
function takeSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.removeAllListeners(signal).on(signal, onSignal);
}

takeSignals();
const starting = start();
starting.catch((error: unknown) => {
  // Ctrl-C in a terminal reaches the children as well; that they break off is then no news.
  if (!stopping) fail(`could not start: ${error instanceof Error ? error.message : String(error)}`);
});
