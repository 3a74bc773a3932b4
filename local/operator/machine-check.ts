/** Checks this machine's clock and disk. */
import { existsSync, rmdirSync, statfsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../../src/config/config.ts';
import type { Finding } from './finding.ts';
import { stateDirProblem } from '../runtime/state-dir.ts';

/** Comparison of this machine's clock with that of a code host. */
export interface Clock {
  /** Name of the host. */
  readonly name: string;
  readonly aheadMs: number;
}

/** Limit for a wrong clock: commits, limits and signed requests take their time from it. */
const MOST_AHEAD_MS = 60_000;
const MB = 1_000_000;
/** Room for one large push. */
const LEAST_FREE_MB = 100;
/** Room for the rows of everything else, so that one more log does not fill the disk. */
const RESERVE_MB = 200;

/**
 * Judges the clock by all hosts, because one host with a wrong clock says nothing of this machine.
 */
export function clockFinding(clocks: readonly Clock[]): Finding {
  const sorted = clocks.toSorted((a, b) => a.aheadMs - b.aheadMs);
  const middle = sorted.slice(Math.floor((sorted.length - 1) / 2), Math.floor(sorted.length / 2) + 1);
  const [nearest] = middle.toSorted((a, b) => Math.abs(a.aheadMs) - Math.abs(b.aheadMs));
  const subject = 'clock';
  if (nearest === undefined)
    return { subject, state: 'warning', says: 'not compared: no code host says what time it is' };
  const seconds = Math.round(Math.abs(nearest.aheadMs) / 1000);
  const direction = nearest.aheadMs > 0 ? 'ahead of' : 'behind';
  const says = seconds < 2 ? `as at ${nearest.name}` : `${seconds} s ${direction} ${nearest.name}`;
  if (Math.abs(nearest.aheadMs) < MOST_AHEAD_MS) return { subject, state: 'ok', says };
  const remedy =
    'Set this machine’s clock by NTP, for example with `timedatectl set-ntp true`: dates of commits and limits depend on it.';
  return { subject, state: 'problem', says, remedy };
}

type Disk = Pick<Config, 'stateDir' | 'spoolMb' | 'delayedMb'>;

/** Checks the disk as a start does. A folder that it could use is not left if it was not there. */
export function diskFinding(disk: Disk, freeMbOf: (folder: string) => number = freeMbIn): Finding {
  const { stateDir, spoolMb, delayedMb } = disk;
  const subject = 'disk';
  const folder = resolve(stateDir);
  const isNew = !existsSync(folder);
  const remedy = stateDirProblem(stateDir, []);
  if (remedy !== null)
    return { subject, state: 'problem', says: `${stateDir} cannot be used`, remedy: `${remedy}.` };
  const freeMb = freeMbOf(folder);
  if (isNew) rmdirSync(folder);
  const says = `${(freeMb / 1000).toFixed(1)} GB free in ${stateDir}`;
  const neededMb = spoolMb + delayedMb + RESERVE_MB;
  if (freeMb >= neededMb) return { subject, state: 'ok', says };
  return {
    subject,
    state: freeMb < LEAST_FREE_MB ? 'problem' : 'warning',
    says,
    remedy: `Pushes may take SPOOL_MB and DELAYED_MB, and everything else needs ${RESERVE_MB} MB: ${neededMb} MB in all. Free some room, set STATE_DIR to a larger disk, or set these lower.`,
  };
}

function freeMbIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return Math.floor((bavail * bsize) / MB);
}
