/**
 * Copies a branch from one public repository to another of the same host by Git's own protocol: what the host packs for
 * the one is handed on to the other while it arrives, and only what the other lacks is asked for.
 *
 * It needs nothing of the host but Git, whatever the two histories have in common. What passes is upstream's, byte for
 * byte, and has nothing to do with a client's request.
 */
import type { Clock } from '../../isolate/clock.ts';
import { selectHaves } from '../../git/wire/haves.ts';
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import { encodeCommandList } from '../../git/wire/command-list.ts';
import type { UpstreamBranch } from '../code-host.ts';
import { HostError } from '../../host-error.ts';
import { hostText } from '../../host-text.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { type CopyAllowance, isolateCopies } from './copy-allowance.ts';
import type { HistoryRequest } from '../../git/wire/protocol-v2.ts';
import type { CommitTable } from '../../git/objects/commit-table.ts';
import type { GitTransport } from './git-transport.ts';

const BRANCHES = 'refs/heads/';
/** Branches and tags whose commits are offered as common ground. */
const MAX_TIPS = 512;
/** How far back from the branch's old tip commits are offered besides. */
const LISTED_S = 90 * 24 * 60 * 60;
const MAX_LISTING_BYTES = 16 * 1024 * 1024;

/**
 * Brings the branch of the fork to upstream's tip, by force if it must be.
 * @throws HostError; `refused` with the host's own words if it does not take the commits, or if too much was copied for
 *   upstream's owner.
 */
export async function copyBranch(
  transport: GitTransport,
  fork: RepositoryName,
  upstream: UpstreamBranch,
  { clock, allowance = isolateCopies }: { readonly clock: Clock; readonly allowance?: CopyAllowance },
): Promise<void> {
  const take = (bytes: number): void =>
    allowance.take(`${transport.hostName}/${upstream.repository.owner}`, bytes, clock.now());
  take(0);
  const { refs } = await transport.listRefs(fork, [BRANCHES, 'refs/tags/'], 'bot');
  const refName = `${BRANCHES}${upstream.name}`;
  const oldTip = refs.find(({ name }) => name === refName)?.oid ?? null;
  if (oldTip === upstream.tip) return;
  const tips = refs.slice(0, MAX_TIPS).map(({ oid }) => oid);
  const haves = [
    ...new Set([...tips, ...(oldTip === null ? [] : await recentCommits(transport, fork, oldTip))]),
  ];
  const head = encodeCommandList({ oldId: oldTip ?? ZERO_OID, newId: upstream.tip, refName });
  const pack = await transport.fetchPack(upstream.repository, upstream.tip, haves);
  const report = await transport.push(fork, streamOf(head, counted(pack, take)));
  const [status] = report.commandStatuses;
  const reason = report.unpackStatus === 'ok' ? (status?.reason ?? null) : `unpack ${report.unpackStatus}`;
  if (reason === null && status !== undefined) return;
  throw new HostError('refused', `${transport.hostName} says: ${hostText(reason ?? 'nothing')}`);
}

/** Commits behind the fork's old tip: where upstream was rewritten, it still has some of them. None if that fails. */
async function recentCommits(
  transport: GitTransport,
  fork: RepositoryName,
  tip: Oid,
): Promise<readonly Oid[]> {
  const newest = await listed(transport, fork, { wants: [tip], tipsOnly: true });
  if (newest === null || newest.size === 0) return [];
  const commits = await listed(transport, fork, { wants: [tip], since: newest.newestAt - LISTED_S });
  return commits === null ? [] : selectHaves(commits.newestFirst());
}

async function listed(
  transport: GitTransport,
  fork: RepositoryName,
  request: HistoryRequest,
): Promise<CommitTable | null> {
  const answer = await transport.listHistory(fork, request, MAX_LISTING_BYTES).catch(() => null);
  return answer?.kind === 'listed' ? answer.commits : null;
}

async function* counted(
  pieces: AsyncGenerator<Uint8Array>,
  take: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    take(piece.byteLength);
    yield piece;
  }
}

/** A body that is read at the pace at which it is sent. */
function streamOf(head: Uint8Array, rest: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  let isBegun = false;
  return new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      const next = isBegun ? await rest.next() : { done: false, value: head };
      isBegun = true;
      if (next.done !== true) return controller.enqueue(next.value);
      controller.close();
      // A reader that brings its own buffer gets it back.
      controller.byobRequest?.respond(0);
    },
    async cancel() {
      await rest.return(undefined);
    },
  });
}
