/**
 * Runs the service: workerd, the scheduled handler, and the embedded code host if there is no bot
 * account. start.ts has checked and prepared everything, and passes it as the only argument.
 *
 * Ctrl-C ends it all; the state stays.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'node:util';
import { type Config, parseConfig } from '../../src/config/config.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { EMBEDDED_TICK_MS, hostVariables, isHostEmbedded, startEmbeddedHost } from './embedded-host.ts';
import {
  END_SIGNALS,
  couldNotStart,
  isEndSignal,
  isJsonLog,
  passOn,
  say,
  variables,
} from '../environment.ts';
import { whyNotListening } from './ports.ts';
import type { PreparedService } from './prepare-service.ts';
import { type Service, runService } from './run-service.ts';
import { everyTick, USUAL_TICK_MS } from './ticks.ts';
import { takeStateDir } from './state-lock.ts';
import { sandboxWelcome, welcome } from './welcome.ts';
import { type Ending, WorkerdFailure } from './workerd.ts';

process.title = 'gitveil';
const prepared = JSON.parse(process.argv[2] as string) as PreparedService;

/** Functions that end what is running, in this order. */
const running: (() => Promise<void>)[] = [() => rm(prepared.folder, { recursive: true, force: true })];

/** Set once the service runs for the first time. */
let service: Service;
/** The service that was ended because another one takes its place. */
let replaced: Service | null = null;
let restarting: Promise<void> | null = null;

async function start(): Promise<void> {
  const env = variables();
  const result = parseConfig(env);
  if (result.kind === 'invalid') throw new Error('the environment is not the one that was checked');
  const { config } = result;
  // start.ts has taken it, and warned if it has no locks. A lock does not outlive execve(2).
  const taken = takeStateDir(config.stateDir, config.port, () => {});
  if (taken !== null) throw new Error(taken);
  const sandbox = isHostEmbedded(config) ? await startSandbox(config, () => forgetLimits(startAnew)) : null;
  const serviceEnv = { ...env, ...(sandbox && hostVariables(sandbox, env)) };
  const tickMs = sandbox ? EMBEDDED_TICK_MS : USUAL_TICK_MS;
  const startAnew = async (): Promise<void> => {
    service = await startService(config, serviceEnv, tickMs);
  };
  await startAnew();
  const endRuns = everyTick(tickMs, () => restarting ?? service.runScheduled(), { startsNow: !sandbox });
  running.unshift(() => {
    endRuns();
    return service.dispose();
  });
  const text = sandbox
    ? sandboxWelcome(service.url, sandbox.url, config.stateDir)
    : welcome(service.url, config);
  // A program that reads JSON lines must not find other text.
  passOn(isJsonLog ? `gitveil is running at ${service.url}` : text, 'info');
}

async function startSandbox(
  { port, stateDir }: Config,
  onForgetLimits: () => Promise<void>,
): Promise<Sandbox> {
  const sandbox = await startEmbeddedHost(port, join(stateDir, 'sandbox'), onForgetLimits);
  running.unshift(() => sandbox.close());
  return sandbox;
}

async function startService(config: Config, env: Record<string, string>, tickMs: number): Promise<Service> {
  const { host, port } = config;
  const started = await runService(prepared, { env, host, port, tickMs }).catch(async (error: unknown) => {
    const isTaken = error instanceof WorkerdFailure && error.isAddressTaken;
    throw isTaken ? new Error(await whyNotListening(host, port, 'EADDRINUSE'), { cause: error }) : error;
  });
  void started.ended.then((ending) => {
    if (started !== replaced) onWorkerdEnd(ending);
  });
  return started;
}

/**
 * Restarts the service without the files of its counts. The service itself cannot forget them,
 * because that function would have to be guarded wherever it runs. Only the embedded code host,
 * which listens on this machine, gets this one.
 */
function forgetLimits(startAnew: () => Promise<void>): Promise<void> {
  const restart = async (): Promise<void> => {
    await starting;
    if (isStopping) return;
    replaced = service;
    await service.dispose();
    for (const folder of prepared.limitsFolders) await rm(folder, { recursive: true, force: true });
    await startAnew();
  };
  restarting ??= restart()
    .catch(onFailedStart)
    .finally(() => (restarting = null));
  return restarting;
}

/** Ends this program, too. Ctrl-C in a terminal also reaches workerd, and may do so first. */
function onWorkerdEnd({ code, signal }: Ending): void {
  if (isEndSignal(signal)) void stop(0);
  else void stop(1, `workerd has ended unexpectedly: ${signal ?? `exit code ${code}`}`);
}

function onFailedStart(error: unknown): void {
  const isAsked = error instanceof WorkerdFailure && isEndSignal(error.ending.signal);
  void (isAsked ? stop(0) : stop(1, couldNotStart(error)));
}

let isStopping = false;

/**
 * Ends everything that is running, then this program.
 * @param message the reason, unless someone asked for the end
 */
async function stop(exitCode: number, message?: string): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  if (message !== undefined) say(message);
  // Anything that is still starting must have started before it can be ended.
  await Promise.allSettled([starting, restarting]);
  for (const end of running) await end();
  process.exit(exitCode);
}

// So the embedded code host and Node.js print their errors.
console.error = (...words) => say(format(...words));
process.on(
  'uncaughtException',
  (error) => void stop(1, `ended unexpectedly: ${error.stack ?? error.message}`),
);
for (const signal of END_SIGNALS) process.on(signal, () => void stop(0));
const starting = start();
starting.catch(onFailedStart);
