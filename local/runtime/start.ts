/**
 * `npm start`: the whole service on this machine.
 *
 * Every variable is taken from the process environment and checked before anything starts; a bad
 * one ends the program with exit code 1 and a sentence for each. Then the Worker is bundled, unless
 * that was done before (kept-build.ts), and the database brought up to date.
 *
 * The tools for this (Node.js with TypeScript, the migrations) use memory that the running service
 * does not need. So this program ends by becoming another one: run.ts, bundled into one file.
 * execve(2) keeps the process and frees its memory. That program with the embedded code host, and
 * workerd, then use about 160 MiB together; a test fails above 180 MiB. npm uses 50 to 80 MiB more,
 * by its version.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { readArguments } from '../arguments.ts';
import { readConfiguration } from '../configuration.ts';
import { HOST_VARIABLES, isHostEmbedded } from './embedded-host.ts';
import { END_SIGNALS, couldNotStart, say, variables } from '../environment.ts';
import { buildForStart } from '../deploy/kept-build.ts';
import { tryPort, whyNotListening } from './ports.ts';
import { diskFinding } from '../operator/machine-check.ts';
import { type PreparedService, prepareService } from './prepare-service.ts';
import { stateDirProblem } from './state-dir.ts';
import { takeStateDir } from './state-lock.ts';

const EXPLAINED_IN = 'docs/configuration.md';

const USAGE = `
Usage: npm start

Runs the service on this machine. All settings are environment variables: docs/configuration.md lists them. The usual ones:

  PORT=8080             the port that it listens on
  HOST=127.0.0.1        the address that it listens on
  STATE_DIR=.state      the folder that keeps its state
  HOSTING_TOKEN         the bot's access token; without one, an embedded code host starts as well
  SERVICE_URL           the service's public address
`;

/** Aborted when someone asks this program to end. */
const ending = new AbortController();

async function start(): Promise<void> {
  readArguments(USAGE, {});
  const { config, problems, warnings } = readConfiguration();
  for (const message of warnings) warnOfVariable(message);
  if (config === null || problems.length > 0) failToConfigure(problems);
  const env = variables();
  // The configuration warns of one that is missing.
  if (env['DB_URL'] === undefined && env['DB_KEY'] === undefined) {
    warnOfVariable(`DB_URL and DB_KEY are not set: statistics and karma are kept in ${config.stateDir}`);
  }
  await checkPort(config);
  checkStateDir(config, isHostEmbedded(config) ? ['service', 'sandbox'] : ['service']);
  warnOfDisk(config);

  const build = await buildForStart();
  const prepared = await prepareService({
    build: build.worker,
    variables: [...Object.keys(env), ...(isHostEmbedded(config) ? HOST_VARIABLES : [])],
    stateDir: join(config.stateDir, 'service'),
  });
  try {
    await becomeRunning(prepared, build.program);
  } finally {
    await rm(prepared.folder, { recursive: true, force: true });
  }
}

async function checkPort({ host, port }: Config): Promise<void> {
  try {
    await tryPort(host, port);
  } catch (error) {
    fail(await whyNotListening(host, port, (error as NodeJS.ErrnoException).code));
  }
}

function checkStateDir({ stateDir, port }: Config, subfolders: readonly string[]): void {
  const problem =
    stateDirProblem(stateDir, subfolders) ?? takeStateDir(stateDir, port, (message) => say(message, 'warn'));
  if (problem !== null) fail(problem);
}

/** It starts all the same: fetches and the panic switch need no room. */
function warnOfDisk(config: Config): void {
  const { state, says, remedy = '' } = diskFinding(config);
  if (state !== 'ok') say(`${says}. ${remedy}`, 'warn');
}

/** @param message names the variable. */
function warnOfVariable(message: string): void {
  say(`${message} (${EXPLAINED_IN})`, 'warn');
}

function failToConfigure(problems: readonly string[]): never {
  fail(...problems, `${EXPLAINED_IN} explains every variable`);
}

function fail(...problems: readonly string[]): never {
  for (const message of problems) say(message);
  process.exit(1);
}

/**
 * Returns only if it fails. Uses no JIT compilers (12 MB), because the program has little to do.
 */
async function becomeRunning(prepared: PreparedService, text: string): Promise<void> {
  const program = join(prepared.folder, 'run.cjs');
  await writeFile(program, text);
  ending.signal.throwIfAborted();
  if (!process.execve) throw new Error('this system has no execve(2), as Linux and macOS have');
  const args = ['--jitless', program, JSON.stringify(prepared)];
  process.execve(process.execPath, [process.execPath, ...args], process.env);
}

for (const signal of END_SIGNALS) process.on(signal, () => ending.abort());
start().catch((error: unknown) => {
  // The cancelled step cleans up after itself, and then this program has nothing left to do.
  if (!ending.signal.aborted) fail(couldNotStart(error));
});
