/** What a push says before its pack: its commands and options. Pure. */
import type { Command, FaultyRequest, PushRequest } from '../../git/wire/push-request.ts';
import type { CommandStatus } from '../../git/wire/report-status.ts';
import { parsePushOptions, type PushOptions, type PushOptionsResult } from './push-options.ts';
import { deletedBranch, planCommands, type TakenCommand } from './receive.ts';

export interface Announced {
  readonly commandList: readonly Command[];
  /** Null if no command is accepted. */
  readonly taken: TakenCommand | null;
  readonly parsed: PushOptionsResult;
  /** Null: they are not valid. */
  readonly options: PushOptions | null;
  /** It closes a pull request; its hash may be missing. */
  readonly isWithdrawal: boolean;
  /** The ref that it deletes; null: none. */
  readonly deletedRef: string | null;
  /** The answer for each of its refs. @param reason why the accepted one is refused; null: it is not. */
  statuses(reason: string | null): readonly CommandStatus[];
  /** The same if none of them counts by itself. */
  allStatuses(reason: string | null): readonly CommandStatus[];
}

export function announced(request: PushRequest | FaultyRequest): Announced {
  const commandList = request.kind === 'faulty' ? [] : request.commandList;
  const refNames = request.kind === 'faulty' ? request.refNames : commandList.map(({ refName }) => refName);
  const parsed = parsePushOptions(request.kind === 'faulty' ? [] : request.pushOptions);
  const options = parsed.kind === 'valid' && request.kind !== 'faulty' ? parsed.options : null;
  const { taken, refused } = planCommands(commandList);
  const deletedRef = deletedBranch(commandList);
  const isWithdrawal = deletedRef !== null || options?.withdraw === true;
  const allStatuses = (reason: string | null): readonly CommandStatus[] =>
    refNames.map((refName) => ({ refName, reason }));
  const ofTaken = (reason: string | null): readonly CommandStatus[] =>
    taken === null ? refused : [{ refName: taken.command.refName, reason }, ...refused];
  const closes = isWithdrawal && (options?.prHash ?? null) !== null;
  const statuses = request.kind === 'faulty' || closes ? allStatuses : ofTaken;
  return { commandList, taken, parsed, options, isWithdrawal, deletedRef, statuses, allStatuses };
}
