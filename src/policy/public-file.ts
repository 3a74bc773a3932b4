/**
 * A file at the root of a repository's default branch, as the public reads it with Git. That costs none of the bot
 * account's calls of the REST interface: three or four small requests, one after the other, of which the folder's is
 * remembered.
 */
import { findPath, readBlob, readCommit } from '../upstream/tree-reader.ts';
import { heldReads } from '../upstream/held-reads.ts';
import type { Memory } from '../git/memory.ts';
import type { FileAnswer } from '../host/code-host.ts';
import type { GitTransport } from '../host/git/git-transport.ts';
import type { RepositoryName } from '../repository-name.ts';

/** A larger one is left to the caller. */
const MAX_FILE_BYTES = 64 * 1024;

/**
 * Null: it is no plain file, or too large, or so is the folder.
 * @param memory where what is read stays counted.
 * @throws HostError, `missing` if the public sees no such repository; ProtocolError if the host does not send what was
 * asked for.
 */
export async function readPublicFile(
  transport: Pick<GitTransport, 'listRefs' | 'readObjects'>,
  memory: Memory,
  repository: RepositoryName,
  name: string,
): Promise<FileAnswer | null> {
  const { headTip } = await transport.listRefs(repository, ['HEAD'], 'upstream');
  if (headTip === null) return { kind: 'missing' };
  const read = heldReads((request, most) => transport.readObjects(repository, request, most), memory);
  const { tree } = await readCommit(read, headTip);
  const found = await findPath(read, tree, [name]);
  if (found.kind === 'missing') return { kind: 'missing' };
  const content = found.kind === 'file' ? await readBlob(read, found.blob, MAX_FILE_BYTES) : null;
  return content === null ? null : { kind: 'file', content };
}
