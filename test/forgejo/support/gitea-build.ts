/**
 * A Gitea of its own for the tests, built once from Go's module proxy: some five minutes, and 150
 * MB in a folder outside the repository (`GITVEIL_GITEA`, or else one in the user's cache).
 *
 * `go install code.gitea.io/gitea@…` refuses a module whose go.mod has replace directives. So the
 * module is downloaded, copied to where it can be written, and built there. It comes without the
 * pages' scripts and styles, which no test needs.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildOnce, type CachedBuild, cacheFolder } from '../../support/build-cache.ts';

/** Changes that are made to each version before it is built. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  '1.26.0': [],
  '1.27.3': [
    // Public proxies have it under its former name only.
    'go -C source mod edit -replace gitea.dev/actions-proto-go=code.gitea.io/actions-proto-go@v0.6.0',
    // Imports from other servers, by modules that are on no public proxy.
    'rm source/services/migrations/gitea_downloader.go source/services/migrations/gitlab.go',
  ],
};
const USUAL_VERSION = '1.26.0';

function buildOf(version: string): CachedBuild {
  const module = `code.gitea.io/gitea@v${version}`;
  const changes = VERSIONS[version];
  if (changes === undefined) throw new Error(`GITVEIL_GITEA_VERSION: ${Object.keys(VERSIONS).join(' or ')}`);
  return {
    name: `gitea-${version}`,
    sources: [import.meta.filename],
    steps: () => [
      ['go', 'mod', 'download', module],
      ['sh', '-c', `cp -r "$(go env GOMODCACHE)/${module}" source && chmod -R u+w source`],
      ...changes.map((change) => change.split(' ')),
      'go -C source build -mod=mod -o ../gitea -tags sqlite,sqlite_unlock_notify'
        .split(' ')
        .concat('-ldflags', `-X main.Version=${version}`, '.'),
      // Read when it runs.
      ['sh', '-c', 'mv source/templates source/options source/public . && rm -rf source'],
    ],
  };
}

export type GiteaProgram =
  /** @property folder with its templates and options; null: they are in the program. */
  | { readonly kind: 'ready'; readonly program: string; readonly folder: string | null }
  | { readonly kind: 'missing'; readonly reason: string };

/**
 * Gitea, or why this machine has none. `GITVEIL_GITEA_VERSION` chooses another version.
 * `GITVEIL_FORGE` names another program in its place, for example a release of Forgejo.
 */
export async function giteaProgram(): Promise<GiteaProgram> {
  const { GITVEIL_FORGE: program, GITVEIL_GITEA_VERSION: version = USUAL_VERSION } = process.env;
  if (program !== undefined) {
    const folder = dirname(program);
    return { kind: 'ready', program, folder: existsSync(join(folder, 'templates')) ? folder : null };
  }
  const result = await buildOnce(buildOf(version), cacheFolder('GITVEIL_GITEA', 'gitveil-gitea'));
  return result.kind === 'built'
    ? { kind: 'ready', program: join(result.folder, 'gitea'), folder: result.folder }
    : { kind: 'missing', reason: result.reason };
}
