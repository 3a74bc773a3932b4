/**
 * Measures how much workerd's memory grows by patches of nearly 10 MB: one that adds a file, one
 * that adds a thousand, and one of four commits to one file. All are previews, so that nothing is
 * sent to the code host.
 */
import { medians, type Row } from '../support/figures.ts';
import { growthDuring } from '../support/memory.ts';
import { manyRefs } from '../support/repositories.ts';
import { withRig } from '../support/rig.ts';
import type { Workspace } from '../support/workspace.ts';
import { memoryRow } from './memory.ts';

const ROUNDS = 3;
const MOST_MEBIBYTES = 40;
/** Each version of the file takes memory of its own for a while. */
const MOST_OF_SERIES = 56;
const LINE = '+some words of a line\n';
const LINES = 430_000;
const FILES = 1_000;
const COMMITS = 4;

export async function patch(workspace: Workspace): Promise<Row[]> {
  const { one, many, series } = await medians(
    ROUNDS,
    {
      one: () => growth(workspace, additionOf('large.txt', LINES)),
      many: () => growth(workspace, additions()),
      series: () => growth(workspace, appended()),
    },
    { warmUp: false },
  );
  return [
    memoryRow('a patch of 10 MB that adds a file', one, MOST_MEBIBYTES),
    memoryRow('a patch of 10 MB that adds a thousand files', many, MOST_MEBIBYTES),
    memoryRow('a patch of 10 MB, four commits to one file', series, MOST_OF_SERIES),
  ];
}

async function growth(workspace: Workspace, patchText: string): Promise<number> {
  const small = await manyRefs(workspace, 1);
  return withRig(workspace, async (rig) => {
    const target = await rig.repositoryWithoutFork(small);
    await rig.preview(target, additionOf('small.txt', 1));
    return growthDuring(rig.workerdPid, () => rig.preview(target, patchText));
  });
}

/** The diff of a new file. */
function additionOf(name: string, lines: number): string {
  const head = `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n`;
  return `${head}@@ -0,0 +1,${lines} @@\n${LINE.repeat(lines)}`;
}

const additions = (): string =>
  Array.from({ length: FILES }, (_, index) => additionOf(`file-${index}.txt`, LINES / FILES)).join('');

/** Mails, the first of which adds a file, to which each of the others adds as much. */
function appended(): string {
  const lines = Math.floor(LINES / COMMITS);
  const mails = Array.from({ length: COMMITS }, (_, index) => {
    const from = `From ${'a'.repeat(40)} Mon Sep 17 00:00:00 2001\nFrom: A <a@home.example>\n`;
    const head = `${from}Subject: [PATCH] Part ${index + 1}\n\n---\n\n`;
    if (index === 0) return head + additionOf('large.txt', lines);
    const before = index * lines;
    const names = 'diff --git a/large.txt b/large.txt\n--- a/large.txt\n+++ b/large.txt\n';
    const stays = LINE.replace('+', ' ');
    return `${head}${names}@@ -${before},1 +${before},${lines + 1} @@\n${stays}${LINE.repeat(lines)}`;
  });
  return mails.join('');
}
