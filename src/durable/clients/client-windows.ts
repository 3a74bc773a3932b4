/**
 * Counts what clients do against their limits (src/limits/limits.ts). A client is a network, or an IPv6 /48, by a keyed
 * hash that changes every day; its address never gets here. Clients are rows of a few objects, because the file of an
 * object of its own would tell by its name and its date who came when (src/objects.ts).
 *
 * Cost: an attempt is counted in memory. Of a large limit, only every so many accepted attempts are written down, so
 * that a busy client does not cost a row for each request; an object that restarts forgets less than a tenth of the
 * limit. Refused attempts are never written. While there is anything to forget, an alarm runs every hour. It deletes
 * what no longer counts, without a trace, and writes the rest anew.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import type { CONTRACT_LIMITS, OpenLimitName } from '../../limits/limits.ts';
import {
  hasForgotten,
  NO_PLACES,
  type Places,
  release,
  type Reservation,
  reserve,
} from '../../limits/places.ts';
import {
  EMPTY_WINDOW,
  type Hit,
  hit,
  isQuiet,
  type Limit,
  longestOf,
  type SlidingWindow,
} from '../../limits/sliding-window.ts';
import { keepOnly } from '../keep-only.ts';

const HOUR_MS = 60 * 60 * 1000;
/** How much of a limit may be lost in a restart. */
const UNWRITTEN_PART = 0.1;
/** Some 10 MB. Of more clients, those that came first are written down. */
const MOST_IN_MEMORY = 20_000;

export type LimitedAction = OpenLimitName | 'forks' | Exclude<keyof typeof CONTRACT_LIMITS, 'pullRequests'>;

interface StoredWindow extends SlidingWindow {
  /** How long its hits count. */
  readonly withinMs: number;
}

/** What a client has pushed that is held. */
interface Holds {
  /** A random name, which leads to nobody once this row is gone. */
  readonly tag: string;
  /** The keys of the pushes, oldest first. Not their pr_hashes: nothing here may lead from a client to what it opens. */
  readonly keys: readonly string[];
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** As long as a client has the same name: src/routes/request/client.ts. */
const HOLDS_LIFE_MS = 24 * HOUR_MS;
/** More are not found again when they are repeated. */
const MOST_HOLDS = 100;

type Row = StoredWindow | Places | Holds;

interface Known<R extends Row = Row> {
  readonly row: R;
  /** How much of it is only here. */
  readonly unwritten: number;
}

export class ClientWindows extends DurableObject<Env> {
  /** By the row's key. What came last is the last one. */
  readonly #known = new Map<string, Known>();
  #hasAlarm = false;

  /** Counts one attempt. Answers whether it is within the limits. @param client by its hash, as in every call. */
  async hit(client: string, action: LimitedAction, limits: readonly Limit[]): Promise<Hit> {
    const key = `${client} ${action}`;
    const withinMs = longestOf(limits);
    const { row, unwritten } = this.#read<StoredWindow>(key, { ...EMPTY_WINDOW, withinMs });
    const after = hit(row, limits, Date.now());
    const more = unwritten + (after.hit.allowed ? 1 : 0);
    await this.#remember(key, { ...after.window, withinMs }, more, more >= mostUnwritten(limits));
    return after.hit;
  }

  /** Whether something counts that has happened lately. */
  async hasHits(client: string, action: LimitedAction): Promise<boolean> {
    const { row } = this.#read<StoredWindow>(`${client} ${action}`, { ...EMPTY_WINDOW, withinMs: 0 });
    return !isQuiet(row, row.withinMs, Date.now());
  }

  /** What was counted last has not happened. */
  async takeBack(client: string, action: LimitedAction): Promise<void> {
    const key = `${client} ${action}`;
    const { row, unwritten } = this.#read<StoredWindow>(key, { ...EMPTY_WINDOW, withinMs: 0 });
    if (row.hits.length === 0) return;
    const isWritten = unwritten === 0;
    await this.#remember(key, { ...row, hits: row.hits.slice(0, -1) }, Math.max(0, unwritten - 1), isWritten);
  }

