/**
 * Builds the Worker exactly as a deployment would, and reads its bindings from the same wrangler.toml.
 *
 * The result is plain data: a test run builds once and hands it to every process that starts a service. Bundling needs a
 * second or two; starting from a finished build, a fraction of one.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SourcelessWorkerOptions } from 'wrangler';

const run = promisify(execFile);

/** The project's folder. */
const ROOT = join(import.meta.dirname, '..');

export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

export interface WorkerBuild {
  /** The bundled Worker, one ES module. */
  readonly script: string;
  /** The bindings of wrangler.toml, as miniflare wants them. */
  readonly options: Omit<SourcelessWorkerOptions, 'modulesRules'>;
  readonly migrations: readonly Migration[];
  /** The commit that was built, as `currentCommit` tells it. */
  readonly commitHash: string;
  /** ISO 8601. */
  readonly builtAt: string;
}

/** Bundles src/worker.ts. Rejects with the bundler's own words when the code does not build. */
export async function buildWorker(): Promise<WorkerBuild> {
  const [script, commitHash, wrangler] = await Promise.all([bundle(), currentCommit(), import('wrangler')]);
  const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions(join(ROOT, 'wrangler.toml'));
  const { modulesRules: _, ...options } = workerOptions;
  const migrations = await readMigrations(wrangler.unstable_splitSqlQuery);
  return { script, options, migrations, commitHash, builtAt: new Date().toISOString() };
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

async function bundle(): Promise<string> {
  const outdir = await mkdtemp(join(tmpdir(), 'gitveil-build-'));
  try {
    const wrangler = join(ROOT, 'node_modules/wrangler/bin/wrangler.js');
    // The banner looks for newer versions on the internet; a build must not.
    const env = { ...process.env, WRANGLER_HIDE_BANNER: 'true', WRANGLER_SEND_METRICS: 'false' };
    await run(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', outdir], { cwd: ROOT, env });
    return await readFile(join(outdir, 'worker.js'), 'utf8');
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

async function readMigrations(split: (sql: string) => string[]): Promise<Migration[]> {
  const folder = join(ROOT, 'migrations');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
  return Promise.all(
    names.map(async (name) => ({ name, statements: split(await readFile(join(folder, name), 'utf8')) })),
  );
}
