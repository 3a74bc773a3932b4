/** The command-list of a push of our own (gitprotocol-pack, "Reference Update Request"). */
import { concatBytes } from '../bytes.ts';
import { encodePktLine, FLUSH_PKT } from './pkt-line.ts';
import { type Command, REPORT_CAPABILITIES } from './push-request.ts';

const CAPABILITIES = [...REPORT_CAPABILITIES, 'agent=gitveil'].join(' ');

/** With one command, up to its flush. A pack follows. */
export function encodeCommandList({ oldId, newId, refName }: Command): Uint8Array {
  return concatBytes([encodePktLine(`${oldId} ${newId} ${refName}\0 ${CAPABILITIES}`), FLUSH_PKT]);
}
