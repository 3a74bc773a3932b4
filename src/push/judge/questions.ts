/**
 * What judging asks outside. Nothing of it writes at the host. If the host fails, the question ends with the refusal
 * that says so.
 */
import type { Oid } from '../../git/objects/oid.ts';
import type { FileObject } from '../../git/search/packed-objects.ts';
import type { SearchQuestions } from '../../git/search/pack-search.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import type { PullRequest } from '../../host/code-host.ts';
import { readBases } from '../../upstream/delta-bases.ts';
import { UpstreamHistory } from '../../upstream/upstream-history.ts';
import { findUpstreamBranch, listUpstreamRefs } from '../../upstream/upstream-refs.ts';
import type { ClaimedUpdate } from '../push-run.ts';
import type { PushRun } from '../push-run.ts';
import { readUpstreamFiles } from './names/upstream-files.ts';
import { findPullRequest, type Upstream } from './upstream.ts';

export interface Questions {
  /** Tells the person something, whatever the verdict will be. */
  note(...lines: string[]): Promise<void>;
  /** The pull request from a hash's branch: the open one, else the newest; null if there never was one. */
  findPullRequest(prHash: string): Promise<PullRequest | null>;
  /** So that two updates of it never mix. @param key null if none is required. */
  claim(prHash: string, key: string | null): Promise<ClaimedUpdate>;
  /** A branch of upstream's that is not in the list of its refs. */
  findBranch(name: string): Promise<Ref | null>;
  /** @param main the base branch and the default branch. */
  history(main: readonly Ref[]): UpstreamHistory;
  /** The upstream commit that contains all others of them; null if there is none. */
  newestOf(ground: ReadonlySet<Oid>): Promise<Oid | null>;
  /** Bases outside the pack. */
  readonly readBases: SearchQuestions['readBases'];
  /** What upstream has in one of its commits: as `readUpstreamFiles`. */
  readFiles(
    commit: Oid,
    paths: readonly string[],
    maxBytes: number,
  ): Promise<ReadonlyMap<string, FileObject>>;
}

export function questionsOf(run: PushRun, { repository, refs, botLogin }: Upstream): Questions {
  const { host, steps, reply, claims } = run;
  const ofHistory = <T>(action: () => Promise<T>): Promise<T> => steps.run('history', action);
  return {
    note: (...lines) => reply.note(...lines),
    findPullRequest: (prHash) => findPullRequest(run, repository, botLogin, prHash),
    claim: (prHash, key) => claims.claimPullRequest(prHash, key),
    findBranch: (name) => steps.run('lookup', () => findUpstreamBranch(host, repository, name)),
    history: (main) =>
      new UpstreamHistory(
        { list: (...part) => ofHistory(() => host.lister.list(...part)) },
        repository,
        refs,
        main,
        () => ofHistory(async () => (await listUpstreamRefs(host, repository)).refs),
      ),
    newestOf: (ground) => ofHistory(() => host.lister.newestOf(repository, ground)),
    readBases: (sizes) => readBases(run, repository, sizes),
    readFiles: (commit, paths, maxBytes) => readUpstreamFiles(run, repository, commit, paths, maxBytes),
  };
}
