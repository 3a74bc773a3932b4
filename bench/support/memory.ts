/** Watches the resident memory of a process while it works. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const SAMPLE_MS = 20;
/** Time in which a process frees the memory of its last work. */
const SETTLE_MS = 1_000;

function residentMebibytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

/** Measures by how many MiB a process grows at most over its idle size while `work` is done. */
export async function growthDuring(pid: number, work: () => Promise<unknown>): Promise<number> {
  await delay(SETTLE_MS);
  const idle = residentMebibytes(pid);
  let peak = idle;
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentMebibytes(pid));
  }, SAMPLE_MS);
  try {
    await work();
  } finally {
    clearInterval(sampling);
  }
  return peak - idle;
}
