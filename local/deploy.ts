/**
 * `npm run deploy`: brings the database up to date, and then uploads the Worker together with the id of the commit it was
 * built from and the hash of the bundle, which /health reports.
 *
 * The database comes first, so that new code never runs without its tables. The old code runs on the new tables for
 * some seconds, and migrations must allow that. On a fresh account, the database is created here, because `wrangler
 * deploy` would create it too late. wrangler finds it by its name, and creates the namespaces itself.
 *
 * The Worker's `name` in wrangler.toml is that of the database, and of the Worker that `SELF` leads to.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from './arguments.ts';
import { bundleHash, currentCommit, readConfig } from './build.ts';
import { bundleWorker } from './esbuild.ts';

/** What Cloudflare says of a Worker that binds one that is not there: at its first upload, itself. */
const NO_SUCH_WORKER = 'code: 10143';
/** Beside wrangler.toml, so that the paths in it stay right. */
const DEPLOYED_CONFIG = 'wrangler.deploy.json';

const USAGE = `
Usage: npm run deploy [-- [--dry-run [--outdir FOLDER]] [--secrets-file FILE]]

Brings the database on Cloudflare up to date and uploads the Worker. docs/deploy.md explains every step.

  --dry-run             only builds the Worker and prints its size; needs no account
  --outdir FOLDER       also writes what would be uploaded into FOLDER
  --secrets-file FILE   also sets the secrets in FILE, one NAME=value a line
`;

const { values } = readArguments(USAGE, {
  'dry-run': { type: 'boolean', default: false },
  outdir: { type: 'string' },
  'secrets-file': { type: 'string' },
});
const { outdir, 'secrets-file': secretsFile } = values;
const handedOn = [
  ...(values['dry-run'] ? ['--dry-run'] : []),
  ...(outdir === undefined ? [] : ['--outdir', outdir]),
  ...(secretsFile === undefined ? [] : ['--secrets-file', secretsFile]),
];

/** Runs wrangler, and ends this program if it fails. The user can answer its questions. */
function wrangler(...words: string[]): void {
  const { status } = spawnSync('wrangler', words, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** The names of the account's databases. */
function databaseNames(): string[] {
  const { status, stdout } = spawnSync('wrangler', ['d1', 'list', '--json'], {
    stdio: ['inherit', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (status !== 0) {
    process.stderr.write(
      `${stdout ?? ''}\nThe account cannot be reached: is wrangler logged in (npx wrangler login)?\n`,
    );
    process.exit(status ?? 1);
  }
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
}

/** D1 has no place in these parts of the world: a near one. */
const NEIGHBOURS: Readonly<Record<string, string>> = { sam: 'enam', afr: 'weur', me: 'eeur' };

function prepareDatabase(): void {
  if (!databaseNames().includes(config.name)) {
    const hint = config.vars['LOCATION_HINT'] ?? '';
    const location = hint === '' ? [] : [`--location=${NEIGHBOURS[hint] ?? hint}`];
    wrangler('d1', 'create', config.name, ...location, '--update-config=false');
  }
  wrangler('d1', 'migrations', 'apply', 'DB', '--remote', `--config=${DEPLOYED_CONFIG}`);
}

function writeConfig(services: readonly { binding: string; service: string }[]): void {
  const databases = config.d1_databases.map((database) => ({ ...database, database_name: config.name }));
  writeFileSync(DEPLOYED_CONFIG, JSON.stringify({ ...config, services, d1_databases: databases }));
}

/** Shows what wrangler says of a failure only if nothing can be done about it. */
function upload(words: readonly string[]): void {
  const { status, stderr } = spawnSync('wrangler', words, {
    stdio: ['inherit', 'inherit', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0 && stderr.includes(NO_SUCH_WORKER)) {
    console.log('The first upload of this name: once without SELF, which leads to itself, then with it.');
    writeConfig([]);
    wrangler(...words);
    writeConfig(selves);
    wrangler(...words);
    return;
  }
  process.stderr.write(stderr);
  if (status !== 0) process.exit(status ?? 1);
}

const config = await readConfig();
const selves = config.services.map((service) => ({ ...service, service: config.name }));
const folder = mkdtempSync(join(tmpdir(), 'gitveil-deploy-'));
process.on('exit', () => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(DEPLOYED_CONFIG, { force: true });
});
writeConfig(selves);
if (!values['dry-run']) prepareDatabase();
const bundle = await bundleWorker(config);
const file = join(folder, 'worker.js');
writeFileSync(file, bundle);
// wrangler would bundle the same code, but its minifier chooses other short names.
const asBuilt = [file, `--config=${DEPLOYED_CONFIG}`, '--no-bundle', '--minify=false'];
const facts = [`COMMIT_HASH:${await currentCommit()}`, `BUNDLE_HASH:${bundleHash(bundle)}`];
upload(['deploy', ...asBuilt, ...facts.flatMap((fact) => ['--var', fact]), ...handedOn]);
