/** Rewriting 10,000 commits in workerd, and the share of SHA-1 and zlib, which are unavoidable. */
import { Engine } from '../support/engine.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { codeRepository } from '../support/repositories.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 9;
const TIMES = 5;

export async function commits(workspace: Workspace): Promise<Row[]> {
  const repository = await codeRepository(workspace);
  const pack = repository.commits;
  const { rewrite, hashOnly, zlibOnly } = await Engine.with(pack, repository, (running) =>
    medians(ROUNDS, {
      rewrite: () => running.time('rewrite', TIMES),
      hashOnly: () => running.time('hashOnly', TIMES),
      zlibOnly: () => running.time('zlibOnly', TIMES),
    }),
  );
  const microseconds = (ms: number): number => (1000 * ms) / pack.objects;
  const share = (what: string, ms: number): Row =>
    row({
      name: `rewrite ${pack.objects} commits: ${what}, of the whole`,
      value: microseconds(ms),
      reference: microseconds(rewrite),
      goal: null,
      unit: 'µs a commit',
    });
  return [share('SHA-1', hashOnly), share('zlib', zlibOnly)];
}
