/**
 * Which commits upstream has, without asking anyone about a client's commits: from upstream's ref advertisement and its
 * listed history (src/upstream/upstream-history.ts).
 */
import type { UpstreamIds } from '../git/wire/fetch-request.ts';
import type { Oid } from '../git/objects/oid.ts';
import type { OidTable } from '../git/objects/oid-table.ts';
import { HostError, MovedError } from '../host-error.ts';
import type { RepositoryName } from '../repository-name.ts';
import { WHOLE_STEP } from './history-lister.ts';
import type { HistoryHost } from './upstream-host.ts';
import { UpstreamHistory } from './upstream-history.ts';
import { defaultBranchOf, type DiscoveredRefs, discoveredRefs, UPSTREAM_PREFIXES } from './upstream-refs.ts';

/** All refs, such as those that a host keeps for pull requests. */
const ALL_PREFIXES = ['refs/'];
/** One request names them all, at 50 bytes each. */
const MAX_TAGS = 1_000;

interface Known {
  readonly list: DiscoveredRefs;
  readonly mainTips: readonly Oid[];
  readonly history: UpstreamHistory;
}

/** @param host must outlive the request. Costs nothing until the first question. */
export function knownIds(host: HistoryHost, target: RepositoryName): UpstreamIds {
  let opening: Promise<Known> | null = null;
  return {
    async someOf(oids) {
      try {
        const { history } = await (opening ??= openHistory(host, target));
        for (;;) {
          const known = new Set(oids.filter((oid) => history.isKnown(oid)));
          if (known.size > 0 || !(await history.reachBack())) return known;
        }
      } catch (error) {
        // Without a common commit, the client gets more than it needs. Nothing worse happens.
        if (error instanceof HostError) return new Set();
        throw error;
      }
    },
    /**
     * One small request for a clone, and none for a fetch, for whose haves the history was opened. Only what is no tip
     * of a branch or tag costs more: the whole history, then all refs, and then what only tags reach.
     */
    async firstUnknown(oids) {
      const marks = new Uint8Array(oids.size);
      if (allMarked(marks)) return null;
      const opened = await opening?.catch(() => null);
      if (opened) markKnown(opened.history, oids, marks);
      if (!allMarked(marks)) await markAdvertised(host, target, UPSTREAM_PREFIXES, oids, marks);
      if (allMarked(marks)) return null;
      const known = await (opened ?? (opening = openHistory(host, target)));
      const { history, list } = known;
      do {
        markKnown(history, oids, marks);
        if (allMarked(marks)) return null;
      } while (await history.reachBack());
      await markAdvertised(host, target, ALL_PREFIXES, oids, marks);
      if (!allMarked(marks)) await markTagged(host, known, oids, marks);
      const unknown = marks.indexOf(0);
      return unknown < 0
        ? null
        : { oid: oids.at(unknown), isLacking: list.hasAllBranches && history.isWhole };
    },
  };
}

function allMarked(marks: Uint8Array): boolean {
  return !marks.includes(0);
}

function markKnown(history: UpstreamHistory, oids: OidTable, marks: Uint8Array): void {
  let index = 0;
  for (const oid of oids.oids()) {
    if (history.isKnown(oid)) marks[index] = 1;
    index += 1;
  }
}

/** As the transport does, also under the repository's new name. @throws HostError */
async function markAdvertised(
  { transport }: HistoryHost,
  target: RepositoryName,
  prefixes: readonly string[],
  oids: OidTable,
  marks: Uint8Array,
): Promise<void> {
  try {
    await transport.markAdvertised(target, prefixes, oids, marks);
  } catch (error) {
    if (!(error instanceof MovedError)) throw error;
    await transport.markAdvertised(error.to, prefixes, oids, marks);
  }
}

/**
 * What only tags reach, such as an old release whose branch is gone: a shallow clone of the tag ends there. One request,
 * or none if it was listed lately.
 * @throws HostError
 */
async function markTagged(
  { lister }: HistoryHost,
  { list, mainTips, history }: Known,
  oids: OidTable,
  marks: Uint8Array,
): Promise<void> {
  const tags = list.refs.filter(({ name, oid }) => name.startsWith('refs/tags/') && !history.isListed(oid));
  if (tags.length === 0) return;
  const part = { tips: tags.slice(0, MAX_TAGS).map(({ oid }) => oid), without: mainTips };
  const listing = await lister.list(list.repository, part, WHOLE_STEP);
  // All that came: an annotated tag is no commit, from which others would be reached.
  for (const oid of listing?.newestFirst ?? []) {
    const index = oids.indexOf(oid);
    if (index >= 0) marks[index] = 1;
  }
}

async function openHistory(host: HistoryHost, target: RepositoryName): Promise<Known> {
  const list = await discoveredRefs(host, target);
  const main = [defaultBranchOf(list)].filter((ref) => ref !== null);
  const mainTips = main.map(({ oid }) => oid);
  const history = new UpstreamHistory(host.lister, list.repository, list.refs, main);
  await history.reachBack();
  return { list, mainTips, history };
}
