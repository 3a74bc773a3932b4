/** The Worker with a few words of its source changed, bundled again. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig, type WorkerBuild } from '../../../local/deploy/build.ts';
import { bundleWorker } from '../../../local/deploy/esbuild.ts';

const ROOT = join(import.meta.dirname, '../../..');

interface Change {
  readonly file: string;
  /** The text that it must have exactly once. */
  readonly from: string;
  readonly to: string;
  /** Files besides `src` that the Worker imports then. */
  readonly imports?: readonly string[];
}

/** @param build of the Worker as it is. */
export async function changedBuild(
  build: WorkerBuild,
  { file, from, to, imports = [] }: Change,
): Promise<WorkerBuild> {
  const folder = mkdtempSync(join(tmpdir(), 'gitveil-changed-'));
  try {
    for (const path of ['src', ...imports]) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const text = readFileSync(join(folder, file), 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${file} does not have ${from} once`);
    writeFileSync(join(folder, file), text.replace(from, to));
    const config = await readConfig();
    return { ...build, script: await bundleWorker({ ...config, main: join(folder, config.main) }) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
