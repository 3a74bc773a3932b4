/** The part of annotated tag objects that is read. They contain a tagger's name and never leave. */
import { isOid, type Oid, OID_HEX_LENGTH } from './oid.ts';

const FIRST_WORD = 'object ';

/** The object that a tag names in its first line; null if that line is malformed. */
export function parseTagTarget(content: Uint8Array): Oid | null {
  const line = Buffer.from(content.subarray(0, FIRST_WORD.length + OID_HEX_LENGTH)).toString('latin1');
  const oid = line.slice(FIRST_WORD.length);
  return line.startsWith(FIRST_WORD) && isOid(oid) ? oid : null;
}
