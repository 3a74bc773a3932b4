/**
 * How fast the zlib walker passes over a whole pack inside workerd, against `inflateSync` an entry in the same workerd.
 *
 *     node bench/zlib-walker.ts [commits] [rounds]
 *
 * Each figure is the median of the rounds; the kinds of work take turns, so that a busy machine slows all of them.
 */
import { build } from 'esbuild';
import { Miniflare, convertV4MiniflareOptions } from 'miniflare';
import { join } from 'node:path';
import { syntheticPack } from './zlib-walker-pack.ts';

const KINDS = {
  push: 'walk: commits and starts of deltas kept',
  count: 'walk: nothing kept',
  keep: 'walk: everything kept and checked',
  inflate: 'inflateSync an entry',
} as const;

type Kind = keyof typeof KINDS;

export interface ZlibWalkerFigures {
  readonly packBytes: number;
  readonly entries: number;
  readonly medianMs: Readonly<Record<Kind, number>>;
}

export async function measureZlibWalker(commits = 9_100, rounds = 5): Promise<ZlibWalkerFigures> {
  const pack = await syntheticPack(commits);
  const bundled = await build({
    entryPoints: [join(import.meta.dirname, 'zlib-walker-worker.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    external: ['node:*'],
  });
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: bundled.outputFiles[0]!.text,
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      cf: false,
      telemetry: { enabled: false },
    }),
  );
  try {
    const url = await miniflare.ready;
    await fetch(url, { method: 'POST', body: pack });
    const times: Record<Kind, number[]> = { push: [], count: [], keep: [], inflate: [] };
    let entries = 0;
    // The first round is for the compiler.
    for (let round = 0; round <= rounds; round++) {
      for (const kind of Object.keys(KINDS) as Kind[]) {
        const repeats = kind === 'inflate' ? 1 : 3;
        const began = performance.now();
        entries = Number(await (await fetch(new URL(`${kind}?times=${repeats}`, url))).text());
        if (round > 0) times[kind].push((performance.now() - began) / repeats);
      }
    }
    const medianMs = Object.fromEntries(
      Object.entries(times).map(([kind, values]) => [kind, median(values)]),
    ) as Record<Kind, number>;
    return { packBytes: pack.length, entries, medianMs };
  } finally {
    await miniflare.dispose();
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

function print({ packBytes, entries, medianMs }: ZlibWalkerFigures): void {
  console.log(`pack of ${(packBytes / 1e6).toFixed(1)} MB, ${entries} entries, in workerd`);
  for (const [kind, what] of Object.entries(KINDS) as [Kind, string][]) {
    const ms = medianMs[kind];
    const figures = [`${ms.toFixed(0)} ms`, `${((ms * 1000) / entries).toFixed(2)} µs an entry`];
    if (kind !== 'inflate')
      figures.push(`${(medianMs.inflate / ms).toFixed(1)} times as fast as inflateSync`);
    console.log(`  ${what}: ${figures.join(', ')}`);
  }
}

if (import.meta.main) {
  const [commits, rounds] = process.argv.slice(2).map(Number);
  print(await measureZlibWalker(commits, rounds));
}
