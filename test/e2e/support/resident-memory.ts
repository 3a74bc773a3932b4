/** Resident memory of a process, as Linux counts it. */
import { readFileSync, writeFileSync } from 'node:fs';

/** Measures by how many MiB a process grows at most while something is done. */
export async function growthDuring(pid: number, work: () => Promise<unknown>): Promise<number> {
  // Linux begins to count anew (proc(5), "clear_refs").
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = peakMiB(pid);
  await work();
  return peakMiB(pid) - before;
}

/** The largest resident memory since the count began. */
function peakMiB(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
