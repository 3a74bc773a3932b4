/** Where held pushes are kept, as a push sees it. Calls reject if it cannot be reached. */
import type { HeldView, NewHold } from '../../durable/held-pushes/held-push-record.ts';
import type { KeptSpool } from '../../spool/spool.ts';

export interface HeldStore {
  /** Null: nothing is known of it here. */
  find(prHash: string): Promise<HeldView | null>;
  /** The same of a push of this client, by `NewHold.push`. */
  findPush(push: string): Promise<HeldView | null>;
  /**
   * Keeps a push whose spool was kept. An older one of the same pull request is gone then.
   * @param taken what `take` has given for the older one.
   * @returns false: there is no room.
   */
  hold(
    hold: Omit<NewHold, 'spool' | 'client' | 'host'>,
    spool: KeptSpool,
    taken: TakenHold | null,
  ): Promise<boolean>;
  /**
   * For a push that takes the place of a held one. Null: that is being published, or held no more.
   * @param key null: none is required.
   */
  take(prHash: string, key: string | null): Promise<TakenHold | 'wrong-key' | null>;
  /**
   * Gives up a held push. @param key null: none is required. @param said for its page.
   * @returns `begun`: it was tried to publish it, and nobody knows how far that came.
   */
  cancel(
    prHash: string,
    key: string | null,
    said: readonly string[],
  ): Promise<'cancelled' | 'begun' | 'unknown' | 'wrong-key' | 'busy'>;
}

/** A held push that nobody else can publish. */
export interface TakenHold {
  readonly lease: string;
  /** It is a pull request now. Never rejects. */
  published(): Promise<void>;
  /** It stays held. Never rejects; after `published`, nothing happens. */
  giveBack(): Promise<void>;
}