  /**
   * Takes a place for a push that wants to open a pull request, if one is left.
   * @param key a keyed hash of the push. @param most how many places there are.
   * @param isAnother the push was answered before, and opens another pull request.
   */
  async reservePlace(client: string, key: string, most: number, isAnother = false): Promise<Reservation> {
    const { places, reservation } = reserve(this.#placesOf(client), key, most, Date.now(), isAnother);
    const isNews = (reservation.isReserved && !reservation.isShared) || reservation.isAlertDue;
    await this.#remember(placesKey(client), places, 0, isNews);
    const { tag: heldBy, keys } = this.#holdsOf(client);
    return keys.includes(key) ? { ...reservation, heldBy } : reservation;
  }

  /** How long the push would wait for a place, in milliseconds; 0: there is one. Takes and counts nothing. */
  async placeWaitMs(client: string, key: string, most: number): Promise<number> {
    return reserve(this.#placesOf(client), key, most, Date.now()).reservation.full?.waitMs ?? 0;
  }

  /**
   * A push of the client's is to be held. Answers the random name of the client. @param key of the push, as for
   * `reservePlace`.
   */
  async noteHold(client: string, key: string): Promise<string> {
    const { tag, keys } = this.#holdsOf(client);
    const newest = [...keys.filter((other) => other !== key), key].slice(-MOST_HOLDS);
    await this.#remember(holdsKey(client), { tag, keys: newest, until: Date.now() + HOLDS_LIFE_MS }, 0, true);
    return tag;
  }

  /** The push has failed. */
  async releasePlace(client: string, key: string): Promise<void> {
    const places = release(this.#placesOf(client), key, Date.now());
    await this.#remember(placesKey(client), places, 0, true);
  }

  /** Forgets what does not count any more. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    for (const [key, { row }] of this.#known) if (isOver(row, now)) this.#known.delete(key);
    const kept = [...this.ctx.storage.kv.list<Row>()].filter(([, row]) => !isOver(row, now));
    this.#hasAlarm = kept.length > 0 || this.#known.size > 0;
    await keepOnly(this.ctx.storage, kept, this.#hasAlarm ? now + HOUR_MS : null);
  }

  #placesOf(client: string): Places {
    return this.#read<Places>(placesKey(client), NO_PLACES).row;
  }

  #holdsOf(client: string): Holds {
    const none = { tag: crypto.randomUUID(), keys: [], until: 0 };
    const { row } = this.#read<Holds>(holdsKey(client), none);
    return row.until > Date.now() ? row : none;
  }

  #read<R extends Row>(key: string, empty: R): Known<R> {
    const known = this.#known.get(key) as Known<R> | undefined;
    return known ?? { row: this.ctx.storage.kv.get<R>(key) ?? empty, unwritten: 0 };
  }

  async #remember(key: string, row: Row, unwritten: number, isDue: boolean): Promise<void> {
    if (isDue) this.ctx.storage.kv.put(key, row);
    this.#known.delete(key);
    this.#known.set(key, { row, unwritten: isDue ? 0 : unwritten });
    for (const [oldest, known] of this.#known) {
      if (this.#known.size <= MOST_IN_MEMORY) break;
      if (known.unwritten > 0) this.ctx.storage.kv.put(oldest, known.row);
      this.#known.delete(oldest);
    }
    if (!this.#hasAlarm) await this.#forgetLater();
  }

  async #forgetLater(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
    this.#hasAlarm = true;
  }
}

const placesKey = (client: string): string => `${client} places`;
const holdsKey = (client: string): string => `${client} holds`;

function isOver(row: Row, now: number): boolean {
  if ('tag' in row) return row.until <= now;
  return 'held' in row ? hasForgotten(row, now) : isQuiet(row, row.withinMs, now);
}

function mostUnwritten(limits: readonly Limit[]): number {
  return Math.max(1, Math.floor(UNWRITTEN_PART * Math.min(...limits.map(({ most }) => most))));
}
