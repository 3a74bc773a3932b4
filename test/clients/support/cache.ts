/**
 * Builds clients once, in a folder outside the repository: `GITVEIL_CLIENTS`, or else one in the user's cache.
 *
 * A build is found again by a hash of its sources, so a changed source is built anew and an old build is never run.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { run } from '../../e2e/support/run.ts';
import type { GitClient, Prepared } from './client.ts';

const HASH_LENGTH = 12;
/** The last lines of a failed build say what is missing. */
const SHOWN_LINES = 3;

export interface Build {
  readonly name: string;
  readonly sources: readonly string[];
  /** Commands that fill a folder, one after the other. */
  steps(folder: string): readonly (readonly string[])[];
  /** The client in that folder. */
  client(folder: string): GitClient;
}

/** Makes a client, or says why this machine cannot. */
export async function prepare(build: Build): Promise<Prepared> {
  const folder = join(cacheFolder(), `${build.name.replaceAll(/\W+/g, '-')}-${hashOf(build.sources)}`);
  const problem = existsSync(folder) ? null : await fill(build, folder);
  return problem === null
    ? { kind: 'ready', client: build.client(folder) }
    : { kind: 'missing', name: build.name, reason: problem };
}

/** The version that a file pins. @param pattern with the version as its group. */
export function pinned(path: string, pattern: RegExp): string {
  const [, version] = pattern.exec(readFileSync(path, 'utf8')) ?? [];
  if (version === undefined) throw new Error(`${path} does not match ${pattern}`);
  return version;
}

function cacheFolder(): string {
  const { GITVEIL_CLIENTS, XDG_CACHE_HOME } = process.env;
  return GITVEIL_CLIENTS ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'gitveil-clients');
}

function hashOf(sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of sources)
    hash
      .update(`${basename(path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  return hash.digest('hex').slice(0, HASH_LENGTH);
}

/** Answers the first problem; null if there was none. */
async function fill(build: Build, folder: string): Promise<string | null> {
  // Under a name of its own until it is complete: another run may build the same at this moment.
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    for (const step of build.steps(unfinished)) {
      const problem = await problemOf(step, unfinished);
      if (problem !== null) return problem;
    }
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return null;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function problemOf([program = '', ...args]: readonly string[], cwd: string): Promise<string | null> {
  try {
    // With the machine's whole environment: it says where registries and proxies are.
    const { code, stdout, stderr } = await run(program, args, { cwd, env: process.env });
    if (code === 0) return null;
    const lines = `${stdout.toString()}${stderr}`.trim().split('\n');
    return `${program} failed: ${lines.slice(-SHOWN_LINES).join(' | ')}`;
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isAbsent) return `there is no ${program} on this machine`;
    throw error;
  }
}
