/**
 * Measures workerd's processor time for a push of 24,000 commits that the service signs, against
 * the same push without a key.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, type Row, row } from '../support/figures.ts';
import { processorMs } from '../support/processor.ts';
import { tinyCommitsAhead } from '../support/repositories.ts';
import { withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

/** As many as a push can have. */
const COMMITS = 24_000;
const ROUNDS = 3;
const MOST_TIMES = 3;

export async function signatures(workspace: Workspace): Promise<Row[]> {
  const key = join(workspace.folder('signing'), 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  return [
    row({
      name: `a push of ${COMMITS} commits: processor time with signatures, against without`,
      value: await pushed(workspace, { SIGNING_KEY: readFileSync(key, 'latin1') }),
      reference: await pushed(workspace, {}),
      goal: MOST_TIMES,
      unit: 'ms',
    }),
  ];
}

/** Measures the push, each time to a new repository. */
async function pushed(workspace: Workspace, env: Readonly<Record<string, string>>): Promise<number> {
  const { source, client, branch } = await tinyCommitsAhead(workspace, COMMITS);
  return withRig(
    workspace,
    async (rig) => {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const target = await rig.repository(source, client);
        const before = processorMs(rig.workerdPid);
        await rig.push(client, target, branch);
        times.push(processorMs(rig.workerdPid) - before);
      }
      return median(times);
    },
    { env },
  );
}
