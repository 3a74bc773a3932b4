/**
 * One Gitea for a whole run; every test makes repositories of its own. Where there is none, it says
 * why, and nothing runs.
 */
import type { TestProject } from 'vitest/node';
import setupWorker from '../../e2e/support/worker-build.ts';
import { type GiteaAddress, startGitea } from './gitea.ts';
import { giteaProgram } from './gitea-build.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The Gitea of this machine; null: it has none. */
    gitea: GiteaAddress | null;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const found = await giteaProgram();
  if (found.kind === 'missing') {
    console.log(`The tests with a real Gitea are skipped: ${found.reason}.`);
    project.provide('gitea', null);
    return undefined;
  }
  const gitea = await startGitea(found);
  project.provide('gitea', gitea.address);
  await setupWorker(project);
  return () => gitea.stop();
}
