/**
 * What a push is compared with at the host, only to warn the better: objects of upstream, its versions of changed files,
 * and entries of folders. A push neither fails nor waits for long because of them, so none of these rejects, but what a
 * rule of the repository requires.
 */
import type { Oid } from '../../git/objects/oid.ts';
import { encodeTree } from '../../git/objects/tree.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import type { FileObject } from '../../git/pack/packed-objects.ts';
import { oneLine } from '../../host-text.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { findPath, readBlob, readCommit, type ReadObjects } from '../../upstream/tree-reader.ts';
import { WORKFLOW_HOME, WORKFLOWS } from '../../policy/community-files.ts';
import { type ChangedEntry, changedEntries } from '../changes.ts';
import type { PushRun } from '../push-run.ts';
import { storedPack } from '../receive/receive.ts';
import type { Publishable } from '../verdict/verdict.ts';
import { told } from './names/remarks.ts';

type Reading = Pick<PushRun, 'host' | 'logger' | 'steps'>;

const PATIENCE_MS = 5_000;
/** Each costs a few requests. */
const MAX_PATHS = 20;
const SHOWN_ID_LENGTH = 12;
/** From a spool that is not in memory. */
const MAX_READS = 32;
const MAX_ENTRIES = 30_000;

type What = 'the bases of deltas' | 'files of upstream' | 'what a push changes';
export type ComparedSpool = Parameters<typeof storedPack>[0];

/** Null: it failed, or took too long. @param what for the log. */
async function unlessLate<T>({ host, logger }: Reading, what: What, reading: Promise<T>): Promise<T | null> {
  const read = reading.catch((error: unknown) => {
    logger.warn(`${what} could not be read`, { error });
    return null;
  });
  return (await Promise.race([read, host.clock.sleep(PATIENCE_MS)])) ?? null;
}

/** What the pushed deltas stand on: all, in one request, or nothing. @param sizes of the objects by their ids. */
export async function readBases(
  run: Reading,
  repository: RepositoryName,
  sizes: ReadonlyMap<Oid, number>,
): Promise<Iterable<KeptObject>> {
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const reading = run.host.transport.readObjects(repository, { wants: [...sizes.keys()] }, bytes);
  return (await unlessLate(run, 'the bases of deltas', reading))?.values() ?? [];
}

/**
 * The files and folders at these paths in one commit of upstream's, as far as there are any and they come in time.
 * @param paths of the root folder: ''. @param maxBytes of all together.
 */
export async function readUpstreamFiles(
  run: Reading,
  repository: RepositoryName,
  commit: Oid,
  paths: readonly string[],
  maxBytes: number,
): Promise<ReadonlyMap<string, FileObject>> {
  const files = new Map<string, FileObject>();
  const read: ReadObjects = (...asked) => run.host.transport.readObjects(repository, ...asked);
  const readAll = async (): Promise<void> => {
    let bytesLeft = maxBytes;
    const { tree } = await readCommit(read, commit);
    for (const path of paths.slice(0, MAX_PATHS)) {
      const found = await findPath(read, tree, path === '' ? [] : path.split('/'));
      const folder = found.kind === 'folder' ? encodeTree(found.folders.at(-1) ?? []) : null;
      const content = found.kind === 'file' ? await readBlob(read, found.blob, bytesLeft) : folder;
      bytesLeft -= content?.byteLength ?? 0;
      if (content !== null && bytesLeft >= 0)
        files.set(path, { type: folder === null ? 'blob' : 'tree', content });
    }
  };
  await unlessLate(run, 'files of upstream', readAll());
  return new Map(files);
}

/**
 * Null: nobody knows. A pack that is not in memory is read only if that is required, and each entry takes some memory.
 * @param isAll whether all folders are compared, or those of workflows alone.
 * @throws if it is required: Refusal if the host fails; HostError `busy`. Null is then for what is too much to compare.
 */
export async function entriesChanged(
  run: Reading,
  repository: RepositoryName,
  { commits, ground, base, entryCount }: Pick<Publishable, 'commits' | 'ground' | 'base' | 'entryCount'>,
  spool: ComparedSpool,
  { isAll, isRequired }: { readonly isAll: boolean; readonly isRequired: boolean },
): Promise<readonly ChangedEntry[] | null> {
  if (entryCount > MAX_ENTRIES || !(spool.isInMemory || isRequired)) return null;
  const { transport, memory, lister } = run.host;
  const read: ReadObjects = (...asked) => transport.readObjects(repository, ...asked);
  const pack = storedPack(spool, MAX_READS);
  const isWanted = (folder: string) => isAll || WORKFLOW_HOME.test(folder) || WORKFLOWS.test(folder);
  const reading = async () => {
    const compared = await lister.newestIn(base.oid, repository, ground);
    // Of branches beside the base nobody knows what the host's pull request shows.
    if (compared.length === 0 && ground.length > 0) return null;
    return changedEntries({ commits, ground: compared, pack }, read, memory, isWanted);
  };
  return isRequired ? run.steps.run('lookup', reading) : unlessLate(run, 'what a push changes', reading());
}

/**
 * Ids of submodules' commits leave unchanged, and if those commits are not public, nobody can get them. The host is not
 * asked whether they are: it would learn ids that may not become public.
 */
export function submoduleLines(changed: readonly ChangedEntry[] | null): readonly string[] {
  if (changed === null)
    return ['This repository has submodules. The service could not check whether you change one.'];
  const submodules = changed.flatMap(({ path, oid, isSubmodule }) =>
    isSubmodule ? [`${oneLine(path)} at ${oid?.slice(0, SHOWN_ID_LENGTH)}`] : [],
  );
  if (submodules.length === 0) return [];
  return [
    ...told('This push changes submodules. It names these commits:', submodules),
    'Publish them in the submodules too, or nobody can get them. Ids of your own commits can be recognised.',
  ];
}
