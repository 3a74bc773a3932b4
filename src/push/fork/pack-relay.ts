/**
 * Moves a pack from the client to the fork, rewriting it on the way.
 *
 *   receive()   reads the body to its end; a large pack starts to leave for the fork at the same time
 *   finish()    sends what is left and reads the host's report
 *
 * Nothing leaves before the pushed history is proved complete and the pack is known to contain nothing else. Until
 * then, entries wait in the delay line. A small pack always waits until its end, so a bad one never reaches the host.
 */
import type { ByteReader } from '../../git/byte-reader.ts';
import type { Memory } from '../../git/memory.ts';
import { type NewCommit, type NewCommits, traceNewCommits } from '../../git/new-commits.ts';
import type { Oid } from '../../git/oid.ts';
import { OidTable } from '../../git/oid-table.ts';
import { hiddenCommit, lateCommit, PackRewriter } from '../../git/pack/pack-rewriter.ts';
import { classifyObjects } from '../../git/pushed-objects.ts';
import type { PushReport } from '../../host/git/git-transport.ts';
import { isForkGone } from './fork.ts';
import { bufferBytes } from '../push-memory.ts';
import { hostStep, type HostSteps } from '../reply/host-steps.ts';
import type { IdentityGuard } from '../rewriting/identity-guard.ts';
import { type NamedCommits, namedCommits } from '../rewriting/named-commits.ts';
import { MAX_RESOLVED_BYTES, type ReadBases } from '../rewriting/pack-search.ts';
import { Refusal } from '../reply/refusal.ts';
import type { Rewritten, RewrittenHistory } from '../rewriting/rewriting.ts';
import type { Upload } from './upload.ts';
import type { UpstreamHistory } from '../upstream/upstream-history.ts';

/** A pack of up to this size leaves only after it was read to its end. */
const WAITING_BYTES = 1024 * 1024;

/**
 * Room for what a chunk leaves in memory, for each of its bytes: commits are inflated, and each costs something
 * besides. Once files are passed on, only the chunk itself is left.
 */
const ROOM_FOR_COMMITS = 8;
const ROOM_FOR_FILES = 2;
/** For each byte of a small pack, whose deltas are inflated; the first ones take this much. */
const ROOM_FOR_DELTAS = 4;
const LEAST_ROOM_FOR_DELTAS = 64 * 1024;

export interface RelayPlan {
  readonly memory: Memory;
  /** The pushed commit. */
  readonly tip: Oid;
  /** The targets of the other refs of the push. */
  readonly otherTips: readonly Oid[];
  readonly history: UpstreamHistory;
  readonly steps: HostSteps;
  /** Searches for the author's name in what leaves; null: no search. */
  readonly guard: IdentityGuard | null;
  /** Other texts that become public, by their names. */
  readonly texts: Readonly<Record<string, string>>;
  /** How to rewrite the new commits. */
  rewrite(commits: NewCommits, ground: ReadonlySet<Oid>): Promise<Rewritten>;
  /**
   * Opens the upload to the fork, which takes a while; null if there is nothing to send.
   * @param cleared nothing may leave before.
   */
  openUpload(rewritten: RewrittenHistory, cleared: Promise<void>): Promise<Upload | null>;
  /** Objects of upstream that the pack stands on, as far as they can be had. Never rejects. */
  readonly readBases: ReadBases;
  /** The refusal of a push that contains more than its branch. */
  readonly refuseOthers: () => Refusal;
}

export class PackRelay {
  readonly #plan: RelayPlan;
  readonly #rewriter: PackRewriter;
  /** Commits of the pack that are upstream's. */
  #upstreams: ReadonlySet<Oid> = new Set();
  #rewritten: RewrittenHistory | null = null;
  /** Undefined: not opened yet. */
  #upload: Upload | null | undefined;
  /** All pieces of the pack, if it was read to its end before any of it left. */
  #whole: readonly Uint8Array[] | null = null;
  /** What `finish` has sent. */
  #rest: readonly Uint8Array[] = [];
  #arrivedBytes = 0;
  #cleared: Promise<void> = Promise.resolve();
  #waitingBytes = 0;
  #objectCount = 0;
  #packBytes = 0;
  /** Commits at the last attempt to complete the history. They double before the next one: the total cost is linear. */
  #triedAtCount = 0;

