/**
 * Builds the Worker once for a whole test run; every file that starts a service is handed the result.
 *
 * Code that does not build fails the tests that need it, and not those of the code host, which run in the same project.
 */
import type { TestProject } from 'vitest/node';
import { type WorkerBuild, buildWorker } from '../../../local/build.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** JSON of a WorkerBuild. */
    workerBuild: string | null;
    workerBuildProblem: string;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  try {
    const build: WorkerBuild = await buildWorker();
    project.provide('workerBuild', JSON.stringify(build));
    project.provide('workerBuildProblem', '');
  } catch (error) {
    project.provide('workerBuild', null);
    project.provide('workerBuildProblem', String(error));
  }
}
