/**
 * Rewording of messages before they are published: sign-offs (sign-offs.ts) and trails of tools.
 * Proved by test/git/objects/sign-offs.test.ts and test/leaks/trails.test.ts.
 */
import { ByteArrays } from '../compact-lists.ts';
import type { Memory } from '../memory.ts';
import type { Commit } from './commit.ts';
import type { NewCommit, NewCommits } from './found-commits.ts';
import type { Oid } from './oid.ts';

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

/** A commit of a push with another message. The rest of it is parsed when it is asked for. */
class RewordedCommit implements NewCommit {
  readonly #found: NewCommit;
  readonly #message: Uint8Array;

  constructor(found: NewCommit, message: Uint8Array) {
    this.#found = found;
    this.#message = message;
  }

  get oid(): Oid {
    return this.#found.oid;
  }

  get content(): Uint8Array {
    return this.#found.content;
  }

  get commit(): Commit {
    return new RewordedParts(this.#found.commit, this.#message);
  }
}

class RewordedParts implements Commit {
  readonly #commit: Commit;
  readonly message: Uint8Array;

  constructor(commit: Commit, message: Uint8Array) {
    this.#commit = commit;
    this.message = message;
  }

  get tree(): Oid {
    return this.#commit.tree;
  }

  get parents(): readonly Oid[] {
    return this.#commit.parents;
  }

  get committedAt(): number {
    return this.#commit.committedAt;
  }

  get encoding(): string | null {
    return this.#commit.encoding;
  }
}

/** Passes over a message that rewording makes, with patterns. */
const REWORD_PASSES = 4;

/** Rewords each message, once. */
export async function rewordedCommits(
  commits: NewCommits,
  reword: Reword,
  memory: Pick<Memory, 'worked'>,
): Promise<NewCommits> {
  const { length } = commits;
  const messages = new ByteArrays();
  for (const found of commits) {
    const { message } = found.commit;
    messages.push(reword(found, message));
    await memory.worked(REWORD_PASSES * message.byteLength);
  }
  const reworded = (found: NewCommit, index: number): NewCommit =>
    new RewordedCommit(found, messages.at(index));
  return {
    length,
    at(index) {
      const found = commits.at(index);
      return found && reworded(found, index < 0 ? length + index : index);
    },
    *[Symbol.iterator]() {
      let index = 0;
      for (const commit of commits) yield reworded(commit, index++);
    },
  };
}
