/** A small Worker of bench/support that is started like the service. */
import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import type { WorkerBuild } from '../../local/deploy/build.ts';

/**
 * @param service whose runtime it shares: the compatibility date and flags.
 * @param entry its file.
 * @param durableObjects names of its classes, by their bindings
 */
export async function bareBuild(
  service: WorkerBuild,
  entry: string,
  durableObjects: Readonly<Record<string, string>> = {},
): Promise<WorkerBuild> {
  const { outputFiles } = await bundle({
    entryPoints: [join(import.meta.dirname, entry)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    external: ['cloudflare:*'],
  });
  const { compatibilityDate, compatibilityFlags } = service.settings;
  return {
    ...service,
    script: outputFiles[0]?.text ?? '',
    migrations: [],
    settings: {
      compatibilityDate,
      compatibilityFlags,
      vars: {},
      versionMetadata: null,
      databases: [],
      kvNamespaces: [],
      selves: [],
      durableObjects,
    },
  };
}
