/**
 * Who may open something in the account's name, and where: a pull request takes one place of its client, and counts for
 * its repository, for all clients together, as an issue does. All of it or nothing.
 *
 * Cost: a pull request writes its client's places, and every so many the repository's window (src/durable/limit-rows.ts).
 */
import { type FullPlaces, type Places, release, reserve, type Reservation } from '../../limits/places.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { LimitRows } from '../limit-rows.ts';

/** The places that one client has: an address, or all of an IPv6 /48. */
export interface PlacesOf {
  /** A keyed hash. */
  readonly client: string;
  readonly most: number;
  /** In the words of the refusal. */
  readonly whose: 'IP' | 'IPv6 /48';
}

export interface WantedPlaces {
  /** A keyed hash of the push: one that is repeated shares the places that it has. */
  readonly key: string;
  /** One of each. The first that has none left refuses. */
  readonly of: readonly PlacesOf[];
}

export interface Opening {
  /** Null: for an issue, or for a push that had its places when it was held. */
  readonly places: WantedPlaces | null;
  /** The repository, by a keyed hash, and what all clients together may open there. */
  readonly target: { readonly key: string; readonly limits: readonly Limit[] };
}

export type PlacesAnswer =
  | ({ readonly kind: 'taken' } & TakenPlaces)
  | { readonly kind: 'full'; readonly client: string; readonly refusal: Reservation };

export interface TakenPlaces {
  /** The clients whose places no earlier attempt at the push had. */
  readonly own: readonly string[];
  /** The clients that have none left now. */
  readonly full: readonly { readonly client: string; readonly full: FullPlaces }[];
}

export interface PlacesWait {
  readonly of: PlacesOf;
  readonly waitMs: number;
}

export type OpeningRefusal =
  Extract<PlacesAnswer, { kind: 'full' }> | { readonly kind: 'target'; readonly waitMs: number };

export class Openings {
  readonly #rows: LimitRows;

  constructor(kv: SyncKvStorage) {
    this.#rows = new LimitRows(kv, 'limit ');
  }

  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  /** Null: `open` takes it now. */
  refusal({ places, target }: Opening, now: number): OpeningRefusal | null {
    const asked = places === null ? null : this.#ask(places, false, now);
    if (asked?.kind === 'full') return asked;
    const waitMs = this.#rows.waitMs(targetRow(target.key), target.limits, now);
    return waitMs > 0 ? { kind: 'target', waitMs } : null;
  }

  /** If there is no `refusal`. */
  open({ places, target }: Opening, now: number): TakenPlaces {
    this.#rows.hit(targetRow(target.key), target.limits, now);
    const taken = places === null ? null : this.reserve(places, false, now);
    return taken?.kind === 'taken' ? taken : NO_PLACES_TAKEN;
  }

  /** Only the places. @param isAnother the push was answered before, and opens another pull request. */
  reserve(wanted: WantedPlaces, isAnother: boolean, now: number): PlacesAnswer {
    const asked = this.#ask(wanted, isAnother, now);
    if (asked.kind === 'full') return asked;
    const own = asked.after.filter(({ isShared }) => !isShared);
    for (const { client, places } of own) this.#rows.keepPlaces(placesRow(client), places, true);
    const full = own.flatMap(({ client, full: left }) => (left ? [{ client, full: left }] : []));
    return { kind: 'taken', own: own.map(({ client }) => client), full };
  }

  /** Counts a push that has no place, without taking one if there is one after all. */
  refuse(wanted: WantedPlaces, now: number): Extract<PlacesAnswer, { kind: 'full' }> | null {
    const asked = this.#ask(wanted, false, now);
    return asked.kind === 'full' ? asked : null;
  }

  /** Whose places would refuse the push, and for how long, in milliseconds. Takes and counts nothing. */
  wait({ key, of }: WantedPlaces, now: number): PlacesWait | null {
    for (const each of of) {
      const { isReserved, full } = reserve(
        this.#rows.places(placesRow(each.client)),
        key,
        each.most,
        now,
      ).reservation;
      if (!isReserved && full !== undefined) return { of: each, waitMs: full.waitMs };
    }
    return null;
  }

  /** Nothing was opened. @param clients whose places it gives back. @param target null: it did not count there. */
  giveBack(key: string, clients: readonly string[], target: string | null, now: number): void {
    for (const client of clients) {
      const row = placesRow(client);
      this.#rows.keepPlaces(row, release(this.#rows.places(row), key, now), true);
    }
    if (target !== null) this.#rows.takeBack(targetRow(target));
  }

  /** As `LimitRows.forgetOld`. */
  forgetOld(now: number): readonly (readonly [string, unknown])[] {
    return this.#rows.forgetOld(now);
  }

  /** Takes nothing. What is refused is counted for the client that has no place left. */
  #ask({ key, of }: WantedPlaces, isAnother: boolean, now: number) {
    const after: (Pick<Reservation, 'isShared' | 'full'> & { client: string; places: Places })[] = [];
    for (const { client, most } of of) {
      const row = placesRow(client);
      const { places, reservation } = reserve(this.#rows.places(row), key, most, now, isAnother);
      if (!reservation.isReserved) {
        this.#rows.keepPlaces(row, places, reservation.isAlertDue);
        return { kind: 'full', client, refusal: reservation } as const;
      }
      after.push({ ...reservation, client, places });
    }
    return { kind: 'free', after } as const;
  }
}

export const NO_PLACES_TAKEN: TakenPlaces = { own: [], full: [] };

const placesRow = (client: string): string => `${client} places`;
const targetRow = (key: string): string => `${key} target`;
