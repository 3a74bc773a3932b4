/**
 * Submodules whose commits a push changes. Their ids leave unchanged, and if those commits are not public, nobody can get
 * them. The host is not asked whether they are: it would learn ids that may not become public.
 */
import type { Publishable } from '../verdict/verdict.ts';
import { changedSubmodules } from '../changes.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { oneLine } from '../../host-text.ts';
import type { PushRun } from '../push-run.ts';
import type { ReceivedPack } from '../receive/receive.ts';

/** Only warnings depend on it. */
const PATIENCE_MS = 5_000;
const MAX_SHOWN = 10;
const SHOWN_ID_LENGTH = 12;
const NOT_CHECKED = ['This repository has submodules. The service could not check whether you change one.'];

/** Lines for the person; none if there are none. Never rejects. */
export async function submoduleLines(
  { host, logger }: Pick<PushRun, 'host' | 'logger'>,
  {
    repository,
    commits,
    ground,
  }: { readonly repository: RepositoryName } & Pick<Publishable, 'commits' | 'ground'>,
  { spool }: Pick<ReceivedPack, 'spool'>,
): Promise<readonly string[]> {
  if (!spool.isInMemory) return NOT_CHECKED;
  const pack = {
    read: (start: number) => spool.read(start),
    byteLength: spool.byteLength,
    maxReads: Infinity,
  };
  const comparing = changedSubmodules(
    { commits, ground, pack },
    (request, maxBytes) => host.transport.readObjects(repository, request, maxBytes),
    host.memory,
  ).catch((error: unknown) => {
    logger.warn('the submodules of a push could not be compared', { error });
    return null;
  });
  const changed = (await Promise.race([comparing, host.clock.sleep(PATIENCE_MS)])) ?? null;
  if (changed === null) return NOT_CHECKED;
  return told(changed.map(({ path, oid }) => `${oneLine(path)} at ${oid.slice(0, SHOWN_ID_LENGTH)}`));
}

function told(submodules: readonly string[]): readonly string[] {
  if (submodules.length === 0) return [];
  const more = submodules.length - MAX_SHOWN;
  return [
    'This push changes submodules. It names these commits:',
    ...submodules.slice(0, MAX_SHOWN).map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    'Publish them in the submodules too, or nobody can get them. Ids of your own commits can be recognised.',
  ];
}
