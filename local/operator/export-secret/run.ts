/**
 * `npm run export-secret`: prints the secret that the service on this machine has created, to be
 * given as IDENTITY_SECRET when it moves. Only reads; the service may run meanwhile.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deserialize } from 'node:v8';
import { type Config, parseConfig } from '../../../src/config/config.ts';
import { readArguments } from '../../arguments.ts';
import { complain, variables, withVariables } from '../../environment.ts';

/**
 * Folder in which workerd keeps a file for each object of the class. A table of its own in that
 * file has the object's values.
 */
const FOLDER = 'service/do/gitveil-ServiceSecret';
const OBJECT_FILE_PATTERN = /^[0-9a-f]{64}\.sqlite$/;
/** The table is made with the first value: a service with an IDENTITY_SECRET has none. */
const TABLE_QUERY = "SELECT 1 FROM sqlite_master WHERE name = '_cf_KV'";
const QUERY = "SELECT value FROM _cf_KV WHERE key = 'secret'";

/** Reads the secret; `null` if the service has created none there. */
function madeSecret(stateDir: string): string | null {
  const folder = join(stateDir, FOLDER);
  const file = filesIn(folder).find((name) => OBJECT_FILE_PATTERN.test(name));
  if (file === undefined) return null;
  const database = new DatabaseSync(join(folder, file), { readOnly: true });
  try {
    if (database.prepare(TABLE_QUERY).get() === undefined) return null;
    const row = database.prepare(QUERY).get() as { value: Uint8Array } | undefined;
    return row === undefined ? null : (deserialize(row.value) as string);
  } finally {
    database.close();
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

readArguments(
  `
Usage: npm run --silent export-secret

Prints the secret that the service made for itself in STATE_DIR (default: .state). Give it to the service as
IDENTITY_SECRET when you move it to another place. Nobody else may see it.
`,
  {},
);

function printSecret({ stateDir, identitySecret }: Config): void {
  const secret = madeSecret(stateDir);
  if (secret !== null) return void process.stdout.write(`${secret}\n`);
  const next =
    identitySecret === null
      ? withVariables('npm run --silent export-secret')
      : 'It uses the IDENTITY_SECRET that it was given: keep that one.';
  complain(`there is no secret that the service created in STATE_DIR ${JSON.stringify(stateDir)}.\n${next}`);
}

const result = parseConfig(variables());
if (result.kind === 'valid') printSecret(result.config);
else for (const { message } of result.problems) complain(message);
