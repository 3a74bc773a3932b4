/** A Worker of the benchmarks in a workerd of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { Miniflare, convertV4MiniflareOptions } from 'miniflare';
import { answerQuestions } from './helper.ts';

let miniflare: Miniflare | null = null;

/** A file beside this one, and the classes of its Durable Objects by their bindings. */
interface BenchWorker {
  readonly file: string;
  readonly objects?: Readonly<Record<string, string>>;
}

const actions = {
  async start({ file, objects = {} }: BenchWorker): Promise<{ url: string; workerdPid: number }> {
    const { outputFiles } = await build({
      entryPoints: [join(import.meta.dirname, file)],
      bundle: true,
      write: false,
      format: 'esm',
      target: 'es2024',
      external: ['node:*', 'cloudflare:*'],
    });
    const classes = Object.entries(objects).map(([binding, className]) => [
      binding,
      { className, useSQLite: true },
    ]);
    miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: outputFiles[0]?.text ?? '',
        compatibilityDate: '2026-11-01',
        compatibilityFlags: ['nodejs_compat'],
        durableObjects: Object.fromEntries(classes),
        cf: false,
        telemetry: { enabled: false },
      }),
    );
    return { url: (await miniflare.ready).origin, workerdPid: child() };
  },
};

export type WorkerActions = typeof actions;

/** workerd, the last process that this one has started. */
function child(): number {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  return Number(children.trim().split(' ').at(-1));
}

answerQuestions(actions, async () => {
  await miniflare?.dispose();
});
