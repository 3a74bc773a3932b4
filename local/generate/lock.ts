/**
 * `npm run lock`: brings package-lock.json up to date, as `npm install --package-lock-only` does,
 * and removes two things from it: which Node.js each package asks for, and the server from which a
 * package came, which is the choice of whoever installs it.
 *
 * All packages run on the Node.js of the package `node`. npm does not know that and compares their
 * versions with the Node.js on which npm itself runs, so an installation would begin with a
 * screenful of irrelevant warnings.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { readArguments } from '../arguments.ts';

interface Lock {
  readonly packages: Readonly<Record<string, { engines?: unknown }>>;
}

const FILE = 'package-lock.json';

readArguments(`Usage: npm run lock\n\nBrings ${FILE} up to date with package.json.`, {});

const args = ['install', '--package-lock-only', '--omit-lockfile-registry-resolved'];
const { status } = spawnSync('npm', args, { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

const lock = JSON.parse(readFileSync(FILE, 'utf8')) as Lock;
for (const [path, entry] of Object.entries(lock.packages)) {
  // The first entry is the project itself, whose requirements stay.
  if (path !== '') delete entry.engines;
}
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
