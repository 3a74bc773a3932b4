/** A Worker in which every verdict is stored as bytes before it is published: stored-publish.ts says how. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig, type WorkerBuild } from '../../../local/build.ts';
import { bundleWorker } from '../../../local/esbuild.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SESSION = 'src/push/session.ts';
const REPLACED = "'./publish/publish.ts'";
const REPLACEMENT = "'../../test/e2e/support/stored-publish.ts'";
const COPIED = ['src', 'test/e2e/support/stored-publish.ts', 'test/e2e/support/verdict-line.ts'];

/** @param build of the Worker as it is. */
export async function storedBuild(build: WorkerBuild): Promise<WorkerBuild> {
  const folder = mkdtempSync(join(tmpdir(), 'gitveil-stored-'));
  try {
    for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const session = readFileSync(join(folder, SESSION), 'utf8');
    if (session.split(REPLACED).length !== 2) throw new Error(`${SESSION} does not import ${REPLACED} once`);
    writeFileSync(join(folder, SESSION), session.replace(REPLACED, REPLACEMENT));
    const config = await readConfig();
    return { ...build, script: await bundleWorker({ ...config, main: join(folder, config.main) }) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
