/** The Worker as `npm start` makes it, built once for a whole run of tests (worker-build.ts). */
import { readFileSync } from 'node:fs';
import { inject } from 'vitest';
import type { WorkerBuild } from '../../../local/deploy/build.ts';

let read: WorkerBuild | null = null;

/** Read once by each process of tests. @throws Error if the Worker does not build. */
export function builtWorker(): WorkerBuild {
  const { file, problem } = inject('builtWorker');
  if (problem !== null) throw new Error(`the Worker does not build: ${problem}`);
  read ??= JSON.parse(readFileSync(file, 'utf8')) as WorkerBuild;
  return read;
}
