/**
 * `npm run deploy`: brings the database up to date, and then uploads the Worker together with the
 * id of the commit it was built from and the hash of the bundle, which /health reports.
 *
 * The database comes first, so that new code never runs without its tables. The old code runs on
 * the new tables for some seconds, and migrations must allow that.
 *
 * The database and the KV namespaces are looked up by name, and created if the account has none.
 * Nothing is remembered on this machine, so a deployment that stopped anywhere is simply run again,
 * here or on another machine. `wrangler deploy` would create namespaces itself, but after a refused
 * upload it tries to create them again, and fails.
 *
 * The Worker's `name` in wrangler.toml is that of the database and the beginning of the namespaces'
 * names, and `SELF` leads to it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from '../arguments.ts';
import { bundleHash, currentCommit, readConfig } from './build.ts';
import { bundleWorker } from './esbuild.ts';

/**
 * Cloudflare's refusal of a Worker with a binding to a Worker that does not exist (10143), or that
 * has secrets but was never uploaded (10144). At its first upload, that is the Worker itself.
 */
const NO_SUCH_WORKER = /code: 1014[34]\b/;
/** Cloudflare's answer to a question about a Worker that the account does not have. */
const NOT_THERE = /code: 10007\b/;
/**
 * Path of the generated configuration. It is beside wrangler.toml, so that the paths in it stay
 * right.
 */
const DEPLOYED_CONFIG = 'wrangler.deploy.json';

/**
 * Advice for a token that lacks a right: Cloudflare answers "Authentication error" (10000), as for
 * a wrong token.
 */
const TOKEN_RIGHTS = `
The token in CLOUDFLARE_API_TOKEN needs these rights: Workers Scripts, Workers KV Storage and D1 (Edit), and Account
Settings (Read).
`;

const USAGE = `
Usage: npm run deploy [-- [--dry-run [--outdir FOLDER]] [--secrets-file FILE]]

Brings the database on Cloudflare up to date and uploads the Worker. If it stops, run it again: it keeps nothing on
this machine, and finds what it has created by name. docs/deploy.md explains every step.

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

function stop(status: number | null): never {
  if (process.env['CLOUDFLARE_API_TOKEN']) process.stderr.write(TOKEN_RIGHTS);
  process.stderr.write(
    '\nThe deployment stopped before its end. When the cause is gone, run: npm run deploy\n',
  );
  process.exit(status ?? 1);
}

/**
 * Ends this program before it asks the account for anything, because the checkout does not build:
 * it has a conflict, for example.
 */
function stopUnbuilt(error: unknown): never {
  const { message, stderr = '' } = error as Error & { readonly stderr?: string };
  process.stderr.write(
    `${stderr || message}\nThe Worker cannot be built from this checkout. Nothing was changed.\n`,
  );
  process.exit(1);
}

/** Runs wrangler, and ends this program if it fails. The user can answer its questions. */
function wrangler(words: readonly string[], stdout: 'inherit' | 'ignore' = 'inherit'): void {
  const { status } = spawnSync('wrangler', words, { stdio: ['inherit', stdout, 'inherit'] });
  if (status !== 0) stop(status);
}

/**
 * Creates something without showing wrangler's output, which says what to add to wrangler.toml.
 * Nothing has to be added.
 */
function create(...words: string[]): void {
  console.log(`Creating: ${words.join(' ')}`);
  wrangler([...words, '--update-config=false'], 'ignore');
}

/** Reads the list that wrangler has printed as JSON, or ends this program. */
function listIn<T>(stdout: string, words: readonly string[]): T[] {
  try {
    const list: unknown = JSON.parse(stdout);
    if (Array.isArray(list)) return list as T[];
  } catch {
    // It is no JSON.
  }
  process.stderr.write(`${stdout}\nwrangler ${words.join(' ')} has printed no list.\n`);
  stop(1);
}

/**
 * Lists what the account has of one kind.
 * @param words a command of wrangler that prints JSON.
 */
function listed<T>(...words: string[]): T[] {
  const { status, stdout } = spawnSync('wrangler', words, {
    stdio: ['inherit', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (status !== 0) {
    process.stderr.write(
      `${stdout ?? ''}\nwrangler ${words.join(' ')} has failed: see above. If it is not logged in, run: npx wrangler login\n`,
    );
    stop(status);
  }
  return listIn(stdout, words);
}

/** Near places for the parts of the world in which D1 has none. */
const NEIGHBOURS: Readonly<Record<string, string>> = { sam: 'enam', afr: 'weur', me: 'eeur' };

/**
 * Ends this program if the account has a Worker of this name but no database of this name: the
 * Worker is another program's, and the upload would replace it without a question. A Worker that
 * has only been given secrets was never deployed, and is ours.
 */
function refuseAnothersWorker(): void {
  const words = ['deployments', 'list', `--name=${config.name}`, '--json'];
  const { status, stdout, stderr } = spawnSync('wrangler', words, { encoding: 'utf8' });
  if (status !== 0 && NOT_THERE.test(stdout + stderr)) return;
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}`);
    stop(status);
  }
  if (listIn(stdout, words).length === 0) return;
  process.stderr.write(`
The account has a Worker called ${config.name} already, and no database of that name, so it is not this service.
Nothing was changed. Choose another \`name\` in wrangler.toml, or remove that Worker: npx wrangler delete ${config.name}
`);
  process.exit(1);
}

