/**
 * Reads a bundle as a push: a header with prerequisites and refs, and a pack (gitformat-bundle,
 * versions 2 and 3). Prerequisites are not compared with anything, because upstream's history
 * proves the parents of each commit, as for a push.
 */
import type { ByteReader } from './byte-reader.ts';
import { decodeEscaped, latin1, NO_BYTES } from '../bytes.ts';
import { isOid, ZERO_OID } from '../objects/oid.ts';
import { badRequest, ProtocolError, tooLarge } from './protocol-error.ts';
import {
  type Command,
  type FaultyRequest,
  MAX_COMMANDS,
  type PushRequest,
  unreadRequest,
} from './push-request.ts';

const SIGNATURE = /^# v([23]) git bundle$/;
const PATCH_START = /^(?:From |diff --git )/;
const MAX_PREREQUISITES = 100_000;
const MAX_CAPABILITIES = 16;
/** Bytes of a line that are read: a ref's name is shorter, and behind an id stands a title. */
const MAX_LINE_BYTES = 2_048;
const HEAD = 'HEAD';
/** The name of a bundle's `HEAD`, which Git gives no branch. */
const BRANCH_OF_HEAD = 'refs/heads/HEAD';

const MAKE = 'Make one with: git bundle create - origin/main..my-change';
const IS_PATCH = 'This is a patch. Send it to /patch instead of /bundle.';
/** Words for a file that `curl -d` has sent, which takes the line ends out. */
export const WITHOUT_LINE_ENDS =
  'The file came without its line ends. With curl, send it with --data-binary in place of -d.';
const IS_FORM = 'This is a form. With curl, send the file itself, with --data-binary in place of -F.';
const NO_CAPABILITIES: ReadonlySet<string> = new Set();

/** Reads a bundle up to its pack; a withdrawal needs none. It never rejects. */
export async function readBundle(
  reader: ByteReader,
  pushOptions: readonly string[],
): Promise<PushRequest | FaultyRequest> {
  try {
    const needsNone = pushOptions.includes('withdraw') && (await reader.isAtEnd());
    const refs = needsNone ? [] : await readHeader(reader);
    const commandList = refs.map(({ oid, refName }): Command => ({ oldId: ZERO_OID, newId: oid, refName }));
    return { kind: 'push', commandList, capabilities: NO_CAPABILITIES, pushOptions };
  } catch (fault) {
    return unreadRequest(fault, pushOptions);
  }
}

interface BundledRef {
  readonly oid: string;
  readonly refName: string;
}

/** @throws ProtocolError, and what the reader throws */
async function readHeader(reader: ByteReader): Promise<readonly BundledRef[]> {
  const nextLine = async (): Promise<string> => {
    const line = await reader.readLine(MAX_LINE_BYTES);
    if (line === null) throw badRequest(`The bundle ends in its header. ${MAKE}`);
    return decodeEscaped(line);
  };
  const signature = latin1((await reader.readLine(MAX_LINE_BYTES)) ?? NO_BYTES);
  const [, version] = SIGNATURE.exec(signature) ?? noBundle(signature);
  let line = await nextLine();
  for (let left = version === '3' ? MAX_CAPABILITIES : 0; left > 0 && line.startsWith('@'); left--) {
    checkCapability(line);
    line = await nextLine();
  }
  for (let left = MAX_PREREQUISITES; line.startsWith('-'); line = await nextLine()) {
    if (left-- === 0) throw tooLarge(`The bundle has too many prerequisites. ${MAKE}`);
    if (!isOid(line.slice(1, 41))) throw malformed('prerequisite');
  }
  const refs: BundledRef[] = [];
  for (; line !== ''; line = await nextLine()) {
    const [, oid = '', refName = ''] = /^(\S{40}) (.+)$/s.exec(line) ?? [];
    if (!isOid(oid)) throw malformed('ref');
    if (refs.push({ oid, refName }) > MAX_COMMANDS)
      throw tooLarge(`The bundle has more than ${MAX_COMMANDS} refs. ${MAKE}`);
  }
  if (refs.length === 0) throw badRequest(`The bundle has no ref. ${MAKE}`);
  return asBranches(refs);
}

function noBundle(signature: string): never {
  if (PATCH_START.test(signature)) throw badRequest(IS_PATCH);
  if (signature.startsWith('# v2 git bundle') || signature.startsWith('# v3 git bundle'))
    throw badRequest(WITHOUT_LINE_ENDS);
  throw badRequest(signature.startsWith('--') ? IS_FORM : `This is no bundle. ${MAKE}`);
}

function malformed(what: string): ProtocolError {
  return badRequest(`The bundle has a malformed ${what}. ${MAKE}`);
}

/** Refuses what Git would not read without knowing it. @throws ProtocolError */
function checkCapability(line: string): void {
  if (line === '@object-format=sha1') return;
  const why = line.startsWith('@filter=')
    ? 'The bundle leaves objects out. Make it without --filter.'
    : line.startsWith('@object-format=')
      ? 'The bundle is of a repository with SHA-256 ids. Only SHA-1 is supported.'
      : `The bundle needs a capability that this service does not know. ${MAKE}`;
  throw new ProtocolError('unsupported', why);
}

/**
 * Gives `HEAD` the name of a branch, as `git bundle create - main..HEAD` names nothing else; none
 * if a branch stands there, too.
 */
function asBranches(refs: readonly BundledRef[]): readonly BundledRef[] {
  const branches = refs.filter(({ refName }) => refName !== HEAD);
  const heads = refs.filter(
    ({ oid, refName }) => refName === HEAD && !branches.some((each) => each.oid === oid),
  );
  return [...branches, ...heads.map(({ oid }) => ({ oid, refName: BRANCH_OF_HEAD }))];
}
