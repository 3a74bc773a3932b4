/**
 * What is kept of a delayed push behind the entries in its spool, as bytes: a byte for the version, the length of all,
 * the length of a JSON text, that text, and the commits, each with its length in front. Lengths are 32 bits, big-endian.
 */
import { concatBytes, decodeEscaped, utf8 } from '../../git/bytes.ts';
import { decodedMessage } from '../../git/objects/commit-message.ts';
import { PlannedCommits, type PlannedText, withIds } from '../../git/objects/planned-commits.ts';
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import type { Wants } from '../../limits/wants.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { namedText, type PushedWork, statedText, wholeText } from '../verdict/verdict.ts';

export interface KeptPush {
  /** As the request named it. */
  readonly target: RepositoryName;
  /** As `Publication` has it. */
  readonly pushHash: string;
  readonly work: PushedWork;
  /** Where the pull request that it names was, by the service's own record; null: that knew none. */
  readonly recordedTip: Oid | null;
  /** Whether that was open. */
  readonly wasOpen: boolean;
  /** What its client could not be given yet of the limits; null: it has everything. */
  readonly owed: Wants | null;
}

/** A reader of another version must not publish what it does not understand. */
const VERSION = 6;
const LENGTH_BYTES = 4;

/** It is not whole, or another version has written it. */
export class UnreadableError extends RangeError {
  override readonly name = 'UnreadableError';
}

export function encodeKept({ work, ...facts }: KeptPush): Uint8Array {
  const { commits, title, description, ...rest } = work;
  const texts = { title: packed(title), description: packed(description) };
  const head = utf8(JSON.stringify({ ...facts, work: { ...rest, ...texts } } satisfies Head));
  const parts = [Uint8Array.of(VERSION), new Uint8Array(LENGTH_BYTES), length(head), head];
  for (const commit of commits.encoded) parts.push(length(commit), commit);
  const bytes = concatBytes(parts);
  new DataView(bytes.buffer).setUint32(1, bytes.byteLength);
  return bytes;
}

/** @throws UnreadableError if another version has written it, or if it is not whole: it would be read as fewer commits. */
export function decodeKept(bytes: Uint8Array): KeptPush {
  if (bytes[0] !== VERSION) throw new UnreadableError(`a push of version ${bytes[0]} cannot be read`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 1 + LENGTH_BYTES || view.getUint32(1) !== bytes.byteLength)
    throw new UnreadableError('a push that is not whole cannot be read');
  let at = 1 + LENGTH_BYTES;
  const next = (): Uint8Array => {
    const start = at + LENGTH_BYTES;
    at = start + view.getUint32(at);
    return bytes.subarray(start, at);
  };
  const { work, ...facts } = JSON.parse(Buffer.from(next()).toString()) as Head;
  const commits = new PlannedCommits();
  while (at < bytes.length) commits.encoded.push(next());
  const texts = { title: unpacked(work.title), description: unpacked(work.description) };
  return { ...facts, work: { ...work, ...texts, commits } };
}

type PackedText = Omit<PlannedText, 'bytes'> & { readonly text: string };

interface Head extends Omit<KeptPush, 'work'> {
  readonly work: Omit<PushedWork, 'commits' | 'title' | 'description'> & {
    readonly title: PackedText | null;
    readonly description: PackedText | null;
  };
}

function packed(planned: PlannedText | null): PackedText | null {
  if (planned === null) return null;
  return { text: Buffer.from(planned.bytes).toString(), mentions: planned.mentions };
}

function unpacked(packedText: PackedText | null): PlannedText | null {
  return packedText === null ? null : { bytes: utf8(packedText.text), mentions: packedText.mentions };
}

function length({ byteLength }: Uint8Array): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(LENGTH_BYTES));
  bytes.setUint32(0, byteLength);
  return new Uint8Array(bytes.buffer);
}

/* What the operator reads of it: what would leave with it, as text. Nothing in it tells who has pushed. */

export interface ShownText {
  readonly text: string;
  /** How many characters more it has. */
  readonly missing: number;
}

export interface ShownMessage extends ShownText {
  /** As the commit names it; null: UTF-8. */
  readonly encoding: string | null;
  /** The text that its bytes have in that encoding, if that is another one than they have in UTF-8; else null. */
  readonly encoded: ShownText | null;
}

export interface LeavingTexts {
  readonly repository: RepositoryName;
  /** The branch that it is for. */
  readonly base: string;
  /** The hash of the pull request that it is to update; null: it opens one. */
  readonly updates: string | null;
  readonly isDraft: boolean;
  /** Null: that of the open pull request stays as it is. */
  readonly title: ShownText | null;
  readonly description: ShownText | null;
  /** The first ones, oldest first. */
  readonly messages: readonly ShownMessage[];
  readonly commitCount: number;
}

export interface TextLimits {
  readonly mostMessages: number;
  /** Characters of each text. */
  readonly longest: number;
}

/** The id of a commit follows from when it is published, so texts that name one have zeros there. */
const UNKNOWN_IDS = { idOf: () => ZERO_OID };

export function textsLeaving(
  { target, work }: Pick<KeptPush, 'target' | 'work'>,
  { mostMessages, longest }: TextLimits,
): LeavingTexts {
  const { base, prHash, commits, isDraft } = work;
  // What the repository adds at the end is asked for when it is published.
  const worded = { ...work, footer: statedText(work.stated) };
  const { title, body } = prHash === null ? wholeText(worded, UNKNOWN_IDS) : namedText(worded, UNKNOWN_IDS);
  const shown = (text: string): ShownText => begun(text, longest);
  const messages: ShownMessage[] = [];
  for (let number = 0; number < Math.min(commits.length, mostMessages); number++) {
    const { encoding, message } = commits.at(number);
    const bytes = withIds(message, UNKNOWN_IDS.idOf);
    const [plain, encoded] = [decodeEscaped(bytes), decodedMessage({ encoding, message: bytes })];
    messages.push({
      ...shown(plain),
      encoding,
      encoded: encoding === null || encoded === plain ? null : shown(encoded),
    });
  }
  return {
    repository: target,
    base: base.name.slice('refs/heads/'.length),
    updates: prHash,
    isDraft: isDraft && prHash === null,
    title: title === null ? null : shown(title),
    description: body === null ? null : shown(body),
    messages,
    commitCount: commits.length,
  };
}

function begun(text: string, longest: number): ShownText {
  return { text: text.slice(0, longest), missing: Math.max(0, text.length - longest) };
}
