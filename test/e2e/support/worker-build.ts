/**
 * Builds the Worker and its database once for a whole test run; every file that starts a service is handed the result.
 *
 * Code that does not build fails the tests that need it, and not those of the code host, which run in the same project.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildForStart, keepBuild } from '../../../local/kept-build.ts';
import { prepareService } from '../../../local/prepare-service.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** JSON of a WorkerBuild. */
    workerBuild: string | null;
    workerBuildProblem: string;
    /** A service's state before anything has happened: the database has its tables. */
    newState: string;
  }
}

const KEPT_BUILD = join(import.meta.dirname, '../../../.build');

/** For the first project that asks, and with it for all others. Answers what clears up after the tests. */
export default async function setup({ vitest }: TestProject): Promise<(() => void) | undefined> {
  if ('newState' in vitest.getProvidedContext()) return undefined;
  const newState = mkdtempSync(join(tmpdir(), 'gitveil-new-state-'));
  vitest.provide('newState', newState);
  // Tests start programs of the project more than a hundred times; compiling one takes it two thirds of its start.
  const compiled = mkdtempSync(join(tmpdir(), 'gitveil-compiled-'));
  process.env['NODE_COMPILE_CACHE'] = compiled;
  const toRemove = [newState, compiled, ...(existsSync(KEPT_BUILD) ? [] : [KEPT_BUILD])];
  try {
    // Tests run `npm start` dozens of times: only those of the bundling itself, in copies of the checkout, bundle again.
    await keepBuild();
    const { worker: build } = await buildForStart();
    const { folder } = await prepareService({ build, variables: [], stateDir: newState });
    rmSync(folder, { recursive: true });
    vitest.provide('workerBuild', JSON.stringify(build));
    vitest.provide('workerBuildProblem', '');
  } catch (error) {
    vitest.provide('workerBuild', null);
    vitest.provide('workerBuildProblem', String(error));
  }
  return () => {
    for (const folder of toRemove) rmSync(folder, { recursive: true, force: true });
  };
}
