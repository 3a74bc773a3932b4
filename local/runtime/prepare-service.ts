/**
 * Prepares the service: writes workerd's configuration and its modules into a folder, and brings
 * the database up to date.
 *
 * A workerd with only the database does that, and ends. workerd opens all its sockets at once, so
 * the one that runs the service would accept requests before its tables exist.
 */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { WorkerBuild } from '../deploy/build.ts';
import { passOn } from '../environment.ts';
import type { Migration } from '../deploy/migrations.ts';
import { OWN_VARIABLES } from './run-service.ts';
import { STAND_INS_PATH } from './stand-ins.ts';
import { post } from './unix-request.ts';
import { LIMITS_FOLDERS, STATE_FOLDERS, databaseConfig, modulesOf, serviceConfig } from './workerd-config.ts';
import { type WorkerdCommand, startWorkerd } from './workerd.ts';

/** Everything that is needed to run the service, as plain data. */
export interface PreparedService {
  readonly workerd: WorkerdCommand;
  /** A temporary folder, to be removed when the service has ended. */
  readonly folder: string;
  /** Path of the configuration in `folder`. */
  readonly config: string;
  /**
   * Folders with the counts of what clients do. They can be removed while the service does not run.
   */
  readonly limitsFolders: readonly string[];
  readonly bundleHash: string;
}

export interface PrepareOptions {
  readonly build: WorkerBuild;
  /** Names of the variables that will be set, in addition to the service's own. */
  readonly variables: readonly string[];
  /** Folder of the Durable Objects, D1 and KV. `null`: in the temporary folder. */
  readonly stateDir: string | null;
  /** Whether the runtime's `fetch` fails in the service. Default: no. */
  readonly refusesFetch?: boolean;
  /** Whether a scheduled run may be at any time, so that tests need not wait. Default: no. */
  readonly isTriggerClock?: boolean;
  /** The path of workerd. Default: the package's. */
  readonly program?: string;
}

export async function prepareService(options: PrepareOptions): Promise<PreparedService> {
  const { build, refusesFetch = false, isTriggerClock = false } = options;
  const variables = [...new Set([...OWN_VARIABLES, ...options.variables])];
  const folder = await mkdtemp(join(tmpdir(), 'gitveil-'));
  try {
    const stateDir = resolve(options.stateDir ?? join(folder, 'state'));
    for (const name of STATE_FOLDERS) await mkdir(join(stateDir, name), { recursive: true });
    const config = join(folder, 'service.capnp');
    const database = join(folder, 'database.capnp');
    await Promise.all([
      writeFile(config, serviceConfig(build, { stateDir, variables, refusesFetch, isTriggerClock })),
      writeFile(database, databaseConfig(build, stateDir)),
      ...Object.entries(modulesOf(build)).map(([name, text]) => writeFile(join(folder, name), text)),
    ]);
    const workerd = { program: options.program ?? workerdProgram(), importPath: STAND_INS_PATH };
    await migrate(workerd, database, build.migrations, join(stateDir, 'd1'));
    const { bundleHash } = build;
    const limitsFolders = LIMITS_FOLDERS.map((name) => join(stateDir, name));
    return { workerd, folder, config, limitsFolders, bundleHash };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Finds the file of the database. Answers the folder if it holds several. */
async function databaseIn(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true });
  const [file, ...others] = entries.filter((path) => /(?<!\bmetadata)\.sqlite$/.test(path));
  return file === undefined || others.length > 0 ? folder : join(folder, file);
}

/**
 * Brings the database up to date.
 * @param folder of the database, for the message.
 */
async function migrate(
  command: WorkerdCommand,
  config: string,
  migrations: readonly Migration[],
  folder: string,
): Promise<void> {
  if (migrations.length === 0) return;
  const socket = join(dirname(config), 'migrate.socket');
  const workerd = await startWorkerd({
    ...command,
    config,
    sockets: { migrate: `unix:${socket}` },
    onLog: ({ message, level }) => passOn(message, level),
  });
  try {
    const { status, body } = await post(socket, JSON.stringify(migrations));
    if (status !== 204)
      throw new Error(
        `the database cannot be used, and may be damaged (${await databaseIn(folder)}): ${body}. docs/deploy.md#a-damaged-database says how to go on`,
      );
  } finally {
    await workerd.kill();
  }
}

/** Finds workerd by its package, which has no types. */
function workerdProgram(): string {
  const { default: program } = createRequire(import.meta.url)('workerd') as { default: string };
  return program;
}
