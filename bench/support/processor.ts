/** The processor time that a process has used, as the kernel counts it. */
import { readFileSync } from 'node:fs';

/** USER_HZ of Linux: the unit of /proc/<pid>/stat (proc_pid_stat(5)). */
const TICKS_A_SECOND = 100;

/** In user and kernel mode together, in milliseconds, in steps of 10. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const [userTicks = '0', systemTicks = '0'] = fields.slice(11, 13);
  return ((Number(userTicks) + Number(systemTicks)) * 1000) / TICKS_A_SECOND;
}
