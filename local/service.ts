/**
 * Runs a built Worker on this machine: one workerd, its bindings kept in a folder, nothing on the internet.
 *
 * miniflare writes workerd's configuration and keeps it running; requests go straight to a socket of workerd's own
 * (`unsafeDirectSockets`), so that neither Node nor miniflare's entry Worker stands in the way of a body, and what is
 * measured here is the service.
 */
import { randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { Miniflare, convertV4MiniflareOptions } from 'miniflare';
import { localUrl } from '../src/config.ts';
import { applyMigrations } from './migrations.ts';
import { type WorkerBuild, buildWorker } from './build.ts';

export interface ServiceOptions {
  /** Default: builds the Worker now. Whoever starts several services builds once and gives it to each. */
  readonly build?: WorkerBuild;
  /** Variables of the service, by name; what is not given has wrangler.toml's or the configuration's default. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Where Durable Objects, D1 and KV are kept; `null`: in a temporary folder that goes with the service. */
  readonly stateDir: string | null;
  /** Receives each line that the service logs. Default: standard output. */
  readonly writeLog?: (line: string) => void;
}

export interface Service {
  /** Without a trailing slash. */
  readonly url: string;
  /** Process id of workerd, to measure its memory by; `null` where there is no /proc. */
  readonly workerdPid: number | null;
  /**
   * Runs the Worker's scheduled handler, as the cron trigger does. Each run counts as a minute later than the last one,
   * as the handler heeds how often the code host may be asked. Rejects if the handler does.
   */
  runScheduled(): Promise<void>;
  /** Ends workerd and keeps the state. */
  dispose(): Promise<void>;
}

const MINUTE_MS = 60_000;

const PORT_ATTEMPTS = 5;

/** Environment variable by which a service finds its own workerd among the machine's processes. */
const MARK = 'GITVEIL_SERVICE';

/**
 * Starts a service and returns once it answers.
 * Rejects with the system's error (`code` EADDRINUSE, EACCES, EADDRNOTAVAIL) when it cannot listen where it should.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { build = await buildWorker(), host = '127.0.0.1', port = 0 } = options;
  for (let attempt = 1; ; attempt++) {
    const claimed = await claimPort(host, port);
    try {
      return await startOn({ ...options, build, host, port: claimed });
    } catch (error) {
      // Someone else may take a free port before workerd does: then another one will do.
      const isTaken = error instanceof Error && 'code' in error && error.code === 'ERR_ADDRESS_IN_USE';
      if (!isTaken || port !== 0 || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

type StartOptions = ServiceOptions & Required<Pick<ServiceOptions, 'build' | 'host' | 'port'>>;

async function startOn(options: StartOptions): Promise<Service> {
  const { build, stateDir, host, port } = options;
  const url = localUrl(host, port);
  const mark = randomUUID();
  const { versionMetadata: _, bindings, ...workerOptions } = build.options;
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      ...workerOptions,
      name: 'gitveil',
      modules: true,
      script: build.script,
      bindings: {
        ...(bindings as Record<string, string>),
        SERVICE_URL: url,
        COMMIT_HASH: build.commitHash,
        // miniflare would report the time of the start; what is asked for is the time of the build.
        VERSION: { id: mark, tag: '', timestamp: build.builtAt },
        ...options.env,
      },
      unsafeDirectSockets: [{ host, port }],
      // An address that the service passed on by mistake must show in the tests, and not be taken away here.
      stripCfConnectingIp: false,
      ...(stateDir === null ? {} : { resourcePersistencePath: resolve(stateDir) }),
      cf: false,
      telemetry: { enabled: false },
      unsafeRuntimeEnv: { [MARK]: mark },
      handleStructuredLogs: ({ level, message }) => writeLine(options, level, message),
    }),
  );
  try {
    await miniflare.ready;
    await applyMigrations(await miniflare.getD1Database('DB'), build.migrations);
  } catch (error) {
    await miniflare.dispose();
    throw error;
  }
  return {
    url,
    workerdPid: await findProcess(`${MARK}=${mark}`),
    runScheduled: scheduledRuns(miniflare),
    dispose: () => miniflare.dispose(),
  };
}

/** Miniflare has a door of its own for this: nothing is added to what listens on the service's port. */
function scheduledRuns(miniflare: Miniflare): () => Promise<void> {
  let lastTime = 0;
  return async () => {
    lastTime = Math.max(Date.now(), lastTime + MINUTE_MS);
    const worker = await miniflare.getWorker('gitveil');
    const { outcome } = await worker.scheduled({ scheduledTime: new Date(lastTime), cron: '* * * * *' });
    if (outcome !== 'ok') throw new Error(`the scheduled handler ended with: ${outcome}`);
  };
}

/** The service logs with `console.log` only; all else is workerd itself, and belongs on standard error. */
function writeLine(options: ServiceOptions, level: string, message: string): void {
  if (level !== 'log') process.stderr.write(`${message}\n`);
  else if (options.writeLog) options.writeLog(message);
  else process.stdout.write(`${message}\n`);
}

/**
 * Makes sure that the port can be listened on, as workerd's own complaint is hard to read; 0 finds a free one.
 * Answers the port, which is free again. Rejects with the system's error.
 */
export function claimPort(host: string, port: number): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}

/** The process whose environment holds `entry`. miniflare keeps its child's id to itself. */
async function findProcess(entry: string): Promise<number | null> {
  const processes = await readdir('/proc').catch(() => []);
  for (const pid of processes.filter((name) => /^\d+$/.test(name))) {
    // Processes of other users, and those that have just ended, cannot be read.
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(entry)) return Number(pid);
  }
  return null;
}
