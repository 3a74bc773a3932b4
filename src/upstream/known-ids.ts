/**
 * Which commits upstream has, without asking anyone about a client's commits: from upstream's ref advertisement and its
 * listed history (src/upstream/upstream-history.ts).
 */
import type { UpstreamIds } from '../git/wire/fetch-request.ts';
import type { Oid } from '../git/objects/oid.ts';
import { HostError } from '../host-error.ts';
import type { RepositoryName } from '../repository-name.ts';
import type { HistoryHost } from './upstream-host.ts';
import { UpstreamHistory } from './upstream-history.ts';
import { defaultBranchOf, discoveredRefs } from './upstream-refs.ts';

/** @param host must outlive the request. Costs nothing until the first question. */
export function knownIds(host: HistoryHost, target: RepositoryName): UpstreamIds {
  let opening: Promise<UpstreamHistory> | null = null;
  return {
    async someOf(oids) {
      try {
        const history = await (opening ??= openHistory(host, target));
        return await reachBackUntil(history, oids, (known) => known.size > 0);
      } catch (error) {
        // Without a common commit, the client gets more than it needs. Nothing worse happens.
        if (error instanceof HostError) return new Set();
        throw error;
      }
    },
    async allOf(oids) {
      const history = await (opening ??= openHistory(host, target));
      const asked = new Set(oids).size;
      return (await reachBackUntil(history, oids, (known) => known.size === asked)).size === asked;
    },
  };
}

async function openHistory(host: HistoryHost, target: RepositoryName): Promise<UpstreamHistory> {
  const list = await discoveredRefs(host, target);
  const main = [defaultBranchOf(list)].filter((ref) => ref !== null);
  const history = new UpstreamHistory(host.lister, list.repository, list.refs, main);
  await history.reachBack();
  return history;
}

/** Lists further back until enough of the ids are known or nothing is left to list, and returns the known ones. */
async function reachBackUntil(
  history: UpstreamHistory,
  oids: readonly Oid[],
  isEnough: (known: ReadonlySet<Oid>) => boolean,
): Promise<ReadonlySet<Oid>> {
  for (;;) {
    const known = new Set(oids.filter((oid) => history.isKnown(oid)));
    if (isEnough(known) || !(await history.reachBack())) return known;
  }
}
