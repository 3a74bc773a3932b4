/**
 * Reads and writes what comes before the pack of a push: shallow lines, commands, push options
 * (gitprotocol-pack, "Reference Update Request"). A client that was written by hand may leave out
 * the section of options although it announces it, and put options among the commands (contract,
 * 4.6); no command begins like an option. A faulty request still needs an in-band answer, because
 * Git shows no other: so capabilities and names of refs are read even after the fault.
 */
import type { ByteReader } from './byte-reader.ts';
import type { Memory, MemoryClaim } from '../memory.ts';
import { concatBytes, decodeEscaped, decodeUtf8, utf8 } from '../bytes.ts';
import { isOid, type Oid, ZERO_OID } from '../objects/oid.ts';
import { encodePktLine, FLUSH_PKT, readPacket } from './pkt-line.ts';
import { badRequest, ProtocolError, tooLarge } from './protocol-error.ts';

export const MAX_COMMANDS = 1_000;
const MAX_SHALLOWS = 100_000;
const MAX_PUSH_OPTIONS = 64;
const MAX_PUSH_OPTION_LENGTH = 4_096;
/** Matches the start of an option among the commands. */
const OPTION_START = /^[a-z-]+=/;
const PACK_SIGNATURE = utf8('PACK');
/**
 * Maximum length of all commands together. The answer to a push of too many refs can name some
 * 50,000.
 */
const MAX_COMMANDS_LENGTH = 8 * 1024 * 1024;
const LINE_OVERHEAD = 64;
/**
 * Maximum length of a ref's name. It fits into a pkt-line of the report together with a reason,
 * even with three bytes for each character.
 */
const MAX_REPORTED_NAME_LENGTH = 16 * 1024;
/** Matches names that can be reported: a space would end the name, a line feed the line. */
// eslint-disable-next-line no-control-regex
const REPORTABLE = /^[^\u0000-\u0020\u007f]+$/;
/** Size of commands that is not counted, because no honest client sends more. */
const UNCOUNTED_BYTES = 64 * 1024;
const COUNTED_STEP = 64 * 1024;

/**
 * Capabilities that a client needs to read the outcome. A client whose own could not be read is
 * assumed to have them.
 */
const REPORT_CAPABILITIES = ['report-status', 'side-band-64k'];

export interface Command {
  readonly oldId: Oid;
  readonly newId: Oid;
  /**
   * The name as it is reported. It need not be valid (see `isValidRefName`), and may not be UTF-8
   * (see `decodeEscaped`).
   */
  readonly refName: string;
}

export function isDeletion(command: Command): boolean {
  return command.newId === ZERO_OID;
}

/**
 * Encodes a command-list of one command, followed by push options if there are any. The caller
 * sends the pack after it.
 */
export function encodeCommandList(
  { oldId, newId, refName }: Command,
  pushOptions: readonly string[] = [],
): Uint8Array {
  const hasOptions = pushOptions.length > 0;
  // Version 2 of the report can name another ref that the server has updated instead.
  const more = hasOptions ? ['report-status-v2', 'push-options'] : [];
  const capabilities = [...REPORT_CAPABILITIES, ...more, 'agent=gitveil'].join(' ');
  const command = encodePktLine(`${oldId} ${newId} ${refName}\0 ${capabilities}`);
  const options = hasOptions ? [...pushOptions.map((option) => encodePktLine(option)), FLUSH_PKT] : [];
  return concatBytes([command, FLUSH_PKT, ...options]);
}

export interface PushRequest {
  readonly kind: 'push';
  readonly commandList: readonly Command[];
  readonly capabilities: ReadonlySet<string>;
  readonly pushOptions: readonly string[];
}

/** A request that is malformed, over a limit or incomplete, and is refused as a whole. */
export interface FaultyRequest {
  readonly kind: 'faulty';
  /** A ProtocolError `bad-request` or `too-large`, or the error of the reader or of the memory. */
  readonly fault: unknown;
  readonly refNames: readonly string[];
  readonly capabilities: ReadonlySet<string>;
  /** Those that stand outside the body. */
  readonly pushOptions?: readonly string[];
}

/**
 * Reads a request up to its pack. It never rejects.
 * @param memory counts a long command-list until the request ends.
 */
