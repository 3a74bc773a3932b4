/** The Worker of bench/support/engine-worker.ts in a workerd of its own. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { Miniflare, convertV4MiniflareOptions } from 'miniflare';
import { answerQuestions } from './helper.ts';

let miniflare: Miniflare | null = null;

const actions = {
  /** Answers the Worker's address. */
  async start(): Promise<string> {
    const { outputFiles } = await build({
      entryPoints: [join(import.meta.dirname, 'engine-worker.ts')],
      bundle: true,
      write: false,
      format: 'esm',
      target: 'es2024',
      external: ['node:*'],
    });
    miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: outputFiles[0]?.text ?? '',
        compatibilityDate: '2026-11-01',
        compatibilityFlags: ['nodejs_compat'],
        cf: false,
        telemetry: { enabled: false },
      }),
    );
    return (await miniflare.ready).origin;
  },
};

export type EngineActions = typeof actions;

answerQuestions(actions, async () => {
  await miniflare?.dispose();
});
