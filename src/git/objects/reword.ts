/**
 * Rewording of messages before they are published: sign-offs (sign-offs.ts) and trails of tools.
 * Proved by test/git/objects/sign-offs.test.ts and test/leaks/trails.test.ts.
 */
import type { Oid } from './oid.ts';
import { OidTable } from './oid-table.ts';

/**
 * Returns the message that a commit is published with. The same message gives the same bytes, and
 * rewording the result again changes nothing.
 */
export type Reword = (oid: Oid, message: Uint8Array) => Uint8Array;

/** Rewords a message by one after the other; null: there is none. */
export function inTurn(rewords: readonly Reword[]): Reword | null {
  if (rewords.length === 0) return null;
  return (oid, message) => rewords.reduce((words, reword) => reword(oid, words), message);
}

/**
 * Counts work at the messages of a push. A message is reworded each time somebody asks for it, and
 * only the first time counts.
 * @param tooMany is thrown over `most`.
 */
export function countedOnce(most: number, tooMany: () => Error): (oid: Oid) => () => void {
  const counted = new OidTable();
  let left = most;
  return (oid) => {
    const known = counted.size;
    const isNew = counted.add(oid) === known;
    return () => {
      if (isNew && --left < 0) throw tooMany();
    };
  };
}
