/** New commits and where they are kept, without a pack. */
import { parseCommit } from '../../src/git/objects/commit.ts';
import type { NewCommit } from '../../src/git/objects/found-commits.ts';
import type { CommitStore } from '../../src/git/objects/new-commits.ts';
import { oidOf } from './pack-builder.ts';

export function newCommitOf(content: Uint8Array): NewCommit {
  return { oid: oidOf('commit', content), content, commit: parseCommit(content) };
}

/** A store of what `find` answers. */
export function storeOf(find: (oid: string) => Uint8Array | undefined): CommitStore {
  const contents: Uint8Array[] = [];
  return {
    placeOf(oid) {
      const content = find(oid);
      return content === undefined ? -1 : contents.push(content) - 1;
    },
    contentAt: (place) => contents[place]!,
  };
}
