/** The processor time that a process has used, as the kernel counts it. */
import { readFileSync } from 'node:fs';

/** USER_HZ of Linux: the unit of /proc/<pid>/stat (proc_pid_stat(5)). */
const TICKS_A_SECOND = 100;

/** In user and kernel mode together, in milliseconds, in steps of 10. */
export function processorMs(pid: number): number {
  return inMs(statOf(pid).slice(11, 13));
}

/** The same of all programs that this one has started, and theirs, once they have ended. */
export function processorMsOfEnded(): number {
  return inMs(statOf('self').slice(13, 15));
}

/** From the third field on: the second, the program's name, may hold spaces. */
function statOf(process: number | 'self'): readonly string[] {
  return readFileSync(`/proc/${process}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
}

function inMs(ticks: readonly string[]): number {
  return (ticks.reduce((sum, some) => sum + Number(some), 0) * 1000) / TICKS_A_SECOND;
}
