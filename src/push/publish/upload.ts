/**
 * One push to the fork: commands, then the pack, written while it is produced.
 *
 * Each write is awaited, so that no more is read of the spool than the host accepts. A host that stops reading for too
 * long, or that answers before it has read everything, ends the upload.
 */
import { concatBytes } from '../../git/bytes.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { encodeCommandList } from '../../git/wire/command-list.ts';
import type { GitTransport, PushReport } from '../../host/git/git-transport.ts';
import { HostError, hostText } from '../../host-error.ts';
import type { RepositoryName } from '../../repository-name.ts';

/** From the last byte sent to the report. In this time the host checks every object. */
const REPORT_TIMEOUT_MS = 120_000;
/** The same for a pack that takes it no time: it hangs, and somebody waits. */
const SHORT_REPORT_TIMEOUT_MS = 60_000;
const SHORT_BYTES = 1024 * 1024;
/** How long to wait for the reason after the host has stopped reading. */
const EARLY_ANSWER_MS = 1_000;

export interface UploadTarget {
  readonly fork: RepositoryName;
  readonly branch: string;
  readonly oldTip: Oid;
  readonly newTip: Oid;
}

/**
 * Sends a pack, and reads the host's report. @param pack its pieces.
 * @throws HostError; after `unreachable` it is unknown what happened.
 */
export async function upload(
  transport: GitTransport,
  target: UploadTarget,
  pack: AsyncIterable<Uint8Array>,
  writeTimeoutMs: number,
): Promise<PushReport> {
  const sending = new Upload(transport, target, writeTimeoutMs);
  try {
    for await (const piece of pack) await sending.write(piece);
    return await sending.finish();
  } catch (error) {
    await sending.abort();
    throw error;
  }
}

class Upload {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #report: Promise<PushReport>;
  readonly #writeTimeoutMs: number;
  /** The command section; it leaves with the first bytes of the pack. */
  #commands: Uint8Array | null;
  #sentBytes = 0;

  constructor(
    transport: GitTransport,
    { fork, branch, oldTip, newTip }: UploadTarget,
    writeTimeoutMs: number,
  ) {
    const { readable, writable } = new IdentityTransformStream();
    this.#writer = writable.getWriter();
    this.#writeTimeoutMs = writeTimeoutMs;
    this.#report = transport.push(fork, readable);
    // `write` or `finish` report a rejection. Until one of them is called, nobody handles it.
    this.#report.catch(() => {});
    this.#writer.closed.catch(() => {});
    this.#commands = encodeCommandList({ oldId: oldTip, newId: newTip, refName: `refs/heads/${branch}` });
  }

  /** @throws HostError if the host does not accept the bytes. */
  async write(piece: Uint8Array): Promise<void> {
    const bytes = this.#commands === null ? piece : concatBytes([this.#commands, piece]);
    this.#commands = null;
    this.#sentBytes += bytes.byteLength;
    await this.#inTime(this.#writer.write(bytes), this.#writeTimeoutMs);
  }

  /** Ends the pack and reads the host's report. @throws HostError; after `unreachable` it is unknown what happened. */
  async finish(): Promise<PushReport> {
    await this.#inTime(this.#writer.close(), this.#writeTimeoutMs);
    const isShort = this.#sentBytes <= SHORT_BYTES;
    return this.#inTime(this.#report, isShort ? SHORT_REPORT_TIMEOUT_MS : REPORT_TIMEOUT_MS);
  }

  /** Aborts the upload: the host gets an incomplete pack, and discards it. */
  async abort(): Promise<void> {
    await this.#writer.abort().catch(() => {});
  }

  /** Waits for one action, but no longer than the host's own failure or the time allowed. */
  async #inTime<T>(action: Promise<T>, timeoutMs: number): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const slow = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new HostError('unreachable', 'The code host stopped reading.')),
        timeoutMs,
      );
    });
    const failed = this.#report.then(
      () => new Promise<never>(() => {}),
      (error: unknown) => Promise.reject(error instanceof Error ? error : new Error('upload failed')),
    );
    try {
      return await Promise.race([action, slow, failed]);
    } catch (error) {
      throw error instanceof HostError ? error : await this.#earlyAnswer(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A host that refuses a pack stops reading it, and sends an answer that says why. */
  async #earlyAnswer(cause: unknown): Promise<HostError> {
    const brokenOff = new HostError('unreachable', 'The code host broke off the push.', cause);
    const answer = this.#report.then(
      ({ unpackStatus }) => new HostError('refused', `The code host says: ${hostText(unpackStatus)}`, cause),
      (error: unknown) => (error instanceof HostError ? error : brokenOff),
    );
    return (await Promise.race([answer, scheduler.wait(EARLY_ANSWER_MS)])) ?? brokenOff;
  }
}
