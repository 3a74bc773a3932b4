/**
 * The command section of a push: shallow lines, command-list, push options (gitprotocol-pack,
 * "Reference Update Request"). A client written by hand may leave out the section of options in
 * spite of its capability, and name options in the command-list (contract, 4.6): no command begins
 * as an option does. A faulty request still needs an in-band answer, as Git hides any other:
 * capabilities and names of refs are read behind the fault, too.
 */
import type { ByteReader } from './byte-reader.ts';
import type { Memory, MemoryClaim } from '../memory.ts';
import { concatBytes, decodeEscaped, decodeUtf8, utf8 } from '../bytes.ts';
import { isOid, type Oid, ZERO_OID } from '../objects/oid.ts';
import { encodePktLine, FLUSH_PKT, readPacket } from './pkt-line.ts';
import { badRequest, ProtocolError, tooLarge } from './protocol-error.ts';

const MAX_COMMANDS = 1_000;
const MAX_SHALLOWS = 100_000;
const MAX_PUSH_OPTIONS = 64;
const MAX_PUSH_OPTION_LENGTH = 4_096;
/** Of an option among the commands. */
const OPTION_START = /^[a-z-]+=/;
const PACK_SIGNATURE = utf8('PACK');
/**
 * Of all command lines together: some 50,000 refs can be named in the answer to a push of too many.
 */
const MAX_COMMANDS_LENGTH = 8 * 1024 * 1024;
const LINE_OVERHEAD = 64;
/**
 * So that a name fits into a pkt-line of the report, with a reason and three bytes for each
 * character.
 */
const MAX_REPORTED_NAME_LENGTH = 16 * 1024;
/** A space would end the name in a line of the report, and a line feed the line. */
// eslint-disable-next-line no-control-regex
const REPORTABLE = /^[^\u0000-\u0020\u007f]+$/;
/** Not counted, as no honest client sends more commands; and how much more is counted ahead. */
const UNCOUNTED_BYTES = 64 * 1024;
const COUNTED_STEP = 64 * 1024;

/**
 * The capabilities that let a client read the outcome; assumed of a client whose own could not be
 * read.
 */
const REPORT_CAPABILITIES = ['report-status', 'side-band-64k'];

export interface Command {
  readonly oldId: Oid;
  readonly newId: Oid;
  /**
   * Fits into a line of the report, but need not be valid: see `isValidRefName`. Not UTF-8: see
   * `decodeEscaped`.
   */
  readonly refName: string;
}

export function isDeletion(command: Command): boolean {
  return command.newId === ZERO_OID;
}

/**
 * A command-list of one command, and the push options behind it, if there are any. A pack follows.
 */
export function encodeCommandList(
  { oldId, newId, refName }: Command,
  pushOptions: readonly string[] = [],
): Uint8Array {
  const hasOptions = pushOptions.length > 0;
  // Version 2 of the report names the ref that the server has updated in place of the command's.
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

/** Malformed, over a limit, or incomplete: the whole request is refused. */
export interface FaultyRequest {
  readonly kind: 'faulty';
  /** ProtocolError `bad-request` or `too-large`, or what the reader rejected with. */
  readonly fault: unknown;
  readonly refNames: readonly string[];
  readonly capabilities: ReadonlySet<string>;
}

/**
 * Never rejects; keeps ten megabytes at most.
 * @param memory where a long section is counted, to the end.
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
    // Without options, the next four bytes are not a pkt-line's but the pack's, or there are none.
    const mayHaveOptions = capabilities.has('push-options') && !(await reader.startsWith(PACK_SIGNATURE));
    if (mayHaveOptions && !(await reader.isAtEnd())) {
      await readLines(reader, (line) => section.takePushOption(line));
    }
    if (section.fault === null) return { kind: 'push', commandList, capabilities, pushOptions };
  } catch (error) {
    section.fault ??= error;
  }
  const { fault, refNames, capabilities } = section;
  // Without report-status, the client could not be told anything.
  return capabilities.has('report-status')
    ? { kind: 'faulty', fault, refNames, capabilities }
    : { ...unreadRequest(fault), refNames };
}

export function unreadRequest(fault: unknown): FaultyRequest {
  return { kind: 'faulty', fault, refNames: [], capabilities: new Set(REPORT_CAPABILITIES) };
}

/** @param take gets the payloads of data packets up to a flush, without their line feeds. */
async function readLines(reader: ByteReader, take: (line: Uint8Array) => void): Promise<void> {
  for (let packet = await readPacket(reader); packet.kind !== 'flush'; packet = await readPacket(reader)) {
    if (packet.kind !== 'data') throw malformedPush('packet');
    const { payload } = packet;
    take(payload.at(-1) === 0x0a ? payload.subarray(0, -1) : payload);
  }
}

/** The command-list, line by line. `take` throws if reading further makes no sense. */
class CommandSection {
  readonly commandList: Command[] = [];
  readonly pushOptions: string[] = [];
  readonly refNames: string[] = [];
  capabilities: ReadonlySet<string> = new Set();
  /** The first fault, if reading goes on behind it. */
  fault: unknown = null;
  /** How many lines of each kind have come. */
  commands = 0;
  shallows = 0;
  #length = 0;
  readonly #claim: MemoryClaim;

  constructor(memory: Memory) {
    this.#claim = memory.claim();
  }

  take(line: Uint8Array): void {
    const text = decodeEscaped(line);
    // Where the client's own history ends. Ignored, because upstream's history proves the parents.
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
