/**
 * Moves a pack from the client to the fork, rewriting it on the way.
 *
 *   receive()   reads the body to its end; a large pack starts to leave for the fork meanwhile
 *   finish()    sends what is left and reads the host's report
 *
 * Nothing leaves before the pushed history is proved complete: until then entries wait in the delay line.
 */
import type { ByteReader } from '../git/byte-reader.ts';
import { type NewCommit, traceNewCommits } from '../git/new-commits.ts';
import type { Oid } from '../git/oid.ts';
import { lateCommit, PackRewriter } from '../git/pack/pack-rewriter.ts';
import type { PushReport } from '../host/git-transport.ts';
import { hostStep, Refusal } from './refusal.ts';
import type { Rewritten, RewrittenHistory } from './rewriting.ts';
import type { Upload } from './upload.ts';
import type { UpstreamHistory } from './upstream-history.ts';

/** A pack of up to this size leaves after it was read to its end: a bad one then never reaches the host. */
const WAITING_BYTES = 1024 * 1024;

export interface RelayPlan {
  /** The pushed commit. */
  readonly tip: Oid;
  readonly history: UpstreamHistory;
  /** What becomes of the new commits. */
  rewrite(commits: readonly NewCommit[], ground: ReadonlySet<Oid>): Rewritten;
  /** Opens the way to the fork, which takes a while; null: the fork has the rewritten commits already. */
  openUpload(rewritten: RewrittenHistory): Promise<Upload | null>;
}

export class PackRelay {
  readonly #plan: RelayPlan;
  readonly #rewriter: PackRewriter;
  #rewritten: RewrittenHistory | null = null;
  /** Undefined: not opened yet. */
  #upload: Upload | null | undefined;
  #waitingBytes = 0;
  /** Commits at the last attempt to complete the history: attempts double, so that their sum stays linear. */
  #triedAtCount = 0;

  constructor(plan: RelayPlan) {
    this.#plan = plan;
    this.#rewriter = new PackRewriter((oid) => plan.history.isListed(oid));
  }

  /**
   * Reads the pack to its end.
   * @throws ProtocolError, HostError, Refusal; the rest of the body is then unread.
   */
  async receive(reader: ByteReader): Promise<void> {
    for (let chunk = await reader.nextChunk(); chunk !== null; chunk = await reader.nextChunk()) {
      this.#rewriter.scan(chunk);
      this.#waitingBytes += chunk.byteLength;
      if (this.#rewritten === null && this.#isWorthTrying()) await this.#complete(this.#rewriter.isFull);
      const isDue = this.#upload !== undefined || this.#waitingBytes > WAITING_BYTES;
      if (this.#rewritten === null || !isDue) continue;
      await this.#send(this.#rewritten);
      // What was sent holds no views of the chunks any more.
      reader.recycle();
    }
    this.#rewriter.finish();
    if (this.#rewritten === null) await this.#complete(true);
  }

  /** Sends the rest; null: there was nothing to send. Only after `receive`. */
  async finish(): Promise<PushReport | null> {
    const upload = await this.#send(this.#rewritten as RewrittenHistory);
    if (upload === null) return null;
    return hostStep('push', async () => {
      await upload.write([this.#rewriter.trailer()]);
      return upload.finish();
    });
  }

  get rewritten(): RewrittenHistory | null {
    return this.#rewritten;
  }

  /** The host drops what it got so far. */
  async abort(): Promise<void> {
    await this.#upload?.abort();
  }

  #isWorthTrying(): boolean {
    const { keptCount, hasPassed, isFull } = this.#rewriter;
    return isFull || (hasPassed && keptCount >= 2 * this.#triedAtCount);
  }

  /** @param isFinal no further commit may come: the history is completed now, or the push is refused. */
  async #complete(isFinal: boolean): Promise<void> {
    const { tip, history } = this.#plan;
    this.#triedAtCount = this.#rewriter.keptCount;
    for (;;) {
      const trace = traceNewCommits(tip, (oid) => this.#rewriter.findCommit(oid), history);
      if (trace.kind === 'complete') {
        if (trace.commits.length === 0) throw nothingNew();
        const { history: rewritten, contents } = this.#plan.rewrite(trace.commits, trace.ground);
        this.#rewriter.start(contents);
        this.#rewritten = rewritten;
        return;
      }
      if (!isFinal) return;
      // Not even the pushed commit has come before the line was full.
      if (this.#rewriter.isFull && this.#rewriter.findCommit(tip) === undefined) throw lateCommit();
      if (!(await hostStep('history', () => history.reachBack()))) throw unproven();
    }
  }

  async #send(rewritten: RewrittenHistory): Promise<Upload | null> {
    const upload = this.#upload === undefined ? await this.#plan.openUpload(rewritten) : this.#upload;
    this.#upload = upload;
    const pieces = this.#rewriter.take();
    if (upload !== null) await hostStep('push', () => upload.write(pieces));
    this.#waitingBytes = 0;
    return upload;
  }
}

function nothingNew(): Refusal {
  return new Refusal('nothing to propose', [
    'Upstream has everything in this push already. Commit something first.',
  ]);
}

function unproven(): Refusal {
  return new Refusal('fetch first', [
    'The push stands on commits that could not be found upstream.',
    'Run "git fetch", rebase your work, then push again.',
    'If it stands on another branch of upstream, push to refs/for/<that branch>.',
  ]);
}
