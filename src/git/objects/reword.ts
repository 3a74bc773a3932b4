/**
 * Rewording of messages before they are published: sign-offs (sign-offs.ts) and trails of tools.
 * Proved by test/git/objects/sign-offs.test.ts and test/leaks/trails.test.ts.
 */
import type { NewCommit } from './new-commits.ts';

/**
 * Returns the message that a commit is published with. The same message gives the same bytes, and
 * rewording the result again changes nothing.
 */
export type Reword = (commit: Pick<NewCommit, 'content'>, message: Uint8Array) => Uint8Array;

/** Rewords a message by one after the other; null: there is none. */
export function inTurn(rewords: readonly Reword[]): Reword | null {
  if (rewords.length === 0) return null;
  return (commit, message) => rewords.reduce((words, reword) => reword(commit, words), message);
}

/**
 * Creates a counter of what rewording finds in all messages of a push.
 * @param tooMany is thrown over `most`.
 */
export function countdown(most: number, tooMany: () => Error): () => void {
  let left = most;
  return () => {
    if (--left < 0) throw tooMany();
  };
}