function prepareDatabase(): void {
  if (!listed<{ name: string }>('d1', 'list', '--json').some(({ name }) => name === config.name)) {
    refuseAnothersWorker();
    const hint = config.vars['LOCATION_HINT'] ?? '';
    const location = hint === '' ? [] : [`--location=${NEIGHBOURS[hint] ?? hint}`];
    create('d1', 'create', config.name, ...location);
  }
  wrangler(['d1', 'migrations', 'apply', 'DB', '--remote', `--config=${DEPLOYED_CONFIG}`]);
}

type Namespace = (typeof config.kv_namespaces)[number];

/** Names a namespace as `wrangler deploy` would, so that those of earlier deployments are found. */
const titleOf = ({ binding }: Namespace): string =>
  `${config.name}-${binding.toLowerCase().replaceAll('_', '-')}`;

/** Maps the titles of the account's namespaces to their ids. */
function namespaceIds(): Map<string, string> {
  const found = listed<{ id: string; title: string }>('kv', 'namespace', 'list');
  return new Map(found.map(({ id, title }) => [title, id]));
}

/**
 * Adds the ids of the namespaces to the bindings. Creates a namespace if the account has none of
 * that title.
 */
function prepareNamespaces(): Namespace[] {
  const before = namespaceIds();
  const missing = config.kv_namespaces.map(titleOf).filter((title) => !before.has(title));
  for (const title of missing) create('kv', 'namespace', 'create', title);
  const ids = missing.length === 0 ? before : namespaceIds();
  return config.kv_namespaces.map((namespace) => ({ ...namespace, id: ids.get(titleOf(namespace)) }));
}

function writeConfig(services: typeof selves): void {
  const databases = config.d1_databases.map((database) => ({ ...database, database_name: config.name }));
  const bindings = { services, d1_databases: databases, kv_namespaces: namespaces };
  writeFileSync(DEPLOYED_CONFIG, JSON.stringify({ ...config, ...bindings }));
}

/**
 * Uploads the Worker. Shows wrangler's message of a failure only if this program cannot correct it.
 */
function upload(words: readonly string[]): void {
  const { status, stderr } = spawnSync('wrangler', words, {
    stdio: ['inherit', 'inherit', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0 && NO_SUCH_WORKER.test(stderr)) {
    console.log('The first upload of this name: once without SELF, which leads to itself, then with it.');
    writeConfig([]);
    wrangler(words);
    writeConfig(selves);
    wrangler(words);
    return;
  }
  process.stderr.write(stderr);
  if (status !== 0) stop(status);
}

const config = await readConfig().catch(stopUnbuilt);
const bundle = await bundleWorker(config).catch(stopUnbuilt);
const selves = config.services.map((service) => ({ ...service, service: config.name }));
const folder = mkdtempSync(join(tmpdir(), 'gitveil-deploy-'));
process.on('exit', () => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(DEPLOYED_CONFIG, { force: true });
});
let namespaces = config.kv_namespaces;
writeConfig(selves);
if (!values['dry-run']) {
  prepareDatabase();
  namespaces = prepareNamespaces();
  writeConfig(selves);
}
const file = join(folder, 'worker.js');
writeFileSync(file, bundle);
// wrangler would bundle the same code, but its minifier chooses other short names.
const asBuilt = [file, `--config=${DEPLOYED_CONFIG}`, '--no-bundle', '--minify=false'];
const facts = [`COMMIT_HASH:${await currentCommit()}`, `BUNDLE_HASH:${bundleHash(bundle)}`];
upload(['deploy', ...asBuilt, ...facts.flatMap((fact) => ['--var', fact]), ...handedOn]);
