/**
 * How an anonymous push becomes a pull request at a host. There are two ways, and the host's class says which one is its
 * own: from a branch of the bot's fork (`from-fork.ts`), or by one push to upstream (`agit.ts`).
 */
import type { Oid } from '../../git/objects/oid.ts';
import type { PullRequest } from '../../host/code-host.ts';
import type { Proposal } from './pull-request.ts';

/** What is sent. Each attempt makes the pack again. */
export interface Sent {
  readonly prHash: string;
  readonly tip: Oid;
  readonly commitCount: number;
  readonly pack: () => AsyncIterable<Uint8Array>;
  /** Where the pull request must be, unless its branch is gone or has these commits already; null: anywhere. */
  readonly onlyFrom: Oid | null;
  /** Before each step that makes something public. @throws Refusal if the push was ended */
  readonly mayGoOn: () => Promise<void>;
}

export interface Delivery {
  /** False: something has to be made at the host first, which may take long. */
  readonly isReady: boolean;
  /** @throws Refusal */
  prepare(): Promise<void>;
  /**
   * Sends the commits, and opens or updates the pull request. Only after `prepare`.
   * @throws Refusal; see `leavesWork` for what a retry must continue.
   */
  deliver(sent: Sent, proposal: Proposal): Promise<PullRequest>;
  /** The push has failed. */
  failed(): void;
}
