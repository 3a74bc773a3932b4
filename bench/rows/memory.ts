/**
 * Measures how much workerd's memory grows by pushes of 95 MB, by one of 10,000 commits, which all
 * stay in memory until the push is judged, and by what a crowd can do: many refs, a history that is
 * too large to be listed, pushes of as many commits as are accepted, which then wait for each other
 * (src/isolate/memory-budget.ts), and fetches of lines without end. A push has to leave room for
 * others in an isolate of 128 MB. Each measurement starts a new service, because a service never
 * frees all the memory that it has used.
 */
import { medians, type Row, row } from '../support/figures.ts';
import { HOSTILE_FETCHES } from '../support/hostile-fetches.ts';
import { growthDuring } from '../support/memory.ts';
import {
  type BranchAhead,
  busyLine,
  commitsAhead,
  manyRefs,
  megabytesAhead,
  tinyCommitsAhead,
} from '../support/repositories.ts';
import { type Target, withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 3;
const MEGABYTES = 95;
const COMMITS = 10_000;
const REFS = 100_000;
const TINY_COMMITS = 24_000;
const BUSY_COMMITS = 80_000;
const MOST_MEBIBYTES = {
  one: 40,
  four: 64,
  commits: 64,
  refs: 24,
  longNames: 40,
  tiny: 96,
  tooLarge: 32,
  fetch: 32,
  passedOn: 32,
};

export async function memory(workspace: Workspace): Promise<Row[]> {
  const large = await megabytesAhead(workspace, MEGABYTES);
  const many = await commitsAhead(workspace, COMMITS);
  const refsSource = await manyRefs(workspace, REFS);
  const longNames = await manyRefs(workspace, 1_000, 180);
  const busySource = await busyLine(workspace, BUSY_COMMITS);
  const tinyAhead = await tinyCommitsAhead(workspace, TINY_COMMITS);
  const { one, four, commits, refs, hundred, tiny, tooLarge, depths, unknown, flushes, wants } =
    await medians(
      ROUNDS,
      {
        one: () => growth(workspace, large, 1),
        four: () => growth(workspace, large, 4),
        commits: () => growth(workspace, many, 1),
        refs: () => discoveryGrowth(workspace, refsSource, 1),
        hundred: () => hundredDiscoveries(workspace, longNames),
        tiny: () => growth(workspace, tinyAhead, 3),
        tooLarge: () => discoveryGrowth(workspace, busySource, 6),
        depths: () => fetchGrowth(workspace, 'depths'),
        unknown: () => fetchGrowth(workspace, 'unknownLines'),
        flushes: () => fetchGrowth(workspace, 'flushes'),
        wants: () => fetchGrowth(workspace, 'wants'),
      },
      { warmUp: false },
    );
  return [
    memoryRow('one push of 95 MB', one, MOST_MEBIBYTES.one),
    memoryRow('four pushes of 95 MB at once', four, MOST_MEBIBYTES.four),
    memoryRow('one push of 10,000 commits', commits, MOST_MEBIBYTES.commits),
    memoryRow('discovery of a repository of 100,000 refs', refs, MOST_MEBIBYTES.refs),
    memoryRow(
      'a hundred repositories of 1,000 long names, one after the other',
      hundred,
      MOST_MEBIBYTES.longNames,
    ),
    memoryRow('three pushes of 24,000 tiny commits at once', tiny, MOST_MEBIBYTES.tiny),
    memoryRow('six discoveries at once of a history too large to list', tooLarge, MOST_MEBIBYTES.tooLarge),
    memoryRow(
      'the worst fetch of 50 MB of depths, unknown lines or flushes',
      Math.max(depths, unknown, flushes),
      MOST_MEBIBYTES.fetch,
    ),
    memoryRow('a fetch of 50 MB of wants', wants, MOST_MEBIBYTES.passedOn),
  ];
}

export function memoryRow(what: string, growthMebibytes: number, most: number): Row {
  return row({
    name: `memory, ${what}: growth, of ${most} MiB`,
    value: growthMebibytes,
    reference: most,
    goal: 1,
    unit: 'MiB',
  });
}

async function discoveryGrowth(workspace: Workspace, source: string, discoveries: number): Promise<number> {
  const small = await manyRefs(workspace, 1);
  return withRig(workspace, async (rig) => {
    await rig.discover(await rig.repositoryWithoutFork(small));
    const target = await rig.repositoryWithoutFork(source);
    return growthDuring(rig.workerdPid, () =>
      Promise.all(Array.from({ length: discoveries }, () => rig.discover(target))),
    );
  });
}

/** Measures what remains of repositories that somebody has made for it. */
async function hundredDiscoveries(workspace: Workspace, source: string): Promise<number> {
  const small = await manyRefs(workspace, 1);
  return withRig(workspace, async (rig) => {
    await rig.discover(await rig.repositoryWithoutFork(small));
    const targets: Target[] = [];
    for (let at = 0; at < 100; at++) targets.push(await rig.repositoryWithoutFork(source));
    return growthDuring(rig.workerdPid, async () => {
      for (const target of targets) await rig.discover(target);
    });
  });
}

async function fetchGrowth(workspace: Workspace, kind: keyof typeof HOSTILE_FETCHES): Promise<number> {
  const small = await manyRefs(workspace, 1);
  return withRig(workspace, async (rig) => {
    const target = await rig.repositoryWithoutFork(small);
    await rig.discover(target);
    const hostile = HOSTILE_FETCHES[kind]();
    return growthDuring(rig.workerdPid, () => rig.askForPack(target, hostile));
  });
}

async function growth(
  workspace: Workspace,
  { source, client, branch }: BranchAhead,
  pushes: number,
): Promise<number> {
  return withRig(workspace, async (rig) => {
    const targets: Target[] = [];
    for (let push = 0; push < pushes; push++) targets.push(await rig.repository(source, client));
    return growthDuring(rig.workerdPid, () =>
      Promise.all(targets.map((target) => rig.push(client, target, branch))),
    );
  });
}
