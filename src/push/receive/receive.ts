/**
 * Act one: reads commands, options and pack. Asks and tells nobody; refuses only what cannot be
 * parsed or stored.
 */
import { concatBytes } from '../../git/bytes.ts';
import type { ByteReader } from '../../git/wire/byte-reader.ts';
import type { Memory } from '../../git/memory.ts';
import type { OidTable } from '../../git/objects/oid-table.ts';
import type { KeptObjects } from '../../git/pack/kept-objects.ts';
import { encodePackHeader, PACK_HEADER_BYTES } from '../../git/pack/entry-header.ts';
import { keepLateDeltas } from '../../git/pack/late-deltas.ts';
import type { StoredPack } from '../../git/pack/entry-walker.ts';
import { PackScanner } from '../../git/pack/pack-scanner.ts';
import { NAMED_BASE_BYTES } from '../../git/pack/memory-limits.ts';
import {
  type Command,
  type FaultyRequest,
  isDeletion,
  type PushRequest,
} from '../../git/wire/push-request.ts';
import { isValidRefName, parsePushTarget, type PushTarget } from '../../git/wire/ref-name.ts';
import type { CommandStatus } from '../../git/wire/report-status.ts';
import type { PushSpool } from '../../spool/spool.ts';
import {
  type OptionFault,
  parsePushOptions,
  type PushOptions,
  type PushOptionsResult,
} from './push-options.ts';

interface TakenCommand {
  readonly command: Command;
  readonly target: PushTarget;
}

/** The beginning of a push, before its pack: its commands and options. */
export interface Announced {
  readonly commandList: readonly Command[];
  /** The command that is accepted; null if none is. */
  readonly taken: TakenCommand | null;
  readonly parsed: PushOptionsResult;
  /** The options of the push; null: they are not valid. */
  readonly options: PushOptions | null;
  /** It closes a pull request, or is meant to: its hash may be missing, and its options wrong. */
  readonly isWithdrawal: boolean;
  /** The ref that it deletes; null: none. */
  readonly deletedRef: string | null;
  /**
   * @param reason why the accepted ref is refused, or null.
   * @param forAll whether none of them counts by itself.
   */
  statuses(reason: string | null, forAll: boolean): readonly CommandStatus[];
}

export function announced(request: PushRequest | FaultyRequest): Announced {
  const isFaulty = request.kind === 'faulty';
  const commandList = isFaulty ? [] : request.commandList;
  const refNames = isFaulty ? request.refNames : commandList.map(({ refName }) => refName);
  const parsed = parsePushOptions(request.pushOptions ?? []);
  const options = parsed.kind === 'valid' && !isFaulty ? parsed.options : null;
  const { taken, refused } = planCommands(commandList);
  const deletedRef = deletedBranch(commandList);
  const isWithdrawal = deletedRef !== null || parsed.options.withdraw;
  const closes = isWithdrawal && (parsed.kind === 'invalid' || (options?.prHash ?? null) !== null);
  const statuses = (reason: string | null, forAll: boolean): readonly CommandStatus[] => {
    if (forAll || isFaulty || closes) return refNames.map((refName) => ({ refName, reason }));
    return taken === null ? refused : [{ refName: taken.command.refName, reason }, ...refused];
  };
  return { commandList, taken, parsed, options, isWithdrawal, deletedRef, statuses };
}

/**
 * Accepts one branch, and refuses everything else by name, so that the client's status table is
 * complete.
 */
export function planCommands(commandList: readonly Command[]): Pick<Announced, 'taken'> & {
  readonly refused: readonly CommandStatus[];
} {
  let taken: TakenCommand | null = null;
  const refused: CommandStatus[] = [];
  for (const command of commandList) {
    const target = parsePushTarget(command.refName);
    const reason = refusalOf(command, target, taken !== null);
    if (reason === null) taken = { command, target };
    else refused.push({ refName: command.refName, reason });
  }
  return { taken, refused };
}

function refusalOf(command: Command, target: PushTarget, isTaken: boolean): string | null {
  if (!command.refName.isWellFormed()) return 'invalid ref name: it is not UTF-8';
  if (!isValidRefName(command.refName)) return 'invalid ref name';
  if (isDeletion(command))
    return 'nothing to delete: to withdraw a pull request, add -o pr-hash and -o pr-key';
  if (target.kind === 'tag') return 'tags are not accepted, because they contain a name: push a branch';
  if (target.kind === 'other') return 'only branches are accepted';
  return isTaken ? 'one branch per push: push this one separately' : null;
}

/**
 * The branch that a push deletes, to withdraw a pull request; null if the push does anything else.
 */
export function deletedBranch(commandList: readonly Command[]): string | null {
  const [command] = commandList;
  if (command === undefined || commandList.length > 1 || !isDeletion(command)) return null;
  const { kind } = parsePushTarget(command.refName);
  const isBranch = isValidRefName(command.refName) && (kind === 'branch' || kind === 'for');
  return isBranch ? command.refName : null;
}

