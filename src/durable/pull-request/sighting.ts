/** Whether the code host shows a pull request that it says it has opened: until then, nothing tells of it. */
import { dueAgainAt, isDue } from '../due-rows.ts';

/** One that the host has not shown for so long is not looked for any more. Its messages stay unsent. */
const LIFE_MS = 7 * 24 * 60 * 60 * 1000;

interface Unseen {
  readonly number: number;
  /** When it was recorded, in milliseconds since 1970. */
  readonly since: number;
  readonly looks: number;
  /** Not before; milliseconds since 1970. */
  readonly dueAt: number;
}

export interface KeptSighting {
  /** Absent: the host shows it. */
  unseen?: Unseen | undefined;
}

export class Sighting {
  readonly #kept: KeptSighting;
  readonly #save: () => void;

  constructor(kept: KeptSighting, save: () => void) {
    this.#kept = kept;
    this.#save = save;
  }

  get isShown(): boolean {
    return this.#kept.unseen === undefined;
  }

  /** A push has opened it. The caller saves that. @param at milliseconds since 1970. */
  expect(number: number, at: number): void {
    this.#kept.unseen = { number, since: at, looks: 0, dueAt: 0 };
  }

  /** The host has told of it. The caller saves that. Answers whether that is new. */
  seen(number: number): boolean {
    if (this.#kept.unseen?.number !== number) return false;
    this.#kept.unseen = undefined;
    return true;
  }

  /**
   * Looks for it, if it is time. Null: the host shows it; the caller saves that. Else when to look again; Infinity: never.
   * @param isShown asks the host; false also if that does not answer.
   */
  async look(now: number, isShown: (number: number) => Promise<boolean>): Promise<number | null> {
    const { unseen } = this.#kept;
    if (unseen === undefined) return null;
    // After a long outage, once more.
    if (unseen.looks > 0 && now - unseen.since > LIFE_MS) return Infinity;
    if (!isDue(unseen.dueAt, now)) return unseen.dueAt;
    const isSeen = await isShown(unseen.number);
    // Meanwhile a push may have opened another one, or the host may have told of this one.
    if (this.#kept.unseen !== unseen) return this.look(now, isShown);
    this.#kept.unseen = isSeen
      ? undefined
      : { ...unseen, looks: unseen.looks + 1, dueAt: dueAgainAt(unseen.looks, now, 0) };
    if (!isSeen) this.#save();
    return this.#kept.unseen?.dueAt ?? null;
  }
}
