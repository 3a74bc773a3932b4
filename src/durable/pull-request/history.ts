/**
 * The stage and the events of a pull request, for its page and feed. All of it is public at the
 * host; no name and no word of a comment is kept.
 */
import type { HostEvent } from '../../events/host-event.ts';
import type { CommitCounts } from '../../text/commit-changes.ts';
import { stageAfter } from '../stages.ts';
import { PULL_REQUEST_STAGES, type PullRequestEvent, type PullRequestStage } from './stages.ts';

/**
 * The most events that are kept, comments apart from the rest: a flood of comments must not hide
 * the merge.
 */
export const MAX_EVENTS = 50;
/** The longest address that is kept: longer than any host's link to a comment. */
const MAX_URL_LENGTH = 500;

const REMARKS: ReadonlySet<HistoryKind> = new Set(['commented', 'reviewed', 'approved', 'changes-requested']);

/** The kinds of events: of pushes, of a look at the host, and of `HostEvent`. */
export const HISTORY_KINDS = [
  'opened',
  'updated',
  'reopened',
  'commented',
  'reviewed',
  'approved',
  'changes-requested',
  'merged',
  'closed',
  'withdrawn',
] as const;
export type HistoryKind = (typeof HISTORY_KINDS)[number];

export interface HistoryEvent {
  /** Stays the same for as long as the pull request exists. */
  readonly id: number;
  readonly kind: HistoryKind;
  /** The page that shows it at the code host; empty: the pull request's. */
  readonly url: string;
  /** When the service learned of it, in seconds since 1970. */
  readonly at: number;
  /**
   * The number that the pull request had then: another may be opened under its hash. Absent:
   * version 1.0.0 has written the event.
   */
  readonly number?: number;
  /** The title that the pull request had then, as far as the service knew it. */
  readonly title?: string;
  /**
   * The changes of an update. Absent: nobody has looked, or an earlier version has written the
   * event.
   */
  readonly commits?: CommitCounts;
}

interface Ending {
  readonly state: Exclude<PullRequestStage, 'open'>;
  /** Whether nobody has told of it before. */
  readonly isNew: boolean;
}

const ENDED_BY = { merged: 'merge', closed: 'close', withdrawn: 'withdraw' } as const;

export interface KeptHistory {
  /** The stage, and since when, in seconds since 1970. */
  standing: { readonly state: PullRequestStage; readonly at: number };
  /** Oldest first. */
  events: HistoryEvent[];
}

/** Changes what is kept. The caller saves it. */
export class History {
  readonly #kept: KeptHistory;

  constructor(kept: KeptHistory) {
    this.#kept = kept;
  }

  /**
   * Adds an event.
   * @param at milliseconds since 1970
   */
  add(
    kind: HistoryKind,
    url: string,
    at: number,
    of: Omit<HistoryEvent, 'id' | 'kind' | 'url' | 'at'>,
  ): void {
    const { events } = this.#kept;
    const isRemark = REMARKS.has(kind);
    events.push({ id: (events.at(-1)?.id ?? 0) + 1, kind, url: shortUrl(url), at: seconds(at), ...of });
    const alike = events.filter((event) => REMARKS.has(event.kind) === isRemark);
    if (alike.length > MAX_EVENTS) this.#kept.events = events.filter((event) => event !== alike[0]);
  }

  /**
   * Adds the number of the pull request to the events that version 1.0.0 has written, before
   * another is opened.
   */
  nameEarlier(number: number): void {
    this.#kept.events = this.#kept.events.map((event) => ({ ...event, number: event.number ?? number }));
  }

  /**
   * Goes to the stage that follows by the event.
   * @param at milliseconds since 1970
   */
  move(event: PullRequestEvent, at: number): void {
    const state = stageAfter(PULL_REQUEST_STAGES, this.#kept.standing.state, event);
    this.#kept.standing = { state, at: seconds(at) };
  }

  /**
   * Takes a newer answer of the host. Answers whether the pull request has been reopened.
   * @param ending null: it was open
   * @param at milliseconds since 1970
   */
  observe(ending: Ending | null, at: number): boolean {
    const known = this.#kept.standing;
    const isOpen = known.state === 'open';
    const isNewer = seconds(at) > known.at;
    if (ending !== null) {
      if (ending.isNew || (isOpen && isNewer)) this.move(ENDED_BY[ending.state], at);
      return false;
    }
    if (isOpen || !isNewer) return false;
    this.move('reopen', at);
    return true;
  }

  /** Counts the comments and reviews since the last push; at most `MAX_EVENTS`. */
  remarksSincePush(): number {
    const { events } = this.#kept;
    const last = events.findLastIndex(({ kind }) => kind === 'opened' || kind === 'updated');
    return last === -1 ? 0 : events.slice(last).filter(({ kind }) => REMARKS.has(kind)).length;
  }
}

export function isEnd(event: HostEvent): event is HostEvent & { readonly kind: Ending['state'] } {
  return !REMARKS.has(event.kind);
}

/** Answers an empty text if the address is too long to be kept. */
export function shortUrl(url: string): string {
  return url.length <= MAX_URL_LENGTH ? url : '';
}

const seconds = (ms: number): number => Math.floor(ms / 1000);
