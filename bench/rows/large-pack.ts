/** Measures a push of some 70,000 objects, through the service and straight to the fork. */
import { medians, type Row, row } from '../support/figures.ts';
import { CODE_BRANCH, codeRepository } from '../support/repositories.ts';
import { withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 3;
/** Goal. The service receives the push before it sends it, spools it, and searches it for names. */
const MOST_TIMES = 1.35;

export async function largePack(workspace: Workspace): Promise<Row[]> {
  const { source, client, pack } = await codeRepository(workspace);
  const { service, straight } = await withRig(workspace, (rig) =>
    medians(
      ROUNDS,
      {
        // The host must not have the objects yet, so each push goes to a new repository.
        service: async () => rig.push(client, await rig.repository(source, client), CODE_BRANCH),
        straight: async () => rig.pushStraight(client, await rig.repository(source, client), CODE_BRANCH),
      },
      { warmUp: false },
    ),
  );
  const name = `push of ${pack.megabytes.toFixed(0)} MB, ${pack.objects} objects`;
  return [row({ name, value: service, reference: straight, goal: MOST_TIMES, unit: 'ms' })];
}
