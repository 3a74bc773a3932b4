/**
 * Builds the Worker as a deployment would, and reads its bindings from the same wrangler.toml.
 *
 * Uses esbuild directly, because wrangler takes seconds to load. The result is plain data: a test
 * run builds once and passes it to every process that starts a service.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse as parseToml } from 'smol-toml';
import { type WorkerBundle, bundleFile, bundleWorker } from './esbuild.ts';
import { type Migration, statementsOf } from './migrations.ts';

const run = promisify(execFile);

/** The project's folder. */
const ROOT = join(import.meta.dirname, '../..');

export interface WorkerBuild {
  /** The bundled Worker, one ES module. */
  readonly script: string;
  readonly settings: WorkerSettings;
  /** Bundles of the Workers in local/runtime/workers, by name. */
  readonly helpers: { readonly migrate: string; readonly schedule: string };
  readonly migrations: readonly Migration[];
  /** Hash of `script`, by `bundleHash`. */
  readonly bundleHash: string;
  /** ISO 8601. */
  readonly builtAt: string;
}

/** Settings of the Worker in wrangler.toml. The Worker uses no other kinds of bindings. */
export interface WorkerSettings {
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly vars: Readonly<Record<string, string>>;
  /** Names of the bindings of each kind. */
  readonly versionMetadata: string | null;
  readonly databases: readonly string[];
  readonly kvNamespaces: readonly string[];
  /** Names of the service bindings; all of them lead to the Worker itself. */
  readonly selves: readonly string[];
  /** Class names of the Durable Objects, by the names of their bindings. */
  readonly durableObjects: Readonly<Record<string, string>>;
}

/**
 * Builds the Worker. Rejects with the bundler's message if the code does not build.
 * @param main another file in place of the Worker's, for tests that look into it.
 */
export async function buildWorker(main?: string): Promise<WorkerBuild> {
  const configured = await readConfig();
  const config = main === undefined ? configured : { ...configured, main };
  const [script, migrate, schedule, migrations] = await Promise.all([
    bundleWorker(config),
    bundleFile('runtime/workers/migrate.ts', 'workerd'),
    bundleFile('runtime/workers/schedule.ts', 'workerd'),
    readMigrations(),
  ]);
  const builtAt = new Date().toISOString();
  return {
    script,
    settings: settingsOf(config),
    helpers: { migrate, schedule },
    migrations,
    bundleHash: bundleHash(script),
    builtAt,
  };
}

/**
 * Reads the id of the checked-out commit, with `-dirty` behind it when the working tree differs.
 * Answers `main`, the variable's default, when Git cannot tell.
 */
export async function currentCommit(): Promise<string> {
  try {
    const { stdout } = await run(
      'git',
      ['--no-optional-locks', 'describe', '--always', '--abbrev=40', '--exclude=*', '--dirty'],
      {
        cwd: ROOT,
      },
    );
    return stdout.trim();
  } catch {
    return 'main';
  }
}

/**
 * Computes the SHA-256 in hex. The same commit has the same hash on every machine, because the lock
 * file fixes every package.
 */
export function bundleHash(script: string): string {
  return createHash('sha256').update(script).digest('hex');
}

/** The part of wrangler.toml that is read here. */
interface WranglerConfig extends WorkerBundle {
  readonly name: string;
  readonly compatibility_date: string;
  readonly compatibility_flags?: readonly string[];
  readonly vars: Readonly<Record<string, string>>;
  readonly version_metadata?: { readonly binding: string };
  readonly d1_databases: readonly { readonly binding: string }[];
  readonly kv_namespaces: readonly { readonly binding: string }[];
  readonly services: readonly { readonly binding: string; readonly service: string }[];
  readonly durable_objects: { readonly bindings: readonly { name: string; class_name: string }[] };
}

/** Reads wrangler.toml as it is; `wrangler deploy` validates it. */
export async function readConfig(): Promise<WranglerConfig> {
  return parseToml(await readFile(join(ROOT, 'wrangler.toml'), 'utf8')) as unknown as WranglerConfig;
}

function settingsOf(config: WranglerConfig): WorkerSettings {
  const objects = config.durable_objects.bindings.map(({ name, class_name }) => [name, class_name] as const);
  return {
    compatibilityDate: config.compatibility_date,
    compatibilityFlags: config.compatibility_flags ?? [],
    vars: config.vars,
    versionMetadata: config.version_metadata?.binding ?? null,
    databases: config.d1_databases.map(({ binding }) => binding),
    kvNamespaces: config.kv_namespaces.map(({ binding }) => binding),
    selves: config.services.map(({ binding }) => binding),
    durableObjects: Object.fromEntries(objects),
  };
}

async function readMigrations(): Promise<Migration[]> {
  const folder = join(ROOT, 'migrations');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
  return Promise.all(
    names.map(async (name) => ({
      name,
      statements: statementsOf(await readFile(join(folder, name), 'utf8')),
    })),
  );
}
