/**
 * Words for an object over the limit whose path is not known.
 * Proved by test/e2e/push/large-files.test.ts.
 */
import type { ObjectType } from '../objects/oid.ts';
import { type ProtocolError, tooLarge } from '../wire/protocol-error.ts';
import { MAX_OBJECT_BYTES } from './memory-limits.ts';

const MB = 1024 * 1024;
const FIND_IT =
  "git rev-list --objects --branches --not --remotes | git cat-file --batch-check='%(objectsize) %(rest)' | sort -n | tail -n 1";
const KINDS: Partial<Record<ObjectType, string>> = { commit: 'commit', tag: 'tag', tree: 'folder' };

export const OVER_LIMIT = `over ${MAX_OBJECT_BYTES / MB} MB`;

/** Writes a size with one decimal place, rounded up. */
export const megabytes = (bytes: number): string => `${(Math.ceil((10 * bytes) / MB) / 10).toFixed(1)} MB`;

/** @param name of the type; undefined: it is a delta. */
export function objectTooLarge(name: ObjectType | undefined, bytes: number): ProtocolError {
  const kind = name && KINDS[name];
  const size = `is ${OVER_LIMIT}: it has ${megabytes(bytes)}.`;
  if (kind !== undefined) return tooLarge(`A ${kind} ${size} Make it smaller, and push again.`);
  return tooLarge(
    [
      `A file ${size} To find it:`,
      `  ${FIND_IT}`,
      'Deleting it in a new commit is not enough. If your last commit has added it, run this, and push again:',
      '  git rm --cached <file> && git commit --amend',
    ].join('\n'),
  );
}
