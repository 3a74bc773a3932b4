/** `npm run build`: prints the Worker's bundle as it is deployed; with `--hash`, only its SHA-256, as /health reports it. */
import { bundleHash, readConfig } from './build.ts';
import { bundleWorker } from './esbuild.ts';

const bundle = await bundleWorker(await readConfig());
process.stdout.write(process.argv.includes('--hash') ? `${bundleHash(bundle)}\n` : bundle);
