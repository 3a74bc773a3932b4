/**
 * The command section of a push: shallow lines, command-list, push options (gitprotocol-pack, "Reference
 * Update Request and Packfile Transfer"). What follows it in the stream is the pack.
 *
 * Push options are a second section behind the command-list's flush, one bare value a pkt-line; it exists only
 * if the client took up the `push-options` capability.
 */
import type { ByteReader } from './byte-reader.ts';
import { decodeUtf8 } from './bytes.ts';
import { isOid, type Oid, ZERO_OID } from './oid.ts';
import { type Packet, readPacket } from './pkt-line.ts';
import { ProtocolError } from './protocol-error.ts';
import { MAX_REF_NAME_LENGTH } from './ref-name.ts';

const MAX_COMMANDS = 1_000;
const MAX_SHALLOWS = 100_000;
const MAX_PUSH_OPTIONS = 64;
const MAX_PUSH_OPTION_LENGTH = 4_096;

export interface Command {
  readonly oldId: Oid;
  readonly newId: Oid;
  /** Printable, but not yet judged: see `isValidRefName`. */
  readonly refName: string;
}

export function isDeletion(command: Command): boolean {
  return command.newId === ZERO_OID;
}

export interface PushRequest {
  readonly kind: 'push';
  readonly commandList: readonly Command[];
  readonly capabilities: ReadonlySet<string>;
  readonly pushOptions: readonly string[];
}

/**
 * Before a large push, Git sends the four bytes `0000` to learn whether it may (remote-curl's probe request).
 * It is not an attempt to push.
 */
export interface ProbeRequest {
  readonly kind: 'probe';
}

function badRequest(message: string): ProtocolError {
  return new ProtocolError('bad-request', message);
}

/** The text of a data packet without its line feed. */
function textOf(packet: Packet, what: string): string {
  const text = packet.kind === 'data' ? decodeUtf8(packet.payload) : null;
  if (text === null) throw badRequest(`The push has a malformed ${what}.`);
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

/** Whether a name can stand in a line of the report, valid or not: the answer names each ref that was pushed. */
function isPrintable(refName: string): boolean {
  // eslint-disable-next-line no-control-regex
  return refName.length <= MAX_REF_NAME_LENGTH && !/[\u0000-\u001f\u007f]/.test(refName);
}

function parseCommand(line: string): Command {
  const [, oldId, newId, refName] = /^(\S{40}) (\S{40}) (.+)$/s.exec(line) ?? [];
  if (oldId === undefined || newId === undefined || refName === undefined || !isOid(oldId) || !isOid(newId)) {
    throw badRequest('The push has a malformed command. Push with an ordinary Git client.');
  }
  if (!isPrintable(refName)) throw badRequest('The push names an invalid ref. Rename the branch.');
  return { oldId, newId, refName };
}

/**
 * Reads up to the first byte of the pack. Cost: the section's own size; at most a few megabytes, by the limits
 * above.
 * @throws ProtocolError `bad-request` if it is malformed, `too-large` over a limit.
 */
export async function readPushRequest(reader: ByteReader): Promise<PushRequest | ProbeRequest> {
  const commandList: Command[] = [];
  let capabilities: ReadonlySet<string> | null = null;
  let shallows = 0;
  for (;;) {
    const packet = await readPacket(reader);
    if (packet.kind === 'flush') break;
    const line = textOf(packet, 'command');
    if (line.startsWith('shallow ') && isOid(line.slice('shallow '.length))) {
      // Where the client's own history ends. Nothing to do with it: parents are proved by upstream's history.
      if (++shallows > MAX_SHALLOWS)
        throw new ProtocolError('too-large', 'The clone has too many shallow points.');
      continue;
    }
    const nul = line.indexOf('\0');
    if (capabilities === null) {
      capabilities = new Set(
        nul < 0
          ? []
          : line
              .slice(nul + 1)
              .split(' ')
              .filter(Boolean),
      );
    } else if (nul >= 0) {
      throw badRequest('The push has a malformed command. Push with an ordinary Git client.');
    }
    commandList.push(parseCommand(nul < 0 ? line : line.slice(0, nul)));
    if (commandList.length > MAX_COMMANDS) {
      throw new ProtocolError('too-large', `A push holds at most ${MAX_COMMANDS} refs. Push one branch.`);
    }
  }
  if (capabilities === null) return { kind: 'probe' };
  const pushOptions = capabilities.has('push-options') ? await readPushOptions(reader) : [];
  return { kind: 'push', commandList, capabilities, pushOptions };
}

async function readPushOptions(reader: ByteReader): Promise<string[]> {
  const pushOptions: string[] = [];
  for (;;) {
    const packet = await readPacket(reader);
    if (packet.kind === 'flush') return pushOptions;
    const option = textOf(packet, 'push option');
    if (option.length > MAX_PUSH_OPTION_LENGTH || pushOptions.length === MAX_PUSH_OPTIONS) {
      throw new ProtocolError('too-large', 'The push has too many push options, or one that is too long.');
    }
    pushOptions.push(option);
  }
}
