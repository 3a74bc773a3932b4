/**
 * Runs a prepared service: one workerd, whose socket is the service's port. Nothing else handles a
 * request, so measurements show the service itself.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { localUrl } from '../../src/config/config.ts';
import { passOn } from '../environment.ts';
import type { PreparedService } from './prepare-service.ts';
import { USUAL_TICK_MS } from './ticks.ts';
import { post } from './unix-request.ts';
import { type Ending, type LogEntry, startWorkerd } from './workerd.ts';

export interface RunOptions {
  /**
   * Variables of the service, by name. The others have the default of wrangler.toml or of the
   * configuration.
   */
  readonly env: Readonly<Record<string, string>>;
  readonly host: string;
  readonly port: number;
  /** Least difference between the times of two scheduled runs. Default: a minute. */
  readonly tickMs?: number;
  /** Receives each line that the service logs. Default: standard output. */
  readonly writeLog?: (line: string) => void;
  /** Called for each use of the runtime's `fetch`, if the service was prepared to refuse it. */
  readonly onFetch?: (request: string) => void;
}

export interface Service {
  /** Address of the service, without a trailing slash. */
  readonly url: string;
  /** Process of workerd, for measuring its memory or killing it. */
  readonly workerdPid: number;
  /** Resolves when workerd has ended, by `dispose` or by itself. */
  readonly ended: Promise<Ending>;
  /**
   * Runs the Worker's scheduled handler, as the cron trigger does. Each run gets a time that is at
   * least one tick after the last one, because the handler respects how often the code host may be
   * asked. Rejects if the handler does.
   * @param at milliseconds since 1970, for what happens long after; default: now.
   */
  runScheduled(at?: number): Promise<void>;
  /** Ends workerd and keeps the state. */
  dispose(): Promise<void>;
}

/**
 * Variables that are always set. SERVICE_URL is not one of them, because others may reach the
 * service by another name.
 */
export const OWN_VARIABLES = ['HOST', 'PORT', 'BUNDLE_HASH'] as const;

/** Start of the log line of a refused `fetch` of the runtime. */
export const REFUSED_FETCH = 'the runtime may not fetch: ';

/** Returns once the service answers. Rejects with a `WorkerdFailure` when it does not start. */
export async function runService(prepared: PreparedService, options: RunOptions): Promise<Service> {
  const { folder, config, bundleHash } = prepared;
  const { host, port, tickMs = USUAL_TICK_MS } = options;
  const url = localUrl(host, port);
  const schedule = join(folder, 'schedule.socket');
  // A failed attempt leaves it behind.
  await rm(schedule, { force: true });
  const workerd = await startWorkerd({
    ...prepared.workerd,
    config,
    sockets: { service: `${bracketed(host)}:${port}`, schedule: `unix:${schedule}` },
    env: { HOST: host, PORT: String(port), BUNDLE_HASH: bundleHash, ...options.env },
    onLog: (entry) => writeEntry(options, entry),
  });
  return {
    url,
    workerdPid: workerd.pid,
    ended: workerd.ended,
    runScheduled: scheduledRuns(schedule, tickMs),
    dispose: () => workerd.kill(),
  };
}

function scheduledRuns(socket: string, tickMs: number): Service['runScheduled'] {
  let lastTime = 0;
  return async (at = Date.now()) => {
    lastTime = Math.max(at, lastTime + tickMs);
    const { body: outcome } = await post(socket, String(lastTime));
    if (outcome !== 'ok') throw new Error(`the scheduled handler ended with: ${outcome}`);
  };
}

/**
 * Writes an entry of workerd's log. The service logs only with `console.log`. Everything else comes
 * from workerd, which has already handled what it marks with NOSENTRY; those lines are only for its
 * developers.
 */
function writeEntry({ writeLog, onFetch }: RunOptions, { level, message }: LogEntry): void {
  if (message.startsWith(REFUSED_FETCH)) onFetch?.(message.slice(REFUSED_FETCH.length));
  else if (level === 'log') (writeLog ?? writeToStdout)(message);
  else if (!message.startsWith('NOSENTRY')) passOn(message, level);
}

function writeToStdout(line: string): void {
  process.stdout.write(`${line}\n`);
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);
