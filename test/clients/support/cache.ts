/**
 * Builds clients once, in a folder outside the repository: `GITVEIL_CLIENTS`, or else one in the
 * user's cache.
 */
import { readFileSync } from 'node:fs';
import { buildOnce, type CachedBuild, cacheFolder } from '../../support/build-cache.ts';
import type { GitClient, Prepared } from './client.ts';

export interface Build extends CachedBuild {
  /** The client in that folder. */
  client(folder: string): GitClient;
}

/** Makes a client, or says why this machine cannot. */
export async function prepare(build: Build): Promise<Prepared> {
  const result = await buildOnce(build, cacheFolder('GITVEIL_CLIENTS', 'gitveil-clients'));
  return result.kind === 'built'
    ? { kind: 'ready', client: build.client(result.folder) }
    : { kind: 'missing', name: build.name, reason: result.reason };
}

/** The version that a file pins. @param pattern with the version as its group. */
export function pinned(path: string, pattern: RegExp): string {
  const [, version] = pattern.exec(readFileSync(path, 'utf8')) ?? [];
  if (version === undefined) throw new Error(`${path} does not match ${pattern}`);
  return version;
}
