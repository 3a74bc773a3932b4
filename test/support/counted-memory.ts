/** Memory that records what is held of it, and refuses what is too much. */
import type { Memory } from '../../src/git/memory.ts';

export class CountedMemory implements Memory {
  readonly isShort = false;
  /** All shares together, now and at most. */
  bytes = 0;
  mostBytes = 0;
  workedBytes = 0;
  readonly #room: (bytes: number, isNow: boolean) => void;

  /**
   * @param room is told what would be held, and whether it cannot wait; throws if that is too much.
   */
  constructor(room: (bytes: number, isNow: boolean) => void = () => {}) {
    this.#room = room;
  }

  async worked(bytes: number): Promise<void> {
    this.workedBytes += bytes;
  }

  claim() {
    let held = 0;
    const set = (bytes: number, isNow: boolean): void => {
      if (bytes > held) this.#room(this.bytes + bytes - held, isNow);
      this.bytes += bytes - held;
      this.mostBytes = Math.max(this.mostBytes, this.bytes);
      held = bytes;
    };
    return {
      get bytes() {
        return held;
      },
      set: async (bytes: number) => set(bytes, false),
      setNow: (bytes: number) => set(bytes, true),
    };
  }
}

export function full(): never {
  throw new Error('busy');
}
