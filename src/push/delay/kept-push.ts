/**
 * A judged push as bytes, which follow the entries in the spool of a delayed push: a byte for the
 * version, the length of all, the length of a JSON text, that text, and the commits, each with its
 * length in front. Lengths have 32 bits, big-endian.
 */
import { concatBytes, utf8 } from '../../git/bytes.ts';
import { PlannedCommits } from '../../git/objects/planned-commits.ts';
import type { PlannedText } from '../../git/objects/stored-commit.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { Claim } from '../../limits/claim.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import type { PushedWork } from '../verdict.ts';

export interface KeptPush {
  /** The repository as the request named it. */
  readonly target: RepositoryName;
  /** As `Publication` has it. */
  readonly pushHash: string;
  readonly work: PushedWork;
  /**
   * The commit at which the pull request that it names ended, by the service's own record. Null:
   * the service had recorded none.
   */
  readonly recordedTip: Oid | null;
  /** Whether that pull request was open. */
  readonly wasOpen: boolean;
  /**
   * Keyed hashes of the ids that others' commits had when they were pushed: what maintainers add to
   * the pull request is known again by these, also squashed and with other messages.
   */
  readonly others: readonly string[];
  /** The claims that limits could not grant to its client yet; null: all were granted. */
  readonly owed: Claim | null;
}

/** The version of the form. A reader of another must not publish what it does not understand. */
const VERSION = 7;
const LENGTH_BYTES = 4;

/** The bytes are not whole, and would be read as fewer commits; or another version wrote them. */
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
  const { work, ...facts } = JSON.parse(Buffer.from(next()).toString()) as KeptHead;
  const commits = new PlannedCommits();
  while (at < bytes.length) commits.encoded.push(next());
  const texts = { title: unpacked(work.title), description: unpacked(work.description) };
  // 1.0.0 kept no others.
  return { ...facts, others: facts.others ?? [], work: { ...work, ...texts, commits } };
}

type PackedText = Omit<PlannedText, 'bytes'> & { readonly text: string };

interface Head extends Omit<KeptPush, 'work'> {
  readonly work: Omit<PushedWork, 'commits' | 'title' | 'description'> & {
    readonly title: PackedText | null;
    readonly description: PackedText | null;
  };
}

type KeptHead = Omit<Head, 'others'> & Partial<Pick<Head, 'others'>>;

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
