/**
 * Looks up which commits upstream has, in its refs and its listed history. The host is never asked
 * about a client's commits.
 * Proved by test/upstream/known-ids.test.ts and test/e2e/fetch/fetch-wants.test.ts.
 */
import type { UpstreamIds } from '../git/wire/fetch-request.ts';
import type { OidBeginnings } from '../git/objects/oid-beginnings.ts';
import type { Oid } from '../git/objects/oid.ts';
import { HostError } from '../words/host-error.ts';
import { SharedAnswers } from '../isolate/shared-answers.ts';
import { repositoryKey, type RepositoryName } from '../words/repository-name.ts';
import { WHOLE_STEP } from './history-lister.ts';
import { UpstreamHistory } from './upstream-history.ts';
import { defaultBranchOf, type DiscoveredRefs, type HistoryHost, refsForFetch } from './upstream-refs.ts';

/** Maximum number of tags in a request, which names them all at 50 bytes each. */
const MAX_TAGS = 1_000;

/**
 * The ids of all refs of repositories. They are shared because anybody can cause such a list, with
 * a made-up `shallow` or a commit of another author.
 */
const advertisedIds = new SharedAnswers<OidBeginnings>({
  lifeMs: 60_000,
  mostBytes: 8 * 1024 * 1024,
  bytesOf: ({ byteLength }) => byteLength,
});

interface Known {
  readonly list: DiscoveredRefs;
  readonly history: UpstreamHistory;
}

/** Opens the look-up. It costs nothing until it is asked about an id. */
export function knownIds(host: HistoryHost, target: RepositoryName): UpstreamIds {
  let opening: Promise<Known> | null = null;
  const opened = (): Promise<Known> =>
    (opening ??= refsForFetch(host, target).then((list) => openHistory(host, list)));
  return {
    async someOf(oids) {
      if (oids.size === 0) return [];
      try {
        const { history } = await opened();
        for (;;) {
          const known = [...oids.oids()].filter((oid) => history.isKnown(oid));
          if (known.length > 0 || !(await history.reachBack())) return known;
        }
      } catch (error) {
        // Without a common commit, the client gets more than it needs, and nothing worse happens.
        if (error instanceof HostError) return [];
        throw error;
      }
    },
    /**
     * Tells if upstream has all of these commits. A shallow clone ends in the listed history, at a
     * ref that is no branch, or at a commit that only a tag reaches.
     * @throws HostError
     */
    async hasAll(oids) {
      const left = new Set(oids.oids());
      if (left.size === 0) return true;
      const known = await opened();
      do {
        for (const oid of left) if (known.history.isKnown(oid)) left.delete(oid);
        if (left.size === 0) return true;
      } while (await known.history.reachBack());
      const advertised = await idsOfAllRefs(host, known.list.repository);
      for (const oid of left) if (advertised.has(oid)) left.delete(oid);
      if (left.size > 0) for (const oid of await reachedByTags(host, known)) left.delete(oid);
      return left.size === 0;
    },
  };
}

/**
 * Finds which of some ids refs of upstream have, pull requests included, with a ref of each. Names
 * are asked for only if one of the ids is there.
 * @param enough ends the reading of names early.
 * @throws HostError
 */
export async function advertisedAmong(
  host: Pick<HistoryHost, 'transport' | 'clock'>,
  repository: RepositoryName,
  oids: ReadonlySet<Oid>,
  enough: AbortSignal,
): Promise<ReadonlyMap<Oid, string>> {
  const all = await idsOfAllRefs(host, repository);
  const there = new Set([...oids].filter((oid) => all.has(oid)));
  return there.size === 0 ? new Map() : host.transport.advertised(repository, there, enough);
}

/**
 * Returns the ids of all refs, up to a minute old.
 * @throws HostError
 */
function idsOfAllRefs(
  { transport, clock }: Pick<HistoryHost, 'transport' | 'clock'>,
  repository: RepositoryName,
): Promise<OidBeginnings> {
  const key = repositoryKey(transport.hostName, repository);
  return advertisedIds.read(key, clock, (beforeWait) => transport.advertisedIds(repository, beforeWait));
}

/**
 * Lists commits that only tags reach, such as those of an old release whose branch is gone. It
 * takes at most one request.
 * @throws HostError
 */
async function reachedByTags({ lister }: HistoryHost, { list, history }: Known): Promise<readonly Oid[]> {
  const tags = list.refs.filter(({ name, oid }) => name.startsWith('refs/tags/') && !history.isListed(oid));
  if (tags.length === 0) return [];
  const main = defaultBranchOf(list);
  const part = {
    tips: tags.slice(0, MAX_TAGS).map(({ oid }) => oid),
    without: main === null ? [] : [main.oid],
  };
  const listing = await lister.list(list.repository, part, WHOLE_STEP);
  // All listed commits count. The tip of an annotated tag is no commit, so none would be reached
  // from it.
  return listing?.newestFirst ?? [];
}

/**
 * Opens upstream's history, and lists its newest window.
 * @throws HostError
 */
export async function openHistory(host: HistoryHost, list: DiscoveredRefs): Promise<Known> {
  const main = [defaultBranchOf(list)].filter((ref) => ref !== null);
  const history = new UpstreamHistory(host.lister, list.repository, list.refs, main);
  await history.reachBack();
  return { list, history };
}
