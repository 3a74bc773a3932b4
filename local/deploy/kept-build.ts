/**
 * Bundles everything that `npm start` runs: the Worker, and the program that runs it. `npm run
 * build -- --keep` keeps both in the checkout, so that a service needs neither bundler nor Git at
 * each start. A kept build is used only while none of its sources has changed.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type WorkerBuild, buildWorker } from './build.ts';
import { bundleFile } from './esbuild.ts';

export interface StartBuild {
  readonly worker: WorkerBuild;
  /** The bundle of local/runtime/run.ts. */
  readonly program: string;
}

const ROOT = join(import.meta.dirname, '../..');
const KEPT = join(ROOT, '.build/start.json');
/**
 * Sources of the build: files, and folders with everything in them. The lock file stands for the
 * packages.
 */
const SOURCES = ['local', 'migrations', 'sandbox', 'src', 'package-lock.json', 'wrangler.toml'];

/**
 * Answers the kept build if its sources are unchanged, else a new one. Rejects with the bundler's
 * message if the code does not build.
 */
export async function buildForStart(): Promise<StartBuild> {
  const kept = await readKept();
  if (kept !== null && kept.sources === (await sourcesHash())) return kept.build;
  return makeBuild();
}

/** Builds, and keeps the build for later starts. Answers its file. */
export async function keepBuild(): Promise<string> {
  const kept = { sources: await sourcesHash(), build: await makeBuild() };
  await mkdir(dirname(KEPT), { recursive: true });
  await writeFile(KEPT, JSON.stringify(kept));
  return KEPT;
}

/**
 * Uses a CommonJS bundle for the program, because importing node:http from an ES module loads
 * undici (14 MB).
 */
async function makeBuild(): Promise<StartBuild> {
  const [worker, program] = await Promise.all([buildWorker(), bundleFile('runtime/run.ts', 'node')]);
  return { worker, program };
}

async function readKept(): Promise<{ sources: string; build: StartBuild } | null> {
  try {
    return JSON.parse(await readFile(KEPT, 'utf8')) as { sources: string; build: StartBuild };
  } catch {
    // There is none, or writing it was interrupted.
    return null;
  }
}

async function sourcesHash(): Promise<string> {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    for (const file of await filesIn(source))
      hash.update(`${file}\0`).update(await readFile(join(ROOT, file)));
  }
  return hash.digest('hex');
}

async function filesIn(source: string): Promise<string[]> {
  if (source.includes('.')) return [source];
  const entries = await readdir(join(ROOT, source), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length + 1))
    .toSorted();
}
