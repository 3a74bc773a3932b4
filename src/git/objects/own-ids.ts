/**
 * Ids of the push's own commits inside texts, as `git revert` and `git cherry-pick -x` write them.
 *
 * They would reveal the original ids to the host, and refer to nothing there. So a full id, or an abbreviation that
 * matches exactly one of the push's commits, is replaced by the new id, cut to the same length. All else stays,
 * whatever the encoding: the digits are the same bytes in all that Git allows.
 */
import { latin1 } from '../bytes.ts';
import type { NewCommit, NewCommits } from './new-commits.ts';
import type { Oid } from './oid.ts';
import { OID_HEX_LENGTH } from './oid.ts';
import { OidTable } from './oid-table.ts';
import { tooLarge } from '../wire/protocol-error.ts';

/** Git abbreviates ids to this length, or longer where that is ambiguous. */
const MIN_ABBREVIATION = 7;

/** In all messages of a push, as each is kept: a commit of some kilobytes can mention another a million times. */
const MAX_MENTIONS = 50_000;

/** A place where a text mentions one of the push's commits. */
export interface Mention {
  readonly start: number;
  readonly length: number;
  readonly oid: Oid;
}

/** Of the commits whose message mentions any, by the commit's own original id. */
export type Mentions = ReadonlyMap<Oid, readonly Mention[]>;

const NONE: readonly Mention[] = [];

/** 1 for the ASCII codes of hexadecimal digits. */
const IS_HEX = new Uint8Array(256);
for (const digit of '0123456789abcdefABCDEF') IS_HEX[digit.charCodeAt(0)] = 1;

export class OwnIds {
  readonly #oids = new OidTable();
  /** By the first digits; built when the first text contains something like an id. */
  #byStart: Map<string, Oid[]> | null = null;

  constructor(oids: Iterable<Oid>) {
    for (const oid of oids) this.#oids.add(oid);
  }

  /** In the order of the text. Cost: one look at each byte. @throws ProtocolError `too-large` over `most`. */
  mentionsIn(text: Uint8Array, most = MAX_MENTIONS): readonly Mention[] {
    let mentions: Mention[] | null = null;
    for (let start = 0; start < text.length; start++) {
      if (IS_HEX[text[start]!] === 0) continue;
      let end = start + 1;
      while (end < text.length && IS_HEX[text[end]!] === 1) end++;
      const length = end - start;
      if (length >= MIN_ABBREVIATION && length <= OID_HEX_LENGTH) {
        const oid = this.#find(latin1(text, start, end).toLowerCase());
        if (oid !== null) (mentions ??= []).push({ start, length, oid });
        if (mentions !== null && mentions.length > most) {
          throw tooLarge('The messages name commits of the push too often. Push fewer commits at once.');
        }
      }
      start = end;
    }
    return mentions ?? NONE;
  }

  /** @throws ProtocolError `too-large` over MAX_MENTIONS in all. */
  mentionsInMessages(commits: NewCommits): Mentions {
    let left = MAX_MENTIONS;
    const mentions = new Map<Oid, readonly Mention[]>();
    for (const { oid, commit } of commits) {
      const found = this.mentionsIn(commit.message, left);
      left -= found.length;
      if (found.length > 0) mentions.set(oid, found);
    }
    return mentions;
  }

  #find(abbreviation: string): Oid | null {
    this.#byStart ??= Map.groupBy(this.#oids.oids(), (oid) => oid.slice(0, MIN_ABBREVIATION));
    const candidates = this.#byStart.get(abbreviation.slice(0, MIN_ABBREVIATION)) ?? [];
    const fitting = candidates.filter((oid) => oid.startsWith(abbreviation));
    return fitting.length === 1 ? (fitting[0] as Oid) : null;
  }
}

/**
 * Each behind its parents and those that its message mentions. There always is such an order, because a commit's id is
 * a hash over its parents' ids and its message. @param commits parents before children.
 */
export function orderByMentions(commits: NewCommits, mentions: Mentions): NewCommits {
  if (mentions.size === 0) return commits;
  const byOid = new Map(Array.from(commits, (commit) => [commit.oid, commit]));
  const ordered = new Set<NewCommit>();
  for (const last of byOid.values()) {
    const stack = [last];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      if (ordered.has(top)) {
        stack.pop();
        continue;
      }
      const mentioned = (mentions.get(top.oid) ?? NONE).map(({ oid }) => oid);
      const missing = [...new Set([...top.commit.parents, ...mentioned])]
        .flatMap((oid) => byOid.get(oid) ?? [])
        .filter((commit) => !ordered.has(commit));
      if (missing.length > 0) stack.push(...missing);
      else ordered.add(stack.pop() as NewCommit);
    }
  }
  return [...ordered];
}
