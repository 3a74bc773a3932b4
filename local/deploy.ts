/**
 * `npm run deploy`: uploads the Worker together with the id of the commit it was built from, which /health reports.
 * A working tree with changes says so in that id (`…-dirty`). Arguments go to `wrangler deploy`.
 */
import { spawnSync } from 'node:child_process';
import { currentCommit } from './build.ts';

const { status } = spawnSync(
  'wrangler',
  ['deploy', '--var', `COMMIT_HASH:${await currentCommit()}`, ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