  constructor(plan: RelayPlan) {
    this.#plan = plan;
    this.#rewriter = new PackRewriter(
      (oid) => plan.history.isKnown(oid) || this.#upstreams.has(oid),
      plan.memory,
    );
  }

  /**
   * Reads the pack to its end.
   * @throws ProtocolError, HostError, Refusal; the rest of the body is then unread.
   */
  async receive(reader: ByteReader): Promise<void> {
    for (let chunk = await reader.nextChunk(); chunk !== null; chunk = await reader.nextChunk()) {
      await this.#takeMemory(chunk.byteLength);
      this.#rewriter.scan(chunk);
      this.#waitingBytes += chunk.byteLength;
      if (this.#upload === undefined && this.#waitingBytes <= WAITING_BYTES) continue;
      if (this.#rewritten === null && this.#isWorthTrying()) {
        await this.#complete(this.#rewriter.isFull ? 'full' : 'partly-read');
      }
      if (this.#rewritten === null) continue;
      const pieces = this.#take();
      await this.#write(await this.#open(this.#rewritten), pieces);
      this.#waitingBytes = 0;
      // The sent pieces no longer refer to the chunks.
      reader.recycle();
    }
    this.#rewriter.finish();
    if (this.#rewritten === null) await this.#complete('read');
    if (this.#upload !== undefined) return;
    this.#whole = this.#take(true);
    this.#cleared = this.#checkWhole(this.#whole);
    this.#cleared.catch(() => {}); // Whoever waits for it handles it.
  }

  /** Until a small pack has been searched as a whole, beside other work. Only after `receive`. @throws Refusal */
  get cleared(): Promise<void> {
    return this.#cleared;
  }

  /** Sends the rest; null: there was nothing to send. Only after `receive`. */
  async finish(): Promise<PushReport | null> {
    this.#rest = [...(this.#whole ?? this.#take()), this.#rewriter.trailer()];
    const upload = await this.#open(this.#rewritten as RewrittenHistory);
    try {
      return await this.#end(upload, this.#rest);
    } catch (error) {
      if (!isForkGone(error)) throw error;
      if (!this.isRepeatable) throw forkGone();
      return this.repeat();
    }
  }

  /** Whether the whole pack is still in memory. */
  get isRepeatable(): boolean {
    return this.#whole !== null;
  }

  /** Sends it all once more, after the fork was made ready again. Only after `finish`, and if `isRepeatable`. */
  async repeat(): Promise<PushReport | null> {
    this.#upload = await this.#plan.openUpload(this.#rewritten as RewrittenHistory, this.#cleared);
    return this.#end(this.#upload, this.#rest);
  }

  get rewritten(): RewrittenHistory | null {
    return this.#rewritten;
  }

  /** Size of the outgoing pack, without its trailer. */
  get size(): { readonly objectCount: number; readonly bytes: number } {
    return { objectCount: this.#objectCount, bytes: this.#packBytes };
  }

  /** The host then discards what it has received. */
  async abort(): Promise<void> {
    await this.#upload?.abort();
  }

  /** Gives the memory back at once. Nothing may be called afterwards, and the messages of commits are gone. */
  free(): void {
    this.#rewriter.free();
    this.#whole = null;
    this.#rest = [];
  }

  /** For the next bytes of the pack. */
  async #takeMemory(bytes: number): Promise<void> {
    const { memory } = this.#plan;
    const buffers = bufferBytes(this.#arrivedBytes + bytes) - bufferBytes(this.#arrivedBytes);
    const room = this.#rewritten === null ? ROOM_FOR_COMMITS : ROOM_FOR_FILES;
    await memory.makeRoom(buffers + room * bytes);
    memory.use(buffers);
    this.#arrivedBytes += bytes;
  }

  #isWorthTrying(): boolean {
    const { keptCount, hasPassed, isFull } = this.#rewriter;
    return isFull || (hasPassed && keptCount >= 2 * this.#triedAtCount);
  }

  /**
   * Completes the history, refuses the push, or, if the pack is only partly read, tries again later.
   * @param state `full`: no more entries can wait, so a commit that has not arrived yet is too late.
   */
  async #complete(state: 'partly-read' | 'full' | 'read'): Promise<void> {
    const { tip, otherTips, history, steps } = this.#plan;
    this.#triedAtCount = this.#rewriter.keptCount;
    for (;;) {
      const trace = traceNewCommits(tip, (oid) => this.#rewriter.findCommit(oid), history);
      if (trace.kind === 'complete') {
        const { commits, ground } = trace;
        if (commits.length === 0) throw nothingNew();
        const objects = classifyObjects(this.#rewriter.kept, commits, ground, otherTips, history);
        if (objects.areAllNeeded) return this.#start(commits, ground, objects.upstreams);
      }
      if (state === 'partly-read') return;
      // The delay line was full before even the pushed commit arrived.
      if (state === 'full' && this.#rewriter.findCommit(tip) === undefined) throw lateCommit();
      const hasReached = await steps.run('history', () =>
        trace.kind === 'reaches-back-on-others' ? history.reachBackOnOthers() : history.reachBack(),
      );
      if (this.#rewriter.hidesCommit) throw hiddenCommit();
      if (hasReached || trace.kind === 'reaches-back-on-others') continue;
      if (trace.kind === 'complete') throw this.#plan.refuseOthers();
      throw state === 'full' ? lateCommit() : unproven();
    }
  }

  async #start(commits: NewCommits, ground: ReadonlySet<Oid>, upstreams: ReadonlySet<Oid>): Promise<void> {
    const { guard, texts } = this.#plan;
    const { history, contents } = await this.#plan.rewrite(commits, ground);
    const contentOf = ({ oid }: NewCommit) => this.#rewriter.findCommit(oid);
    await guard?.learn(commits, contentOf, this.#rewriter.kept, history.originalIds, this.#plan.memory);
    guard?.checkMessages(history.messages);
    guard?.checkNamedCommits(await this.#namedCommits(commits, history));
    // More of upstream's history may be known now.
    if (this.#rewriter.hidesCommit) throw hiddenCommit();
    for (const [where, text] of Object.entries(texts)) guard?.checkText(where, text);
    this.#upstreams = upstreams;
    this.#objectCount = this.#rewriter.start(contents);
    this.#rewritten = history;
  }

  #namedCommits(commits: NewCommits, { messages }: RewrittenHistory): Promise<NamedCommits> {
    const { history, steps } = this.#plan;
    const own = new OidTable();
    for (const { oid } of commits) own.add(oid);
    const reachBack = () => steps.run('history', () => history.reachBack());
    return namedCommits(messages, (oid) => own.has(oid), history, reachBack);
  }

  /** The pieces that may leave now. @param isWhole they are the whole pack. @throws Refusal if they may not. */
  #take(isWhole = false): readonly Uint8Array[] {
    const pieces = this.#rewriter.take();
    for (const { byteLength } of pieces) this.#packBytes += byteLength;
    this.#plan.guard?.checkPack(pieces, isWhole);
    this.#plan.guard?.decide();
    return pieces;
  }

  async #checkWhole(pack: readonly Uint8Array[]): Promise<void> {
    const { guard, memory, readBases } = this.#plan;
    if (guard === null) return;
    const room = LEAST_ROOM_FOR_DELTAS + ROOM_FOR_DELTAS * this.#packBytes;
    await memory.makeRoom(Math.min(MAX_RESOLVED_BYTES, room));
    await guard.checkDeltas(pack, memory, readBases);
    guard.decide();
  }

  async #open(rewritten: RewrittenHistory): Promise<Upload | null> {
    if (this.#upload === undefined) this.#upload = await this.#plan.openUpload(rewritten, this.#cleared);
    return this.#upload;
  }

  async #write(upload: Upload | null, pieces: readonly Uint8Array[]): Promise<void> {
    try {
      if (upload !== null) await hostStep('push', () => upload.write(pieces));
    } catch (error) {
      throw isForkGone(error) ? forkGone() : error;
    }
  }

  async #end(upload: Upload | null, rest: readonly Uint8Array[]): Promise<PushReport | null> {
    if (upload === null) return null;
    return this.#plan.steps.run('push', async () => {
      await upload.write(rest);
      return upload.finish();
    });
  }
}

function forkGone(): Refusal {
  return new Refusal('the fork is gone', [
    'The fork on the code host was deleted or renamed. Push again: the service creates a new one.',
  ]);
}

function nothingNew(): Refusal {
  return new Refusal('nothing to propose', [
    'Upstream already has everything in this push. Commit something first.',
  ]);
}

function unproven(): Refusal {
  return new Refusal('fetch first', [
    'The push is based on commits that the service cannot find upstream.',
    'Run "git fetch", rebase your work, then push again.',
    'If it is based on another branch of upstream, push to refs/for/<that branch>.',
  ]);
}
