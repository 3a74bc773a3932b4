/** Reads the processor time that a process has used, as the kernel counts it. */
import { readFileSync } from 'node:fs';

/** USER_HZ of Linux: the unit of /proc/<pid>/stat (proc_pid_stat(5)). */
const TICKS_A_SECOND = 100;

/** Reads the time in user and kernel mode together, in milliseconds, in steps of 10. */
export function processorMs(pid: number): number {
  return inMs(statOf(pid).slice(11, 13));
}

/**
 * Reads the same time of all programs that this one has started, and of theirs, once they have
 * ended.
 */
export function processorMsOfEnded(): number {
  return inMs(statOf('self').slice(13, 15));
}

/** Reads the fields from the third one on. The second, the program's name, may contain spaces. */
function statOf(process: number | 'self'): readonly string[] {
  return readFileSync(`/proc/${process}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
}

function inMs(ticks: readonly string[]): number {
  return (ticks.reduce((sum, some) => sum + Number(some), 0) * 1000) / TICKS_A_SECOND;
}
