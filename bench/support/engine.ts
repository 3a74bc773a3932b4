/** The pack engine inside workerd, at work on one pack. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pack } from './git.ts';
import { Helper } from './helper.ts';
import type { WorkerActions } from './worker-process.ts';

/** What the Worker can do with its pack. */
export type Work = 'scan' | 'inflateEach';

export class Engine {
  readonly #url: string;

  private constructor(url: string) {
    this.#url = url;
  }

  /** Gives `use` an engine that holds the pack, and ends it whatever happens. */
  static async with<T>(pack: Pack, use: (engine: Engine) => Promise<T>): Promise<T> {
    const helper = new Helper<WorkerActions>(join(import.meta.dirname, 'worker-process.ts'));
    try {
      const { url } = await helper.ask('start', { file: 'engine-worker.ts' });
      const engine = new Engine(url);
      await engine.#request('pack', { method: 'POST', body: readFileSync(pack.path) });
      return await use(engine);
    } finally {
      await helper.end();
    }
  }

  /** Milliseconds that the work takes once. */
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