/** A push whose last byte has arrived. */
export interface Received {
  readonly taken: TakenCommand;
  /** All commands of the push, including the accepted one. */
  readonly commandList: readonly Command[];
  readonly options: PushOptions;
  /** Faults in its options: it is judged without them, and refused. */
  readonly faults: readonly OptionFault[];
  readonly pack: ReceivedPack;
}

export interface ReceivedPack {
  /** Commits and tags, each once. */
  readonly kept: KeptObjects;
  /** All other entries as they will be sent, one after another. */
  readonly spool: PushSpool;
  readonly entryCount: number;
  /** The size of the objects in these entries; of a delta, the size that it says it makes. */
  readonly objectBytes: number;
  /** The size of the largest of them, which may be over the limit. */
  readonly largestBytes: number;
  /** The bases that these entries name by their ids. */
  readonly namedBases: OidTable;
}

export type StoredEntries = Pick<PushSpool, 'read' | 'byteLength' | 'isInMemory'>;

/** As a spool keeps in memory. */
const FEW_BYTES = 1024 * 1024;
/** From a spool that is not in memory: each costs a request. */
const MAX_READS = 32;

/** The entries in a spool. @param mostReads of single objects. */
export function storedPack(spool: StoredEntries, mostReads = MAX_READS): StoredPack {
  const { byteLength, isInMemory } = spool;
  return { read: (start) => spool.read(start), byteLength, maxReads: isInMemory ? Infinity : mostReads };
}

/**
 * Reads few entries into memory, where they count until the push ends, and the objects in them can
 * be read again and again.
 * @throws HostError `busy`, LostRowError
 */
export async function fewInMemory(spool: StoredEntries, memory: Memory): Promise<StoredEntries> {
  const { byteLength } = spool;
  if (spool.isInMemory || byteLength > FEW_BYTES) return spool;
  await memory.claim().set(byteLength);
  const bytes = await gather(spool.read());
  return {
    byteLength,
    isInMemory: true,
    async *read(start?: number) {
      yield bytes.subarray(start);
    },
  };
}

/** Copies pieces that become empty when the next one is asked for. */
export async function gather(read: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of read) pieces.push(piece.slice());
  return concatBytes(pieces);
}

/**
 * Room for what a chunk leaves in memory: eight times its size, as commits are inflated and have
 * some overhead.
 */
const ROOM_FOR_COMMITS = 512 * 1024;
const MAX_LATE_READS = 250;

/**
 * @param openSpool the caller discards what it has opened.
 * @param memory where commits and buffers are counted; they stay counted.
 * @throws ProtocolError, BodyError; HostError `busy`. The rest of the body is then unread.
 */
export async function readPushedPack(
  reader: ByteReader,
  openSpool: () => PushSpool,
  memory: Memory,
): Promise<ReceivedPack> {
  const spool = openSpool();
  const scanner = new PackScanner({ limits: { memory }, arrived: reader.arrived });
  const { kept, namedBases } = scanner;
  const claim = memory.claim();
  for (let chunk = await reader.nextChunk(); chunk !== null; chunk = await reader.nextChunk()) {
    await spool.spill();
    // The next chunk reuses this buffer.
    await claim.set(chunk.buffer.byteLength + NAMED_BASE_BYTES * namedBases.size);
    await kept.makeRoom(ROOM_FOR_COMMITS);
    const keptBytes = kept.bytes;
    const passed = scanner.scan(chunk);
    kept.endRoom();
    const workedBytes = chunk.byteLength + kept.bytes - keptBytes;
    if (passed.length > 0) await spool.write(passed);
    await memory.worked(workedBytes);
    // Nothing refers to the chunk any more.
    reader.recycle();
  }
  scanner.finish();
  await spool.close();
  const { passedCount: entryCount, passedObjectBytes: objectBytes, largestBytes } = scanner;
  const received = { kept, spool, entryCount, objectBytes, largestBytes, namedBases };
  return scanner.hasLateBase ? withoutLateDeltas(received, openSpool(), memory) : received;
}

/** Keeps the commits and tags that have passed as deltas of later ones, and copies the rest. */
async function withoutLateDeltas(
  { kept, spool, entryCount }: ReceivedPack,
  copy: PushSpool,
  memory: Memory,
): Promise<ReceivedPack> {
  const late = await keepLateDeltas(storedPack(spool, MAX_LATE_READS), kept, memory);
  const leftOut = late.map((offset) => PACK_HEADER_BYTES + offset);
  const scanner = new PackScanner({ limits: { memory }, leftOut });
  scanner.scan(encodePackHeader(entryCount));
  for await (const piece of spool.read()) {
    await copy.spill();
    await copy.write(scanner.scan(piece));
  }
  await copy.close();
  await spool.discard();
  const { passedCount: passed, passedObjectBytes: objectBytes, largestBytes, namedBases } = scanner;
  return { kept, spool: copy, entryCount: passed, objectBytes, largestBytes, namedBases };
}
