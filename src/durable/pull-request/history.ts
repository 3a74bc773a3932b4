/**
 * The state and the events of a pull request, for its page and its feed. All of it is public at the code host; no name
 * and no word of a comment is kept. Times have whole seconds.
 *
 * Both tables appear with the first push that is recorded. An older pull request has neither until something happens to
 * it. Its state then follows from the keys of the events that its topic was told.
 */
import type { HostEvent } from '../../events/host-event.ts';

/** The newest are kept, comments apart from the rest: a flood of comments must not hide the merge. */
export const MAX_EVENTS = 50;
/** More than any host needs for a link to a comment. */
const MAX_URL_LENGTH = 500;

export type PullRequestState = 'open' | 'merged' | 'closed' | 'withdrawn';
export type HistoryKind = 'opened' | 'updated' | 'reopened' | HostEvent['kind'];

export interface HistoryEvent {
  /** The same for as long as the pull request exists. */
  readonly id: number;
  readonly kind: HistoryKind;
  /** The page that shows it at the code host; empty: the pull request's. */
  readonly url: string;
  /** When the service learned of it, in seconds since 1970. */
  readonly at: number;
}

/** What has ended a pull request. */
export interface Ending {
  readonly state: Exclude<PullRequestState, 'open'>;
  /** Nobody has told of it before. */
  readonly isNew: boolean;
}

interface Standing {
  readonly state: PullRequestState;
  /** Since when, in seconds since 1970; 0: unknown. */
  readonly at: number;
}

type Row<T> = { [K in keyof T]: T[K] & SqlStorageValue };

export class History {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Call it before any write. Answers whether nothing was written before. */
  prepare(): boolean {
    const isNew = !this.#has('standing');
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS events (
      id INTEGER PRIMARY KEY, kind TEXT NOT NULL, url TEXT NOT NULL, at INTEGER NOT NULL
    )`);
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS standing (
      only INTEGER PRIMARY KEY CHECK (only = 1), number INTEGER NOT NULL, state TEXT NOT NULL, at INTEGER NOT NULL
    )`);
    return isNew;
  }

  /** @param at milliseconds since 1970. */
  add(kind: HistoryKind, url: string, at: number): void {
    const kept = url.length <= MAX_URL_LENGTH ? url : '';
    this.#sql.exec('INSERT INTO events (kind, url, at) VALUES (?, ?, ?)', kind, kept, seconds(at));
    this.#sql.exec(
      `DELETE FROM events WHERE id IN (SELECT id FROM (
         SELECT id, row_number() OVER (PARTITION BY kind IN ('commented', 'reviewed') ORDER BY id DESC) AS rank FROM events
       ) WHERE rank > ?)`,
      MAX_EVENTS,
    );
  }

  /** @param at milliseconds since 1970. */
  setState(number: number, state: PullRequestState, at: number): void {
    this.#sql.exec('INSERT OR REPLACE INTO standing VALUES (1, ?, ?, ?)', number, state, seconds(at));
  }

  /**
   * Compares the host's answer at a given time with the stored state, and stores what is newer.
   * @param ending null: it was open. @param at when the host was asked, in milliseconds since 1970.
   * Answers whether it has been reopened.
   */
  observe(number: number, ending: Ending | null, at: number): boolean {
    const known = this.standing(number);
    const isOpen = known.state === 'open';
    const isNewer = seconds(at) > known.at;
    if (ending !== null) {
      if (ending.isNew || (isOpen && isNewer)) this.setState(number, ending.state, at);
      return false;
    }
    if (isOpen || !isNewer) return false;
    this.setState(number, 'open', at);
    return true;
  }

  standing(number: number): Standing {
    const [row] = this.#has('standing')
      ? this.#sql.exec<Row<Standing>>('SELECT state, at FROM standing WHERE number = ?', number).toArray()
      : [];
    return row ?? { state: this.#toldState(number), at: 0 };
  }

  /** Newest first. */
  events(): HistoryEvent[] {
    if (!this.#has('events')) return [];
    return this.#sql
      .exec<Row<HistoryEvent>>('SELECT id, kind, url, at FROM events ORDER BY id DESC')
      .toArray();
  }

  #toldState(number: number): PullRequestState {
    if (!this.#has('told')) return 'open';
    const keys = this.#sql
      .exec<{ key: string }>(
        'SELECT key FROM told WHERE key = ? OR key GLOB ?',
        `merged:${number}`,
        `closed:${number}:*`,
      )
      .toArray();
    if (keys.length === 0) return 'open';
    return keys.some(({ key }) => key.startsWith('merged:')) ? 'merged' : 'closed';
  }

  #has(table: string): boolean {
    return this.#sql.exec('SELECT 1 FROM sqlite_master WHERE name = ?', table).toArray().length > 0;
  }
}

/** Whether an event ends the pull request. */
export function isEnd(event: HostEvent): event is HostEvent & { readonly kind: Ending['state'] } {
  return event.kind !== 'commented' && event.kind !== 'reviewed';
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
