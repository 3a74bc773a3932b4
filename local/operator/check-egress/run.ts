/**
 * `npm run check-egress -- URL`: shows how a request of the deployed service looks from outside.
 *
 * URL is an address that echoes the request. A Worker with the service's HTTP client is deployed
 * under its own name, sends one request to that address, and is deleted again. The service itself
 * has no such endpoint, because it would be one more thing to attack. With `--local`, miniflare
 * runs the Worker on this machine.
 *
 * Exit code 1 if the answer contains a header that identifies a client, or the address of the
 * person who runs this.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from '../../arguments.ts';
import type { EgressReport } from './worker.ts';

const CONFIG = join(import.meta.dirname, 'wrangler.toml');
/** Time until a new workers.dev address answers everywhere. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 2_000;

/**
 * Headers by which Cloudflare or proxies tell who sent a request, from where, and through which
 * servers.
 */
const TELLTALE_HEADERS = [
  'CDN-Loop',
  'CF-Connecting-IP',
  'CF-Connecting-IPv6',
  'CF-EW-Via',
  'CF-IPCountry',
  'CF-Ray',
  'CF-Visitor',
  'CF-Worker',
  'Forwarded',
  'True-Client-IP',
  'Via',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Real-IP',
];

/** Finds the parts of a report that should not be there. */
function findings(text: string, clientAddress: string | null): string[] {
  const names = TELLTALE_HEADERS.filter((name) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`, 'i').test(text));
  const showsAddress = clientAddress !== null && text.includes(clientAddress);
  return showsAddress ? [...names, 'your own address'] : names;
}

async function onCloudflare(echoUrl: string): Promise<EgressReport> {
  const folder = mkdtempSync(join(tmpdir(), 'gitveil-egress-'));
  const outputPath = join(folder, 'output');
  try {
    wrangler(['deploy', '--config', CONFIG, '--var', `ECHO_URL:${echoUrl}`], {
      WRANGLER_OUTPUT_FILE_PATH: outputPath,
    });
    return await reportFrom(deployedAddress(readFileSync(outputPath, 'utf8')));
  } finally {
    wrangler(['delete', '--config', CONFIG, '--force'], {});
    rmSync(folder, { recursive: true });
  }
}

function wrangler(args: readonly string[], env: Readonly<Record<string, string>>): void {
  const stdio = ['inherit', 'ignore', 'inherit'] as const;
  const { status, error } = spawnSync('wrangler', args, {
    stdio: [...stdio],
    env: { ...process.env, ...env },
  });
  if (error !== undefined) throw new Error('This needs all packages. Run: npm ci', { cause: error });
  if (status !== 0) throw new Error(`"wrangler ${args[0]}" failed: is it logged in (npx wrangler login)?`);
}

/**
 * Reads the address of the deployed Worker.
 * @param output wrangler's report, a JSON object in each line.
 */
function deployedAddress(output: string): string {
  for (const line of output.split('\n').filter(Boolean)) {
    const { type, targets } = JSON.parse(line) as { type: string; targets?: string[] };
    const address = targets?.find((target) => target.startsWith('http'));
    if (type === 'deploy' && address !== undefined) return address;
  }
  throw new Error('wrangler names no address: the account needs a workers.dev subdomain');
}

async function reportFrom(address: string): Promise<EgressReport> {
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    const response = await fetch(address).catch(() => null);
    if (response?.ok === true) return response.json<EgressReport>();
    if (Date.now() > deadline) throw new Error(`${address} does not answer`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function onThisMachine(echoUrl: string): Promise<EgressReport> {
  const [{ build }, { Miniflare, convertV4MiniflareOptions }] = await Promise.all([
    import('esbuild'),
    import('miniflare'),
  ]);
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'worker.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2024',
    external: ['cloudflare:*', 'node:*'],
    write: false,
  });
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name: 'check-egress',
      modules: true,
      script: outputFiles[0]?.text ?? '',
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      bindings: { ECHO_URL: echoUrl },
      cf: false,
      telemetry: { enabled: false },
    }),
  );
  try {
    const report = (await (await miniflare.dispatchFetch('http://localhost/')).json()) as EgressReport;
    // On this machine, all addresses are the same.
    return { ...report, clientAddress: null };
  } finally {
    await miniflare.dispose();
  }
}

function print({ echo, clientAddress }: EgressReport): void {
  if ('error' in echo) {
    console.error(`The address could not be asked: ${echo.error}.`);
    console.error('Sockets do not reach servers on Cloudflare: see OUTGOING_FETCH_HOSTS in docs/deploy.md.');
    process.exitCode = 1;
    return;
  }
  console.log(`It answered ${echo.status}:\n\n${echo.text.trim()}\n`);
  const found = findings(echo.text, clientAddress);
  if (found.length === 0) {
    console.log('No header in it identifies a client. Check for yourself that nothing in it is yours.');
    return;
  }
  console.error(
    `This identifies a client: ${found.join(', ')}. A proxy before the echo address may add headers, too.`,
  );
  process.exitCode = 1;
}

const USAGE = `
Usage: npm run check-egress -- URL [--local]

Deploys a Worker that sends one request to URL, shows how the request looked there, and deletes the Worker again. URL is
the address of a server that echoes requests.

  --local   the Worker runs on this machine; needs no account
`;

const { values, positionals } = readArguments(
  USAGE,
  { local: { type: 'boolean', default: false } },
  { allowPositionals: true },
);
const [echoUrl = ''] = positionals;
if (!/^https?:\/\//.test(echoUrl) || !URL.canParse(echoUrl)) {
  console.error(USAGE.trim());
  process.exitCode = 1;
} else {
  try {
    print(await (values.local ? onThisMachine(echoUrl) : onCloudflare(echoUrl)));
  } catch (error) {
    console.error(error instanceof Error && error.message !== '' ? error.message : error);
    process.exitCode = 1;
  }
}
