/** The command-list of a push of our own (gitprotocol-pack, "Reference Update Request"). */
import { concatBytes } from '../bytes.ts';
import { encodePktLine, FLUSH_PKT } from './pkt-line.ts';
import { type Command, REPORT_CAPABILITIES } from './push-request.ts';

/** With one command, up to its flush, and the push options behind it, if there are any. A pack follows. */
export function encodeCommandList(
  { oldId, newId, refName }: Command,
  pushOptions: readonly string[] = [],
): Uint8Array {
  // Version 2 of the report names the ref that the server has updated in place of the command's.
  const more = pushOptions.length > 0 ? ['report-status-v2', 'push-options'] : [];
  const capabilities = [...REPORT_CAPABILITIES, ...more, 'agent=gitveil'].join(' ');
  const command = encodePktLine(`${oldId} ${newId} ${refName}\0 ${capabilities}`);
  if (more.length === 0) return concatBytes([command, FLUSH_PKT]);
  return concatBytes([command, FLUSH_PKT, ...pushOptions.map((option) => encodePktLine(option)), FLUSH_PKT]);
}
