/** The pack engine inside workerd, at work on one pack. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import type { WorkerBuild } from '../../local/deploy/build.ts';
import type { Pack } from './git.ts';
import { Helper } from './helper.ts';
import { builtWorker } from './rig.ts';
import type { ServiceActions } from './service-process.ts';
import type { Workspace } from './workspace.ts';

/** Kinds of work that the Worker can do with its pack. */
export type Work = 'scan' | 'inflateEach';

export class Engine {
  readonly #url: string;

  private constructor(url: string) {
    this.#url = url;
  }

  /** Gives `use` an engine that holds the pack, and ends the engine in any case. */
  static async with<T>(workspace: Workspace, pack: Pack, use: (engine: Engine) => Promise<T>): Promise<T> {
    const build = await workspace.once('the built engine', async () =>
      engineBuild(await builtWorker(workspace)),
    );
    const helper = new Helper<ServiceActions>(join(import.meta.dirname, 'service-process.ts'));
    try {
      const { url } = await helper.ask('start', { build, env: {} });
      const engine = new Engine(url);
      await engine.#request('pack', { method: 'POST', body: readFileSync(pack.path) });
      return await use(engine);
    } finally {
      await helper.end();
    }
  }

  /** Measures the milliseconds that the work takes once. */
  async time(work: Work, times: number): Promise<number> {
    const began = process.hrtime.bigint();
    await this.#request(`${work}?times=${times}`);
    return Number(process.hrtime.bigint() - began) / 1e6 / times;
  }

  async #request(path: string, init: RequestInit = {}): Promise<void> {
    const answer = await fetch(`${this.#url}/${path}`, init);
    if (!answer.ok) throw new Error(`the engine answered ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
  }
}

/** Builds the engine's Worker, which runs in the service's place, without its bindings. */
async function engineBuild(service: WorkerBuild): Promise<WorkerBuild> {
  const { outputFiles } = await bundle({
    entryPoints: [join(import.meta.dirname, 'engine-worker.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    external: ['node:*'],
  });
  const none = {
    vars: {},
    versionMetadata: null,
    databases: [],
    kvNamespaces: [],
    selves: [],
    durableObjects: {},
  };
  return {
    ...service,
    script: outputFiles[0]?.text ?? '',
    migrations: [],
    settings: { ...service.settings, ...none },
  };
}
