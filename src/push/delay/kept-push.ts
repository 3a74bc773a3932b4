/**
 * What is kept of a delayed push behind the entries in its spool, as bytes: a byte for the version, the length of all,
 * the length of a JSON text, that text, and the commits, each with its length in front. Lengths are 32 bits, big-endian.
 * At the end: what the operator reads of it.
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
const VERSION = 7;
const LENGTH_BYTES = 4;

/** It is not whole, and would be read as fewer commits; or another version has written it. */
export class UnreadableError extends RangeError {
  override readonly name = 'UnreadableError';
}

export function encodeKept({ work, ...facts }: KeptPush): Uint8Array {
  const { commits, title, description, ...rest } = work;
  const texts = { title: packed(title), description: packed(description) };
  const head = utf8(JSON.stringify({ ...facts, work: { ...rest, ...texts } } satisfies Head));
  const parts = [head, ...commits.encoded].flatMap((part) => [length(part.byteLength), part]);
  const bytes = concatBytes([Uint8Array.of(VERSION), length(0), ...parts]);
  bytes.set(length(bytes.byteLength), 1);
  return bytes;
}

/** @throws UnreadableError */
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
  return planned && { text: Buffer.from(planned.bytes).toString(), mentions: planned.mentions };
}

function unpacked(kept: PackedText | null): PlannedText | null {
  return kept && { bytes: utf8(kept.text), mentions: kept.mentions };
}

function length(byteLength: number): Uint8Array {
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

export type LeavingTexts = ReturnType<typeof textsLeaving>;
export type ShownMessage = LeavingTexts['messages'][number];

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
) {
  const { base, prHash, commits, isDraft } = work;
  const shown = (text: string): ShownText => ({
    text: text.slice(0, longest),
    missing: Math.max(0, text.length - longest),
  });
  // What the repository adds at the end is asked for when it is published.
  const worded = { ...work, footer: statedText(work.stated) };
  const { title, body } = prHash === null ? wholeText(worded, UNKNOWN_IDS) : namedText(worded, UNKNOWN_IDS);
  const count = Math.min(commits.length, mostMessages);
  return {
    repository: target,
    /** The branch that it is for. */
    base: base.name.slice('refs/heads/'.length),
    /** The hash of the pull request that it is to update; null: it opens one. */
    updates: prHash,
    isDraft: isDraft && prHash === null,
    /** Null: that of the open pull request stays as it is. */
    title: title === null ? null : shown(title),
    description: body === null ? null : shown(body),
    commitCount: commits.length,
    /** The first ones, oldest first. */
    messages: Array.from({ length: count }, (_, number) => {
      const { encoding, message: planned } = commits.at(number);
      const message = withIds(planned, UNKNOWN_IDS.idOf);
      const plain = decodeEscaped(message);
      const encoded = decodedMessage({ encoding, message });
      const isOther = encoding !== null && encoded !== plain;
      /** `encoded`: the text that its bytes have in its encoding, if they have another one in UTF-8. */
      return { ...shown(plain), encoding, encoded: isOther ? shown(encoded) : null };
    }),
  };
}
