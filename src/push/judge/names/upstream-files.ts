/** What upstream has of the files and folders that a push changes: names that stand there are public already. */
import { findPath, readBlob, readCommit, type ReadObjects } from '../../../upstream/tree-reader.ts';
import type { Oid } from '../../../git/objects/oid.ts';
import { encodeTree } from '../../../git/objects/tree.ts';
import { ProtocolError } from '../../../git/wire/protocol-error.ts';
import type { FileObject } from '../../../git/pack/packed-objects.ts';
import { HostError } from '../../../host-error.ts';
import type { RepositoryName } from '../../../repository-name.ts';
import type { PushRun } from '../../push-run.ts';

/** Each costs a few requests. */
const MAX_PATHS = 20;
const PATIENCE_MS = 5_000;

/**
 * The files and folders at these paths in one commit of upstream's, as far as there are any and they come in time. What
 * is missing only leaves a finding as it is: the host's failures are none of the push.
 * @param paths of the root folder: ''. @param maxBytes of all together.
 */
export async function readUpstreamFiles(
  { host, logger }: PushRun,
  repository: RepositoryName,
  commit: Oid,
  paths: readonly string[],
  maxBytes: number,
): Promise<ReadonlyMap<string, FileObject>> {
  const files = new Map<string, FileObject>();
  let bytesLeft = maxBytes;
  const read: ReadObjects = (request, most) => host.transport.readObjects(repository, request, most);
  const readAll = async (): Promise<void> => {
    const { tree } = await readCommit(read, commit);
    for (const path of paths.slice(0, MAX_PATHS)) {
      const file = await readFile(read, tree, path, bytesLeft);
      bytesLeft -= file?.content.byteLength ?? 0;
      if (file !== null && bytesLeft >= 0) files.set(path, file);
    }
  };
  const reading = readAll().catch((error: unknown) => {
    if (!(error instanceof HostError) && !(error instanceof ProtocolError)) throw error;
    logger.warn('files of upstream could not be read', { error });
  });
  await Promise.race([reading, host.clock.sleep(PATIENCE_MS)]);
  return new Map(files);
}

async function readFile(
  read: ReadObjects,
  root: Oid,
  path: string,
  maxBytes: number,
): Promise<FileObject | null> {
  const parts = path === '' ? [] : path.split('/');
  const found = await findPath(read, root, parts);
  if (found.kind === 'folder') return { type: 'tree', content: encodeTree(found.folders.at(-1) ?? []) };
  const content = found.kind === 'file' ? await readBlob(read, found.blob, maxBytes) : null;
  return content === null ? null : { type: 'blob', content };
}
