/**
 * A Worker in which every verdict is stored as bytes before it is published: stored-publish.ts says
 * how.
 */
import type { WorkerBuild } from '../../../local/deploy/build.ts';
import { changedBuild } from './changed-worker.ts';

const PUBLISH = 'test/e2e/support/stored-publish.ts';

/** @param build of the Worker as it is. */
export function storedBuild(build: WorkerBuild): Promise<WorkerBuild> {
  return changedBuild(build, {
    file: 'src/push/now-or-later.ts',
    from: "'./publish/live-attempt.ts'",
    to: `'../../${PUBLISH}'`,
    imports: [PUBLISH, 'test/e2e/support/verdict-line.ts'],
  });
}
