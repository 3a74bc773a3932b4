/**
 * Builds the Worker and its database once for a whole test run; every file that starts a service is
 * handed the result.
 *
 * Code that does not build fails the tests that need it, and not those of the code host, which run
 * in the same project.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildForStart, keepBuild } from '../../../local/deploy/kept-build.ts';
import { prepareService } from '../../../local/runtime/prepare-service.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /**
     * A file with the JSON of a WorkerBuild, which built-worker.ts reads: its megabyte would be
     * sent to each file of tests, also to those inside workerd. `problem`: why there is none.
     */
    builtWorker: { file: string; problem: string | null };
    /** A service's state before anything has happened: the database has its tables. */
    newState: string;
  }
}

const KEPT_BUILD = join(import.meta.dirname, '../../../.build');

/**
 * For the first project that asks, and with it for all others. Answers what clears up after the
 * tests.
 */
export default async function setup({ vitest }: TestProject): Promise<(() => void) | undefined> {
  if ('newState' in vitest.getProvidedContext()) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'gitveil-tests-'));
  const [newState, file] = [join(folder, 'state'), join(folder, 'worker.json')];
  vitest.provide('newState', newState);
  // Tests start programs of the project more than a hundred times; compiling one takes it two
  // thirds of its start.
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
  const toRemove = [folder, ...(existsSync(KEPT_BUILD) ? [] : [KEPT_BUILD])];
  try {
    // Tests run `npm start` dozens of times: only those of the bundling itself, in copies of the
    // checkout, bundle again.
    await keepBuild();
    const { worker: build } = await buildForStart();
    const prepared = await prepareService({ build, variables: [], stateDir: newState });
    rmSync(prepared.folder, { recursive: true });
    writeFileSync(file, JSON.stringify(build));
    vitest.provide('builtWorker', { file, problem: null });
  } catch (error) {
    vitest.provide('builtWorker', { file, problem: String(error) });
  }
  return () => {
    for (const path of toRemove) rmSync(path, { recursive: true, force: true });
  };
}
