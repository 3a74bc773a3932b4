/** Measures a clone of some 40 MB, through the service and straight from the host. */
import { rmSync } from 'node:fs';
import { git, timedGit } from '../support/git.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { megabytesAhead } from '../support/repositories.ts';
import { withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 9;
const MEGABYTES = 40;
const MOST_TIMES = 1.1;

export async function clone(workspace: Workspace): Promise<Row[]> {
  const { client, branch } = await megabytesAhead(workspace, MEGABYTES);
  // With few large objects, both ends mostly move bytes, which a relay could slow down.
  const source = workspace.folder('clone-source');
  const whole = ['clone', '--quiet', '--no-local', '--bare', '--single-branch', '--branch', branch];
  await git(source, [...whole, client, '.']);
  await git(source, ['branch', '--quiet', '-m', 'main']);
  const into = workspace.folder('clones');
  const timedClone = async (url: string): Promise<number> => {
    const ms = await timedGit(into, ['clone', '--quiet', '--bare', url, 'clone']);
    rmSync(`${into}/clone`, { recursive: true });
    return ms;
  };
  const { service, straight } = await withRig(workspace, async (rig) => {
    const target = await rig.repositoryWithoutFork(source);
    return medians(ROUNDS, {
      service: () => timedClone(target.service),
      straight: () => timedClone(target.host),
    });
  });
  const name = `clone of ${MEGABYTES} MB`;
  return [row({ name, value: service, reference: straight, goal: MOST_TIMES, unit: 'ms' })];
}
