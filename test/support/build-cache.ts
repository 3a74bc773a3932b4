/**
 * Builds foreign programs once, in a folder outside the repository.
 *
 * A build is found again by a hash of its sources, so a changed source is built anew and an old
 * build is never run.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { run } from '../e2e/support/run.ts';

const HASH_LENGTH = 12;
/** The last lines of a failed build say what is missing. */
const SHOWN_LINES = 3;

export interface CachedBuild {
  readonly name: string;
  readonly sources: readonly string[];
  /** Commands that fill a folder, one after the other. */
  steps(folder: string): readonly (readonly string[])[];
}

export type BuildResult =
  | { readonly kind: 'built'; readonly folder: string }
  /** @property reason why this machine cannot build it. */
  | { readonly kind: 'failed'; readonly reason: string };

/** The folder that a variable of the environment names, or else one in the user's cache. */
export function cacheFolder(variable: string, name: string): string {
  const { [variable]: named, XDG_CACHE_HOME } = process.env;
  return named ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), name);
}

export async function buildOnce(build: CachedBuild, cache: string): Promise<BuildResult> {
  const folder = join(cache, `${build.name.replaceAll(/\W+/g, '-')}-${hashOf(build.sources)}`);
  const reason = existsSync(folder) ? null : await fill(build, folder);
  return reason === null ? { kind: 'built', folder } : { kind: 'failed', reason };
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
async function fill(build: CachedBuild, folder: string): Promise<string | null> {
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
