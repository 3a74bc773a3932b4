/**
 * `npm run build`: prints the Worker's bundle as it is deployed; with `--hash`, only its SHA-256, as /health reports it.
 * `npm run build -- --keep` keeps what `npm start` would bundle each time.
 */
import { bundleHash, readConfig } from './build.ts';
import { bundleWorker } from './esbuild.ts';
import { keepBuild } from './kept-build.ts';

if (process.argv.includes('--keep')) {
  process.stdout.write(`kept for npm start: ${await keepBuild()}\n`);
} else {
  const bundle = await bundleWorker(await readConfig());
  process.stdout.write(process.argv.includes('--hash') ? `${bundleHash(bundle)}\n` : bundle);
}
