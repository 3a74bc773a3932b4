/** The command-list of a push of our own (gitprotocol-pack, "Reference Update Request"). */
import { concatBytes } from '../bytes.ts';
import { encodePktLine, FLUSH_PKT } from './pkt-line.ts';
import { type Command, REPORT_CAPABILITIES } from './push-request.ts';

/** With one command, up to its flush, and the push options behind it, if there are any. A pack follows. */
export function encodeCommandList(
  { oldId, newId, refName }: Command,
  pushOptions: readonly string[] = [],
): Uint8Array {
  const hasOptions = pushOptions.length > 0;
  const capabilities = [
    ...REPORT_CAPABILITIES,
    // The report then names the ref that the server has updated in place of the command's.
    ...(hasOptions ? ['report-status-v2', 'push-options'] : []),
    'agent=gitveil',
  ];
  return concatBytes([
    encodePktLine(`${oldId} ${newId} ${refName}\0 ${capabilities.join(' ')}`),
    FLUSH_PKT,
    ...(hasOptions ? [...pushOptions.map((option) => encodePktLine(option)), FLUSH_PKT] : []),
  ]);
}
