/**
 * What `npm start` runs, bundled: the Worker, and the program that runs it. `npm run build --
 * --keep` keeps both in the checkout, so that a service needs neither bundler nor Git at each
 * start. What was kept is used only while nothing has changed of what it was made from.
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
/** Files, and folders with all that is in them. The lock file stands for the packages. */
const SOURCES = ['local', 'migrations', 'sandbox', 'src', 'package-lock.json', 'wrangler.toml'];

/** Rejects with the bundler's message if the code does not build. */
export async function buildForStart(): Promise<StartBuild> {
  const kept = await readKept();
  if (kept !== null && kept.sources === (await sourcesHash())) return kept.build;
  return makeBuild();
}

/** Answers the file. */
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
    // None was kept, or its writing broke off.
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
