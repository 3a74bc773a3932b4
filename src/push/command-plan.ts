/**
 * What becomes of each command of a push: one branch is taken, everything else is refused by name, so that the
 * client's status table is complete. A push that names a pull request and does nothing but delete withdraws it.
 */
import type { CommandStatus } from '../git/report-status.ts';
import { type Command, isDeletion } from '../git/push-request.ts';
import { isValidRefName, parsePushTarget, type PushTarget } from '../git/ref-name.ts';

export interface CommandPlan {
  /** The branch of this push; null if there is none to take. */
  readonly taken: { readonly command: Command; readonly target: PushTarget } | null;
  readonly refused: readonly CommandStatus[];
}

function refusalOf(command: Command, target: PushTarget, isTaken: boolean): string | null {
  if (!isValidRefName(command.refName)) return 'invalid ref name';
  if (isDeletion(command)) return 'nothing to delete: branches live in the pull request only';
  if (target.kind === 'tag') return 'tags are not accepted: they carry a name. Push a branch';
  if (target.kind === 'other') return 'only branches are accepted';
  return isTaken ? 'one branch per push: push this one separately' : null;
}

export function planCommands(commandList: readonly Command[]): CommandPlan {
  let taken: CommandPlan['taken'] = null;
  const refused: CommandStatus[] = [];
  for (const command of commandList) {
    const target = parsePushTarget(command.refName);
    const reason = refusalOf(command, target, taken !== null);
    if (reason === null) taken = { command, target };
    else refused.push({ refName: command.refName, reason });
  }
  return { taken, refused };
}

/**
 * The ref whose deletion withdraws the pull request that the push names; null if that is not what the push asks for.
 * @param prHash of the push options.
 */
export function withdrawnRef(commandList: readonly Command[], prHash: string | null): string | null {
  const [command] = commandList;
  if (prHash === null || command === undefined || commandList.length > 1) return null;
  const { kind } = parsePushTarget(command.refName);
  const isBranch = isValidRefName(command.refName) && (kind === 'branch' || kind === 'for');
  return isDeletion(command) && isBranch ? command.refName : null;
}
