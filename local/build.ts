/**
 * Builds the Worker exactly as a deployment would, and reads its bindings from the same wrangler.toml.
 *
 * The result is plain data: a test run builds once and passes it to every process that starts a service. Bundling takes
 * a second or two. Starting from a finished build takes a fraction of that.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleFile } from './esbuild.ts';
import type { Migration } from './migrations.ts';

const run = promisify(execFile);

/** The project's folder. */
const ROOT = join(import.meta.dirname, '..');

export interface WorkerBuild {
  /** The bundled Worker, one ES module. */
  readonly script: string;
  readonly settings: WorkerSettings;
  /** The Workers of local/workers, bundled, by their names. */
  readonly helpers: { readonly migrate: string; readonly schedule: string };
  readonly migrations: readonly Migration[];
  /** The commit that was built, from `currentCommit`. */
  readonly commitHash: string;
  /** ISO 8601. */
  readonly builtAt: string;
}

/** The Worker's settings in wrangler.toml. Other kinds of bindings are not used. */
export interface WorkerSettings {
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly vars: Readonly<Record<string, string>>;
  /** Names of the bindings of each kind. */
  readonly versionMetadata: string | null;
  readonly databases: readonly string[];
  readonly kvNamespaces: readonly string[];
  /** Class names of the Durable Objects, by the names of their bindings. */
  readonly durableObjects: Readonly<Record<string, string>>;
}

/**
 * Bundles src/worker.ts. Rejects with the bundler's message if the code does not build.
 *
 * @param signal cancels it
 */
export async function buildWorker(signal?: AbortSignal): Promise<WorkerBuild> {
  const [script, migrate, schedule, commitHash, { settings, migrations }] = await Promise.all([
    bundle(signal),
    bundleFile('workers/migrate.ts', 'workerd'),
    bundleFile('workers/schedule.ts', 'workerd'),
    currentCommit(),
    readProject(),
  ]);
  const builtAt = new Date().toISOString();
  return { script, settings, helpers: { migrate, schedule }, migrations, commitHash, builtAt };
}

/**
 * The id of the checked-out commit, with `-dirty` behind it when the working tree differs; `main`, the variable's
 * default, when Git cannot tell.
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

async function bundle(signal?: AbortSignal): Promise<string> {
  const outdir = await mkdtemp(join(tmpdir(), 'gitveil-build-'));
  try {
    await runWrangler(['deploy', '--dry-run', '--outdir', outdir], signal);
    return await readFile(join(outdir, 'worker.js'), 'utf8');
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

async function runWrangler(args: readonly string[], signal?: AbortSignal): Promise<void> {
  const program = join(ROOT, 'node_modules/wrangler/bin/wrangler.js');
  // The banner would look for newer versions on the internet. A build must not.
  const env = { ...process.env, WRANGLER_HIDE_BANNER: 'true', WRANGLER_SEND_METRICS: 'false' };
  const running = run(process.execPath, [program, ...args], { cwd: ROOT, env, ...(signal && { signal }) });
  const ended = new Promise((resolve) => {
    running.child.once('close', resolve);
  });
  // After it was cancelled, it still writes for a moment.
  await Promise.allSettled([running, ended]);
  await running;
}

/** The part of wrangler.toml that is read here. */
interface WranglerConfig {
  readonly compatibility_date: string;
  readonly compatibility_flags: readonly string[];
  readonly vars: Readonly<Record<string, string>>;
  readonly version_metadata?: { readonly binding: string };
  readonly d1_databases: readonly { readonly binding: string }[];
  readonly kv_namespaces: readonly { readonly binding: string }[];
  readonly durable_objects: { readonly bindings: readonly { name: string; class_name: string }[] };
}

async function readProject(): Promise<Pick<WorkerBuild, 'settings' | 'migrations'>> {
  const { unstable_readConfig: readConfig, unstable_splitSqlQuery: split } = await import('wrangler');
  const config = readConfig({ config: join(ROOT, 'wrangler.toml') }) as WranglerConfig;
  const objects = config.durable_objects.bindings.map(({ name, class_name }) => [name, class_name] as const);
  const settings = {
    compatibilityDate: config.compatibility_date,
    compatibilityFlags: config.compatibility_flags,
    vars: config.vars,
    versionMetadata: config.version_metadata?.binding ?? null,
    databases: config.d1_databases.map(({ binding }) => binding),
    kvNamespaces: config.kv_namespaces.map(({ binding }) => binding),
    durableObjects: Object.fromEntries(objects),
  };
  return { settings, migrations: await readMigrations(split) };
}

async function readMigrations(split: (sql: string) => string[]): Promise<Migration[]> {
  const folder = join(ROOT, 'migrations');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
  return Promise.all(
    names.map(async (name) => ({ name, statements: split(await readFile(join(folder, name), 'utf8')) })),
  );
}
