/**
 * `npm run build`: prints the Worker's bundle as it is deployed; with `--hash`, only its SHA-256,
 * as /health reports it. `npm run build -- --keep` keeps what `npm start` would bundle each time.
 */
import { readArguments } from '../arguments.ts';
import { bundleHash, readConfig } from './build.ts';
import { bundleWorker } from './esbuild.ts';
import { keepBuild } from './kept-build.ts';

const USAGE = `
Usage: npm run --silent build [-- --hash | --keep]

Prints the Worker's bundle, one file of JavaScript, as it is deployed.

  --hash   prints only the bundle's SHA-256, as /health reports it
  --keep   builds once what npm start would otherwise build at each start, and prints where it is
`;

const { values } = readArguments(USAGE, { hash: { type: 'boolean' }, keep: { type: 'boolean' } });
if (values.keep === true) {
  process.stdout.write(`npm start will use this build: ${await keepBuild()}\n`);
} else {
  const bundle = await bundleWorker(await readConfig());
  process.stdout.write(values.hash === true ? `${bundleHash(bundle)}\n` : bundle);
}
