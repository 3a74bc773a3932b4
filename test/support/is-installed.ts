/**
 * Whether this machine has a program. Where one is missing, tests that need it are skipped, and
 * .ci/report.ts says so.
 */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Those of servers are not in everyone's PATH. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];

export const isInstalled = (program: string): boolean => placeOf(program) !== undefined;

/** The program's path; undefined if it is not installed. */
export function placeOf(program: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
