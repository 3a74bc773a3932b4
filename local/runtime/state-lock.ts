/**
 * Keeps a second service off a STATE_DIR: both would write the same files, and count apart from
 * each other.
 *
 * The lock is the one that SQLite takes on its files (fcntl(2), on Linux and macOS), because
 * Node.js offers no other that the kernel gives back when a process dies, also by `kill -9`. So no
 * lock of a process that is gone stands in the way, and nobody has to compare process numbers,
 * which are used again and mean nothing in another container.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const LOCK = 'lock';
/** File that says who has the lock, because the content of a locked file cannot be read. */
const HOLDER = 'lock-holder';
/** SQLITE_BUSY: somebody else has the lock. */
const BUSY = 5;

/** Database whose lock this process has while it is open. */
let lock: DatabaseSync | null = null;

/**
 * Takes the folder for this process, for as long as it lives or until it becomes another program.
 * @param port the service's, for the message to others.
 * @param warn called if the file system has no locks; the folder can still be used.
 * @returns a sentence that says why it cannot be used, and names the variable; `null` if it can.
 */
export function takeStateDir(stateDir: string, port: number, warn: (message: string) => void): string | null {
  const name = `STATE_DIR is ${JSON.stringify(stateDir)}`;
  try {
    lock = new DatabaseSync(join(stateDir, LOCK), { timeout: 0 });
    // Keep the journal in memory: a file beside the lock would stay after a crash.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    writeFileSync(join(stateDir, HOLDER), `process ${process.pid}, port ${port}\n`);
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number };
    if (errcode === BUSY) {
      return `${name}: another gitveil uses it (${holderOf(stateDir)}); stop that one, or set STATE_DIR to another folder`;
    }
    warn(`${name}: it cannot be locked (${message}), so take care that no second gitveil uses it`);
  }
  return null;
}

function holderOf(stateDir: string): string {
  try {
    return /^process \d+, port \d+$/m.exec(readFileSync(join(stateDir, HOLDER), 'utf8'))?.[0] ?? 'starting';
  } catch {
    return 'starting';
  }
}
