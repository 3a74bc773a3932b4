/**
 * The pack engine by itself, in workerd: what a push of 40 MB costs in computing, against git's own reader of packs and
 * against a naive reader in the same workerd. And how much of it are the two parts that no reader can do without.
 */
import { Engine } from '../support/engine.ts';
import { clientOf, timedGit } from '../support/git.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { codeRepository } from '../support/repositories.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 5;
const SCANS = 3;
const MOST_OF_INDEX_PACK = 0.06;
const MOST_OF_INFLATING = 0.1;

export async function engine(workspace: Workspace): Promise<Row[]> {
  const repository = await codeRepository(workspace);
  const { pack, source } = repository;
  const { scan, walkOnly, checksumOnly, inflateEach, indexPack } = await Engine.with(
    pack,
    repository,
    (running) =>
      medians(ROUNDS, {
        scan: () => running.time('scan', SCANS),
        walkOnly: () => running.time('walkOnly', SCANS),
        checksumOnly: () => running.time('checksumOnly', SCANS),
        inflateEach: () => running.time('inflateEach', 1),
        indexPack: async () => {
          // A repository that has the pack's bases, but none of its objects.
          const upstream = await clientOf(source, workspace.folder('index-pack'));
          return timedGit(upstream, ['index-pack', '--fix-thin', '--stdin'], pack.path);
        },
      }),
  );
  const what = `read a pack of ${pack.megabytes.toFixed(0)} MB, ${pack.objects} objects`;
  const share = (part: string, ms: number): Row =>
    row({ name: `${what}: ${part}, of the whole`, value: ms, reference: scan, goal: null, unit: 'ms' });
  return [
    row({
      name: `${what}: workerd, against git index-pack`,
      value: scan,
      reference: indexPack,
      goal: MOST_OF_INDEX_PACK,
      unit: 'ms',
    }),
    row({
      name: `${what}: workerd, against inflateSync in workerd`,
      value: scan,
      reference: inflateEach,
      goal: MOST_OF_INFLATING,
      unit: 'ms',
    }),
    share('zlib streams walked', walkOnly),
    share('SHA-1', checksumOnly),
  ];
}
