/**
 * A Gitea of its own for the tests, built once from Go's module proxy: some five minutes, and 150 MB in a folder outside
 * the repository (`GITVEIL_GITEA`, or else one in the user's cache).
 *
 * `go install code.gitea.io/gitea@…` refuses a module whose go.mod has replace directives. So the module is downloaded,
 * copied to where it can be written, and built there. It comes without the pages' scripts and styles, which no test needs.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildOnce, type CachedBuild, cacheFolder } from '../../support/build-cache.ts';

const VERSION = '1.26.0';
const MODULE = `code.gitea.io/gitea@v${VERSION}`;

const BUILD: CachedBuild = {
  name: `gitea-${VERSION}`,
  sources: [import.meta.filename],
  steps: () => [
    ['go', 'mod', 'download', MODULE],
    ['sh', '-c', `cp -r "$(go env GOMODCACHE)/${MODULE}" source && chmod -R u+w source`],
    'go -C source build -o ../gitea -tags sqlite,sqlite_unlock_notify'
      .split(' ')
      .concat('-ldflags', `-X main.Version=${VERSION}`, '.'),
    // Read when it runs.
    ['sh', '-c', 'mv source/templates source/options source/public . && rm -rf source'],
  ],
};

export type GiteaProgram =
  /** @property folder with its templates and options; null: they are in the program. */
  | { readonly kind: 'ready'; readonly program: string; readonly folder: string | null }
  | { readonly kind: 'missing'; readonly reason: string };

/**
 * Gitea, or say why this machine has none. `GITVEIL_FORGE` names another program in its place, for example a release of
 * Forgejo.
 */
export async function giteaProgram(): Promise<GiteaProgram> {
  const { GITVEIL_FORGE: program } = process.env;
  if (program !== undefined) {
    const folder = dirname(program);
    return { kind: 'ready', program, folder: existsSync(join(folder, 'templates')) ? folder : null };
  }
  const result = await buildOnce(BUILD, cacheFolder('GITVEIL_GITEA', 'gitveil-gitea'));
  return result.kind === 'built'
    ? { kind: 'ready', program: join(result.folder, 'gitea'), folder: result.folder }
    : { kind: 'missing', reason: result.reason };
}
