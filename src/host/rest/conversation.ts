/** How conversations are read, whichever kind of host gives them. */
import type { ThreadComment } from '../code-host.ts';
import { expectList } from './answer.ts';

const MOST_COMMENTS = 50;

/** Of another shape, a field counts as none: its page is shown all the same. */
interface Answered {
  readonly user?: { readonly login?: unknown } | null;
  readonly body?: unknown;
}

/** @param at ISO 8601; none for a review that was not sent yet. @param path of the file that it is about. */
export function toComment({ user, body }: Answered, at: unknown, path: unknown = null): ThreadComment {
  const login = user?.login;
  return {
    author: typeof login === 'string' ? login : null,
    at: typeof at === 'string' ? at : '',
    text: typeof body === 'string' ? body : '',
    path: typeof path === 'string' ? path : null,
  };
}

/** The newest first. Leaves out what has no words, such as an approval. @param lists each with the oldest first. */
export function newest(...lists: readonly (readonly ThreadComment[])[]): readonly ThreadComment[] {
  return (
    lists
      .flat()
      // Of the same second, the last one is the newest.
      .toReversed()
      .filter(({ at, text }) => text.trim() !== '' && !Number.isNaN(Date.parse(at)))
      .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
      .slice(0, MOST_COMMENTS)
  );
}

interface ListPage<T, H> {
  readonly data: readonly T[];
  readonly headers: H;
}

/**
 * The end of a list that begins with the oldest, at least one page of it: up to three calls.
 * @param lastOf the number of its last page, by its first one.
 */
export async function lastPages<T, H>(
  read: (page: number) => Promise<ListPage<T, H>>,
  lastOf: (first: ListPage<T, H>) => number,
): Promise<readonly T[]> {
  const first = await read(1);
  // A page of another shape must not pass for a thread without comments.
  expectList(first.data);
  const last = lastOf(first);
  if (!(last > 1)) return first.data;
  const [before, end] = await Promise.all([last === 2 ? first : read(last - 1), read(last)]);
  return [...expectList(before.data), ...expectList(end.data)];
}
