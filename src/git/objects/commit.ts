/**
 * Parses commits, and builds anonymous ones from a whitelist: tree, parents, the bot's identity, a
 * date that the caller chooses, the message and its `encoding`, and the service's signature if it
 * has a key. Every other header (signatures, merged tags, invented ones) may identify the person.
 */
import { latin1, NO_BYTES, utf8 } from '../bytes.ts';
import { OID_HEX_LENGTH, type Oid, oidFromHex, writeHex } from './oid.ts';
import { ProtocolError } from '../wire/protocol-error.ts';

const LF = 0x0a;
const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const ZERO = 0x30;
const ZONE_LENGTH = '+0100'.length;
/** Maximum number of digits, so that a time is an exact JavaScript number. */
const MAX_TIME_DIGITS = 15;
/** Matches names of character encodings. An `encoding` header with any other value is left out. */
const ENCODING_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:+-]{0,39}$/;

export interface Commit {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  /** The committer's date in seconds since 1970, or 0 if the line cannot be read. */
  readonly committedAt: number;
  readonly encoding: string | null;
  /** A view of the commit's content. */
  readonly message: Uint8Array;
}

/** The name and email of an author. Neither may contain `<`, `>` or a line feed. */
export interface CommitIdentity {
  readonly name: string;
  readonly email: string;
}

export function startsWith(bytes: Uint8Array, offset: number, prefix: string): boolean {
  for (let i = 0; i < prefix.length; i++) if (bytes[offset + i] !== prefix.charCodeAt(i)) return false;
  return true;
}

/**
 * Finds the end of the line at `start`. A loop is faster than `indexOf` for short lines, because
 * the latter is a call out of the engine.
 */
export function lineEnd(bytes: Uint8Array, start: number): number {
  let end = start;
  while (end < bytes.byteLength && bytes[end] !== LF) end++;
  return end;
}

/**
 * Reads the time of a line such as `Name <mail> 1700000000 +0100`.
 * @returns 0 if the line has another form.
 */
function timeOf(bytes: Uint8Array, start: number, end: number): number {
  const zone = end - ZONE_LENGTH;
  if (bytes[zone] !== PLUS && bytes[zone] !== MINUS) return 0;
  for (let at = zone + 1; at < end; at++) if (!isDigit(bytes[at])) return 0;
  let time = 0;
  let at = zone - 2;
  for (let factor = 1; at > start && isDigit(bytes[at]); at--, factor *= 10)
    time += (bytes[at]! - ZERO) * factor;
  const digits = zone - 2 - at;
  const isTime = bytes[zone - 1] === SPACE && bytes[at] === SPACE && digits > 0 && digits <= MAX_TIME_DIGITS;
  return isTime ? time : 0;
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= ZERO && code < ZERO + 10;
}

/**
 * Parses what the service needs of a commit. Names and addresses are not read.
 * @throws ProtocolError `bad-pack` if the tree or a parent is malformed.
 */
export function parseCommit(content: Uint8Array): Commit {
  let tree: Oid | null = null;
  const parents: Oid[] = [];
  let committedAt = 0;
  let encoding: string | null = null;
  let position = 0;
  while (position < content.byteLength && content[position] !== LF) {
    const end = lineEnd(content, position);
    if (startsWith(content, position, 'tree ')) tree ??= idAt(content, position + 5, end);
    else if (startsWith(content, position, 'parent ')) parents.push(idAt(content, position + 7, end));
    else if (startsWith(content, position, 'committer ')) committedAt ||= timeOf(content, position, end);
    else if (startsWith(content, position, 'encoding ')) encoding ??= latin1(content, position + 9, end);
    position = end + 1;
  }
  if (tree === null) throw malformedCommit();
  if (encoding !== null && !ENCODING_PATTERN.test(encoding)) encoding = null;
  return { tree, parents, committedAt, encoding, message: content.subarray(position + 1) };
}

/**
 * Parses only parents and date, because listings of history are long.
 * @throws ProtocolError `bad-pack`
 */
export function parseHistory(content: Uint8Array): Pick<Commit, 'parents' | 'committedAt'> {
  const parents: Oid[] = [];
  let position = 0;
  while (position < content.byteLength && content[position] !== LF) {
    const end = lineEnd(content, position);
    if (startsWith(content, position, 'parent ')) parents.push(idAt(content, position + 7, end));
    else if (startsWith(content, position, 'committer ')) {
      return { parents, committedAt: timeOf(content, position, end) };
    }
    position = end + 1;
  }
  return { parents, committedAt: 0 };
}

function idAt(content: Uint8Array, start: number, end: number): Oid {
  const oid = oidFromHex(content, start, end);
  if (oid === null) throw malformedCommit();
  return oid;
}

function malformedCommit(): ProtocolError {
  return new ProtocolError(
    'bad-pack',
    'The push contains a malformed commit. Run "git fsck", then push again.',
  );
}

/** The parts of an anonymous commit. Its ids are in bytes, because a push has thousands. */
export interface AnonymousParts extends Pick<Commit, 'encoding' | 'message'> {
  readonly tree: Uint8Array;
  readonly parents: readonly Uint8Array[];
}

/**
 * Writes the lines of author and committer.
 * @param committedAt is in seconds since 1970. It becomes the date of both, in UTC.
 */
export function personLines({ name, email }: CommitIdentity, committedAt: number): Uint8Array {
  const person = `${name} <${email}> ${committedAt} +0000`;
  return utf8(`author ${person}\ncommitter ${person}\n`);
}

/** Answers the header of a commit's signature. The parts are the commit's content without it. */
export type SignatureOf = (...parts: readonly (string | Uint8Array)[]) => string;

const TREE = utf8('tree ');
const PARENT = utf8('parent ');

/**
 * Encodes an anonymous commit.
 * @param persons has the lines of author and committer.
 * @param signatureOf answers the signature's header for the content without it; null: it has none.
 * @param allocate returns the buffer to write to.
 */
export function encodeAnonymousCommit(
  { tree, parents, encoding, message }: AnonymousParts,
  persons: Uint8Array,
  signatureOf: SignatureOf | null = null,
  allocate: (bytes: number) => Uint8Array = (bytes) => new Uint8Array(bytes),
): Uint8Array {
  const encodings = encoding === null ? NO_BYTES : utf8(`encoding ${encoding}\n`);
  const ids = TREE.length + PARENT.length * parents.length + (OID_HEX_LENGTH + 1) * (1 + parents.length);
  const headBytes = ids + persons.length + encodings.length;
  const writeHead = (content: Uint8Array): void => {
    let at = writeIdLine(content, 0, TREE, tree);
    for (const parent of parents) at = writeIdLine(content, at, PARENT, parent);
    content.set(persons, at);
    content.set(encodings, at + persons.length);
  };
  let signature: Uint8Array = NO_BYTES;
  if (signatureOf !== null) {
    const head = new Uint8Array(headBytes);
    writeHead(head);
    signature = utf8(signatureOf(head, '\n', message));
  }
  const messageAt = headBytes + signature.length + 1;
  const content = allocate(messageAt + message.byteLength);
  writeHead(content);
  content.set(signature, headBytes);
  content[messageAt - 1] = LF;
  content.set(message, messageAt);
  return content;
}

/** @returns the place behind the line. */
function writeIdLine(content: Uint8Array, start: number, word: Uint8Array, id: Uint8Array): number {
  const end = start + word.length + OID_HEX_LENGTH;
  for (let at = 0; at < word.length; at++) content[start + at] = word[at]!;
  writeHex(id, content, start + word.length);
  content[end] = LF;
  return end + 1;
}
