/**
 * Tells the person how a push goes on, and how it ends: a Git client by side-bands, a form by
 * gathered lines.
 */
import type { PullRequestStage } from '../../durable/pull-request/stages.ts';
import { concatBytes, NO_BYTES } from '../../git/bytes.ts';
import { FLUSH_PKT } from '../../git/wire/pkt-line.ts';
import { encodeReportStatus, type ReportStatus } from '../../git/wire/report-status.ts';
import { BAND_DATA, BAND_ERROR, BAND_PROGRESS, encodeBand, KEEP_ALIVE } from '../../git/wire/side-band.ts';
import { visible } from '../../words/host-text.ts';
import type { Clock } from '../../isolate/clock.ts';

/**
 * Short, because only a write shows that a connection is broken: the first one seems to succeed,
 * the next one fails. Node's HTTP client drops a connection that is silent for five seconds.
 */
const KEEP_ALIVE_MS = 1_000;

/** A pull request that has commits of a push already. */
export interface SameWork {
  readonly prHash: string;
  readonly number: number;
  readonly url: string;
  readonly state: PullRequestStage;
  /** The day on which it was merged, closed or withdrawn; null: it is open, or nobody knows. */
  readonly endedOn: string | null;
  /** How many commits of the push are in it. */
  readonly shared: number;
}

export interface Reply {
  /** Tells lines that the person should know: warnings and the like. */
  note(...lines: readonly string[]): Promise<void>;
  /** Keeps the open pull request that has the work, for a form that says so in its own way. */
  noteSame(same: SameWork): void;
  /** Tells a secret that this answer alone shows. A form gets it another way, on its page. */
  noteSecret(...lines: readonly string[]): Promise<void>;
  /** Tells what the service is doing at this moment. */
  step(line: string): Promise<void>;
}

/**
 * Answers whether the client is still there. If it has gone, that changes nothing about the push.
 * Must not reject.
 */
type WriteBytes = (bytes: Uint8Array) => Promise<boolean>;

/**
 * Writes progress on band 2, the report-status on band 1, an error on band 3. Notes wait until the
 * client has sent everything, and listens. Even a refusal is complete, with each pushed ref: after
 * an error alone, Git reports a broken connection.
 */
export class SideBandReply implements Reply {
  readonly #hasSideBand: boolean;
  readonly #isQuiet: boolean;
  readonly #wantsReport: boolean;
  #waiting: string[] = [];
  #write: WriteBytes | null = null;
  readonly #broken = new AbortController();

  constructor(capabilities: ReadonlySet<string>) {
    this.#hasSideBand = capabilities.has('side-band-64k');
    this.#isQuiet = capabilities.has('quiet');
    this.#wantsReport = capabilities.has('report-status');
  }

  /** Whether a person sees what is told: not without a side-band, nor with `git push -q`. */
  get isRead(): boolean {
    return this.#hasSideBand && !this.#isQuiet;
  }

  /** Fires when a write has failed, because the client is gone or does not read. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** Begins to write, because the client listens now. */
  async open(write: WriteBytes): Promise<void> {
    this.#write = async (bytes) => {
      const isWritten = await write(bytes);
      if (!isWritten) this.#broken.abort();
      return isWritten;
    };
    await this.note(...this.#waiting.splice(0));
  }

  /** Tells lines. The client puts `remote: ` in front of each. */
  async note(...lines: readonly string[]): Promise<void> {
    if (!this.#hasSideBand || lines.length === 0) return;
    if (this.#write === null) this.#waiting.push(...lines);
    else await this.#write(encodeBand(BAND_PROGRESS, lines.map((line) => `${visible(line)}\n`).join('')));
  }

  noteSame(): void {}

  noteSecret(...lines: readonly string[]): Promise<void> {
    return this.note(...lines);
  }

  async step(line: string): Promise<void> {
    if (this.#write !== null) await this.note(line);
  }

  /**
   * Keeps the client's connection alive while this work takes its time. Only after `open`, and
   * before `finish`.
   */
  async keepAlive<T>(clock: Clock, work: Promise<T>): Promise<T> {
    const done = new AbortController();
    const beat = async (): Promise<void> => {
      for (;;) {
        await clock.sleep(KEEP_ALIVE_MS, done.signal);
        if (done.signal.aborted) return;
        await this.#write?.(KEEP_ALIVE);
      }
    };
    if (this.#hasSideBand) void beat();
    try {
      return await work;
    } finally {
      done.abort();
    }
  }

  /**
   * Ends the reply; only after `open`. Answers whether the client has received it.
   * @param finalLine the last line of a failed push; null: it has not failed.
   */
  async finish(report: ReportStatus, finalLine: string | null): Promise<boolean> {
    const write = this.#write as WriteBytes;
    const status = this.#wantsReport ? encodeReportStatus(report) : NO_BYTES;
    if (!this.#hasSideBand) return write(status);
    // Git ends this line itself.
    const error = finalLine === null ? [] : [encodeBand(BAND_ERROR, visible(finalLine))];
    // In one write: Git stops reading at band 3, and later bytes break its pipe before it shows the
    // report.
    return write(concatBytes([encodeBand(BAND_DATA, status), ...error, FLUSH_PKT]));
  }
}

/** Gathers the notes, for a form. */
export class NotedReply implements Reply {
  readonly notes: string[] = [];
  same: SameWork | null = null;

  async note(...lines: readonly string[]): Promise<void> {
    this.notes.push(...lines);
  }

  noteSame(same: SameWork): void {
    this.same = same;
  }

  async noteSecret(): Promise<void> {}

  async step(): Promise<void> {}
}