export async function readPushRequest(
  reader: ByteReader,
  memory: Memory,
): Promise<PushRequest | { readonly kind: 'probe' } | FaultyRequest> {
  const section = new CommandSection(memory);
  try {
    await readLines(reader, (line) => section.take(line));
    // Before a large push, Git sends a flush to learn whether the server accepts it (remote-curl,
    // probe_rpc).
    const isEmpty = section.commands + section.shallows === 0;
    if (isEmpty && (await reader.isAtEnd())) return { kind: 'probe' };
    if (section.commands === 0) throw badRequest('The push names no ref. Push a branch.');
    const { commandList, capabilities, pushOptions } = section;
    // If the client sends no options, the pack or the end of the request follows.
    const mayHaveOptions = capabilities.has('push-options') && !(await reader.startsWith(PACK_SIGNATURE));
    if (mayHaveOptions && !(await reader.isAtEnd())) {
      await readLines(reader, (line) => section.takePushOption(line));
    }
    if (section.fault === null) return { kind: 'push', commandList, capabilities, pushOptions };
  } catch (error) {
    section.fault ??= error;
  }
  const { fault, refNames, capabilities } = section;
  // Without report-status, nothing could be told to the client.
  return capabilities.has('report-status')
    ? { kind: 'faulty', fault, refNames, capabilities }
    : { ...unreadRequest(fault), refNames };
}

export function unreadRequest(fault: unknown, pushOptions: readonly string[] = []): FaultyRequest {
  return { kind: 'faulty', fault, refNames: [], capabilities: new Set(REPORT_CAPABILITIES), pushOptions };
}

/**
 * Reads pkt-lines up to a flush.
 * @param take gets the payload of each without its line feed.
 */
async function readLines(reader: ByteReader, take: (line: Uint8Array) => void): Promise<void> {
  for (let packet = await readPacket(reader); packet.kind !== 'flush'; packet = await readPacket(reader)) {
    if (packet.kind !== 'data') throw malformedPush('packet');
    const { payload } = packet;
    take(payload.at(-1) === 0x0a ? payload.subarray(0, -1) : payload);
  }
}

/**
 * Collects the commands and push options, line by line. Its methods throw if reading further makes
 * no sense.
 */
class CommandSection {
  readonly commandList: Command[] = [];
  readonly pushOptions: string[] = [];
  readonly refNames: string[] = [];
  capabilities: ReadonlySet<string> = new Set();
  /** The first fault after which reading goes on. */
  fault: unknown = null;
  /** Number of lines of each kind so far. */
  commands = 0;
  shallows = 0;
  #length = 0;
  readonly #claim: MemoryClaim;

  constructor(memory: Memory) {
    this.#claim = memory.claim();
  }

  take(line: Uint8Array): void {
    const text = decodeEscaped(line);
    // A shallow line says where the client's history ends. It is ignored, because upstream's
    // history proves the parents.
    if (text.startsWith('shallow ') && isOid(text.slice('shallow '.length))) this.shallows += 1;
    else if (this.commands > 0 && OPTION_START.test(text)) this.takePushOption(line);
    else this.#takeCommand(text);
    if (this.shallows > MAX_SHALLOWS) {
      throw tooLarge('The clone has too many shallow points. Run "git fetch --unshallow", then push again.');
    }
  }

  takePushOption(line: Uint8Array): void {
    const option = decodeUtf8(line);
    if (option === null) throw badRequest('A push option is not UTF-8. Write it in UTF-8, or leave it out.');
    if (option.length > MAX_PUSH_OPTION_LENGTH) {
      throw tooLarge(`A push option is longer than ${MAX_PUSH_OPTION_LENGTH} characters. Shorten it.`);
    }
    if (this.pushOptions.push(option) > MAX_PUSH_OPTIONS) {
      throw tooLarge(`A push takes at most ${MAX_PUSH_OPTIONS} push options. Leave some out.`);
    }
  }

  #takeCommand(line: string): void {
    this.commands += 1;
    this.#length += line.length + LINE_OVERHEAD;
    if (this.commands > MAX_COMMANDS) {
      this.fault ??= tooLarge(`A push holds at most ${MAX_COMMANDS} refs. Push one branch.`);
    }
    if (this.#length > MAX_COMMANDS_LENGTH) throw tooLarge('The push names too many refs. Push one branch.');
    const kept = this.#length - UNCOUNTED_BYTES;
    if (kept > this.#claim.bytes) this.#claim.setNow(kept + COUNTED_STEP);
    const nul = line.indexOf('\0');
    if (nul >= 0 && this.commands > 1) throw malformedPush('command');
    if (nul >= 0) this.capabilities = new Set(line.slice(nul + 1).match(/[^ ]+/g));
    const command = nul < 0 ? line : line.slice(0, nul);
    const [, oldId = '', newId = '', refName = ''] = /^(\S*) (\S*) (.+)$/s.exec(command) ?? [];
    const isReportable = refName.length <= MAX_REPORTED_NAME_LENGTH && REPORTABLE.test(refName);
    if (isReportable) this.refNames.push(refName);
    if (refName === '' || !isOid(oldId) || !isOid(newId)) throw malformedPush('command');
    if (isReportable) this.commandList.push({ oldId, newId, refName });
    else this.fault ??= badRequest('The push names a ref that Git does not allow. Rename the branch.');
  }
}

function malformedPush(what: string): ProtocolError {
  return badRequest(`The push has a malformed ${what}. Push with an ordinary Git client.`);
}
