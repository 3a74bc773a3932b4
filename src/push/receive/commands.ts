/**
 * Decides on each command of a push: accepts one branch, and refuses everything else by name, so that the client's
 * status table is complete. Only a push that names a pull request may delete a branch: see withdraw.ts.
 */
import type { CommandStatus } from '../../git/wire/report-status.ts';
import { type Command, isDeletion } from '../../git/wire/push-request.ts';
import { isValidRefName, parsePushTarget, type PushTarget } from '../../git/wire/ref-name.ts';

/** The branch of a push. */
export interface TakenCommand {
  readonly command: Command;
  readonly target: PushTarget;
}

export interface CommandPlan {
  /** Null if none is accepted. */
  readonly taken: TakenCommand | null;
  readonly refused: readonly CommandStatus[];
}

function refusalOf(command: Command, target: PushTarget, isTaken: boolean): string | null {
  if (!command.refName.isWellFormed()) return 'invalid ref name: it is not UTF-8';
  if (!isValidRefName(command.refName)) return 'invalid ref name';
  if (isDeletion(command)) return 'nothing to delete: to withdraw a pull request add -o pr-hash=<hash>';
  if (target.kind === 'tag') return 'tags are not accepted: they contain a name. Push a branch';
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

/** The branch that a push deletes; null if the push does anything else. */
export function deletedBranch(commandList: readonly Command[]): string | null {
  const [command] = commandList;
  if (command === undefined || commandList.length > 1 || !isDeletion(command)) return null;
  const { kind } = parsePushTarget(command.refName);
  const isBranch = isValidRefName(command.refName) && (kind === 'branch' || kind === 'for');
  return isBranch ? command.refName : null;
}
