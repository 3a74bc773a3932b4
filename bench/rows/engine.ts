/**
 * Measures the pack engine by itself, in workerd: the computing for a push of 40 MB, against git's
 * own reader of packs and against a naive reader in workerd. A pack of small files, against
 * isomorphic-git (docs/decisions/libraries.md). Then the pack that costs most for its
 * size, against one of small files.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { indexed } from '../../test/support/isomorphic-reader.ts';
import { Engine } from '../support/engine.ts';
import { clientOf, type Pack, timedGit } from '../support/git.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { HOSTILE_PACKS, packOfSmallFiles } from '../support/hostile-packs.ts';
import { codeRepository } from '../support/repositories.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 5;
const SCANS = 3;
const MOST_OF_INDEX_PACK = 0.08;
/**
 * Both decode the same symbols. Without a new object for each entry, a third of the time remains.
 */
const MOST_OF_INFLATING = 0.4;
const MOST_OF_HONEST = 3;
const MEGABYTE = 1_000_000;
const HOSTILE_BYTES = 20 * MEGABYTE;
const LIBRARY_BYTES = 2 * MEGABYTE;
/** Far above what it takes, as isomorphic-git needs sixty times as long. */
const MOST_OF_LIBRARY = 0.1;
const PACK_COUNT_OFFSET = 8;

export async function engine(workspace: Workspace): Promise<Row[]> {
  const { pack, source } = await codeRepository(workspace);
  const { scan, inflateEach, indexPack } = await Engine.with(workspace, pack, (running) =>
    medians(ROUNDS, {
      scan: () => running.time('scan', SCANS),
      inflateEach: () => running.time('inflateEach', 1),
      indexPack: async () => {
        // This repository has the pack's bases, but none of its objects.
        const upstream = await clientOf(source, workspace.folder('index-pack'));
        return timedGit(upstream, ['index-pack', '--fix-thin', '--stdin'], pack.path);
      },
    }),
  );
  const what = `read a pack of ${pack.megabytes.toFixed(0)} MB, ${pack.objects} objects`;
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
    await againstLibrary(workspace),
    await hostile(workspace),
  ];
}

/**
 * Compares with isomorphic-git, in Node with files in memory, on the pack that is easiest for it:
 * one without deltas.
 */
async function againstLibrary(workspace: Workspace): Promise<Row> {
  const bytes = packOfSmallFiles(LIBRARY_BYTES);
  const pack = written(join(workspace.folder('library'), 'small.pack'), bytes);
  const scan = await Engine.with(workspace, pack, (running) => running.time('scan', SCANS));
  const began = performance.now();
  await indexed(bytes);
  return row({
    name: `read a pack of ${LIBRARY_BYTES / MEGABYTE} MB, ${pack.objects} small files: against isomorphic-git`,
    value: scan,
    reference: performance.now() - began,
    goal: MOST_OF_LIBRARY,
    unit: 'ms',
  });
}

/** Finds the kind of accepted pack that takes longest. */
async function hostile(workspace: Workspace): Promise<Row> {
  const folder = workspace.folder('hostile');
  const small = written(join(folder, 'small.pack'), packOfSmallFiles(HOSTILE_BYTES));
  let most = { kind: '', worst: 0, small: 1 };
  for (const [kind, make] of Object.entries(HOSTILE_PACKS)) {
    const hostilePack = written(join(folder, 'worst.pack'), make(HOSTILE_BYTES));
    const times = await Engine.with(workspace, small, (onSmall) =>
      Engine.with(workspace, hostilePack, (onWorst) =>
        medians(ROUNDS, {
          worst: () => onWorst.time('scan', SCANS),
          small: () => onSmall.time('scan', SCANS),
        }),
      ),
    );
    if (times.worst / times.small > most.worst / most.small) most = { kind, ...times };
  }
  return row({
    name: `read the worst pack of ${HOSTILE_BYTES / MEGABYTE} MB, against small files`,
    value: most.worst,
    reference: most.small,
    goal: MOST_OF_HONEST,
    unit: 'ms',
    note: `full of ${most.kind}`,
  });
}

function written(path: string, bytes: Buffer): Pack {
  writeFileSync(path, bytes);
  const objects = bytes.readUInt32BE(PACK_COUNT_OFFSET);
  return { path, objects, megabytes: bytes.length / MEGABYTE };
}
