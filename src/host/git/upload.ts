/**
 * Pushes to the host. The pack is written while it is produced, so that nothing of its size is in
 * memory.
 */
import { concatBytes } from '../../git/bytes.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { encodeCommandList } from '../../git/wire/push-request.ts';
import { HostError } from '../../words/host-error.ts';
import { hostText } from '../../words/host-text.ts';
import { within } from '../../isolate/within.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { TimedWriter } from '../../streams/timed-writer.ts';
import type { PushReport } from './git-answers.ts';
import type { GitTransport } from './git-transport.ts';

/**
 * Maximum time from the last byte sent to the report. In this time the host checks every object.
 */
const REPORT_TIMEOUT_MS = 120_000;
/**
 * Maximum time for a small pack, which needs little: a host that takes longer hangs, and somebody
 * waits.
 */
const SHORT_REPORT_TIMEOUT_MS = 60_000;
const SHORT_BYTES = 1024 * 1024;
/** Time to wait for the host's reason after it has stopped reading. */
const EARLY_ANSWER_MS = 1_000;

export interface UploadTarget {
  readonly repository: RepositoryName;
  readonly refName: string;
  /** Push options of the service's own, never a client's. */
  readonly pushOptions?: readonly string[];
  readonly oldTip: Oid;
  readonly newTip: Oid;
}

const stopped = (): Error => new HostError('unreachable', 'The code host stopped reading.');

/**
 * Sends commands and then the pack, which is read no faster than the host accepts data. It ends
 * early if the host stops reading, or refuses the push.
 * @throws HostError, and what `pack` throws. After `unreachable`, nobody knows what happened.
 */
export async function upload(
  transport: GitTransport,
  { repository, refName, pushOptions, oldTip, newTip }: UploadTarget,
  pack: AsyncIterable<Uint8Array>,
  writeTimeoutMs: number,
): Promise<PushReport> {
  const { readable, writable } = new IdentityTransformStream();
  const report = transport.push(repository, readable, pushOptions === undefined ? 'push' : 'offer');
  const writer = new TimedWriter(writable, writeTimeoutMs);
  // The commands are sent with the first bytes of the pack.
  const commands = encodeCommandList({ oldId: oldTip, newId: newTip, refName }, pushOptions);
  let sentBytes = 0;
  /** Sends everything. It returns false if the host has stopped reading. */
  const send = async (): Promise<boolean> => {
    for await (const piece of pack) {
      const bytes = sentBytes === 0 ? concatBytes([commands, piece]) : piece;
      sentBytes += bytes.byteLength;
      if (!(await writer.write(bytes))) return false;
    }
    return writer.close();
  };
  const failed = report.then(() => new Promise<never>(() => {}));
  const sending = send();
  try {
    if (await Promise.race([sending, failed])) {
      const patienceMs = sentBytes <= SHORT_BYTES ? SHORT_REPORT_TIMEOUT_MS : REPORT_TIMEOUT_MS;
      return await within(patienceMs, report, stopped);
    }
    // A host that refuses a pack stops reading it, and sends an answer that says why.
    const { unpackStatus } = await within(EARLY_ANSWER_MS, report, stopped);
    throw new HostError('refused', `The code host says: ${hostText(unpackStatus)}`);
  } catch (error) {
    // The host gets an incomplete pack, and discards it. Wait until nothing reads the spool any
    // more. The failure of sending adds nothing.
    await writer.abort();
    await sending.catch(() => {});
    throw error;
  }
}
