/**
 * The pack engine by itself, in workerd: what a push of 40 MB costs in computing, against git's own reader of packs and
 * against a naive reader in the same workerd. And how much of it are the two parts that no reader can do without.
 *
 * Then the packs that cost most for their size, against honest ones; all are accepted.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Engine } from '../support/engine.ts';
import { clientOf, type Pack, timedGit } from '../support/git.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { HOSTILE_PACKS, packOfSmallFiles } from '../support/hostile-packs.ts';
import { type CodeRepository, codeRepository } from '../support/repositories.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 5;
const SCANS = 3;
const MOST_OF_INDEX_PACK = 0.06;
const MOST_OF_INFLATING = 0.1;
const MOST_OF_HONEST = 3;
const MEGABYTE = 1_000_000;
const HOSTILE_BYTES = 20 * MEGABYTE;
const PACK_COUNT_OFFSET = 8;

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
    ...(await hostile(workspace, repository)),
  ];
}

/** Each against the honest pack, for as many bytes, and against one of small files. Only the latter has a goal. */
async function hostile(workspace: Workspace, repository: CodeRepository): Promise<Row[]> {
  const { pack } = repository;
  const folder = workspace.folder('hostile');
  const small = written(join(folder, 'small.pack'), packOfSmallFiles(HOSTILE_BYTES));
  const rows: Row[] = [];
  for (const [what, make] of Object.entries(HOSTILE_PACKS)) {
    const worst = written(join(folder, 'worst.pack'), make(HOSTILE_BYTES));
    const times = await Engine.with(pack, repository, (onCode) =>
      Engine.with(small, repository, (onSmall) =>
        Engine.with(worst, repository, (onWorst) =>
          medians(ROUNDS, {
            worst: () => onWorst.time('scan', SCANS),
            code: () => onCode.time('scan', SCANS),
            small: () => onSmall.time('scan', SCANS),
          }),
        ),
      ),
    );
    const name = `read a pack of ${HOSTILE_BYTES / MEGABYTE} MB full of ${what}`;
    const value = times.worst;
    const ofCode = (times.code * worst.megabytes) / pack.megabytes;
    rows.push(
      row({ name: `${name}: against code`, value, reference: ofCode, goal: null, unit: 'ms' }),
      row({
        name: `${name}: against small files`,
        value,
        reference: times.small,
        goal: MOST_OF_HONEST,
        unit: 'ms',
      }),
    );
  }
  return rows;
}

function written(path: string, bytes: Buffer): Pack {
  writeFileSync(path, bytes);
  const objects = bytes.readUInt32BE(PACK_COUNT_OFFSET);
  return { path, objects, megabytes: bytes.length / MEGABYTE, commitsOnly: false };
}
