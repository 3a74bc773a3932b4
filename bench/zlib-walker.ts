/**
 * The zlib walker by itself, inside workerd, over a pack with the shape of a real one; against
 * `inflateSync` an entry in the same workerd. What a push costs with all that stands around the
 * walker is measured by `npm run bench`.
 *
 *     node bench/zlib-walker.ts [FILE.pack]
 *
 * Without a file the pack is that of the other benchmarks, which git needs a minute for.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { Miniflare, convertV4MiniflareOptions } from 'miniflare';
import { medians } from './support/figures.ts';
import { codeRepository } from './support/repositories.ts';
import { Workspace } from './support/workspace.ts';

const ROUNDS = 7;

/**
 * Each with how often it is repeated within one request, which then takes long enough to be timed
 * from outside.
 */
const WORK = {
  push: { repeats: 3, what: 'walk, commits and the beginnings of deltas kept' },
  count: { repeats: 3, what: 'walk, nothing kept' },
  keep: { repeats: 3, what: 'walk, everything kept and its checksums verified' },
  inflate: { repeats: 1, what: 'inflateSync an entry' },
} as const;

type Kind = keyof typeof WORK;

export interface WalkerFigures {
  readonly entries: number;
  readonly medianMs: Readonly<Record<Kind, number>>;
}

export async function measureZlibWalker(pack: Uint8Array): Promise<WalkerFigures> {
  const { outputFiles } = await build({
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
      script: outputFiles[0]?.text ?? '',
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      cf: false,
      telemetry: { enabled: false },
    }),
  );
  try {
    const url = await miniflare.ready;
    const entries = Number(await textOf(url, { method: 'POST', body: pack }));
    const time = async (kind: Kind): Promise<number> => {
      const { repeats } = WORK[kind];
      const began = performance.now();
      await textOf(new URL(`${kind}?times=${repeats}`, url));
      return (performance.now() - began) / repeats;
    };
    const medianMs = await medians(ROUNDS, {
      push: () => time('push'),
      count: () => time('count'),
      keep: () => time('keep'),
      inflate: () => time('inflate'),
    });
    return { entries, medianMs };
  } finally {
    await miniflare.dispose();
  }
}

async function textOf(url: URL, init: RequestInit = {}): Promise<string> {
  const answer = await fetch(url, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the Worker answered ${answer.status}: ${text}`);
  return text;
}

async function packBytes(path: string | undefined): Promise<Uint8Array> {
  if (path !== undefined) return readFileSync(path);
  const { pack } = await codeRepository(new Workspace());
  return readFileSync(pack.path);
}

if (import.meta.main) {
  const pack = await packBytes(process.argv[2]);
  const { entries, medianMs } = await measureZlibWalker(pack);
  console.log(
    `${(pack.byteLength / 1e6).toFixed(1)} MB, ${entries} entries, medians of ${ROUNDS} in workerd:`,
  );
  for (const [kind, { what }] of Object.entries(WORK) as [Kind, (typeof WORK)[Kind]][]) {
    const ms = medianMs[kind];
    const each = `${ms.toFixed(0)} ms, ${((ms * 1000) / entries).toFixed(2)} µs an entry`;
    console.log(`  ${what}: ${each}, ${(ms / medianMs.inflate).toFixed(3)} of inflateSync`);
  }
}
