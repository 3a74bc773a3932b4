/**
 * `npm run deploy`: uploads the Worker together with the id of the commit it was built from, which /health reports, and
 * then applies the database's new migrations: the first upload is what creates the database. A working tree with changes
 * says so in the id (`…-dirty`). Arguments go to `wrangler deploy`.
 */
import { spawnSync } from 'node:child_process';
import { currentCommit } from './build.ts';

function wrangler(...args: string[]): void {
  const { status } = spawnSync('wrangler', args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

const args = process.argv.slice(2);
wrangler('deploy', '--var', `COMMIT_HASH:${await currentCommit()}`, ...args);
if (!args.includes('--dry-run')) wrangler('d1', 'migrations', 'apply', 'DB', '--remote');
