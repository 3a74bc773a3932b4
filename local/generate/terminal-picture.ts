/**
 * `npm run picture`: draws docs/images/push.svg, which shows what a person sees of a real push.
 *
 * The service and the embedded code host run on this machine for it. The picture has names of a
 * public service in place of local addresses, and a fixed hash, because each run has others. A test
 * compares it with another run.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { WorkerBuild } from '../deploy/build.ts';
import { readArguments } from '../arguments.ts';
import { hostVariables, startEmbeddedHost } from '../runtime/embedded-host.ts';
import { SEED } from '../runtime/seed.ts';
import { startService } from '../runtime/service.ts';

export const PICTURE = 'docs/images/push.svg';

const COMMANDS = [
  'git switch --quiet -c my-change',
  "echo 'Hello from nobody.' >> README.md",
  "git commit --quiet -am 'Greet from nobody'",
  'git push origin my-change',
] as const;

const run = promisify(execFile);

/**
 * Makes a first push, and answers what a terminal shows: each command behind `$ `, and what Git
 * prints after it.
 * @param build default: the Worker is built now
 */
export async function firstPush(build?: WorkerBuild): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gitveil-picture-'));
  const sandbox = await startEmbeddedHost(0, join(folder, 'host'), async () => {});
  const service = await startService({
    env: hostVariables(sandbox, {}),
    stateDir: null,
    writeLog: () => {},
    ...(build && { build }),
  });
  try {
    const clone = join(folder, SEED.name);
    const identity = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: folder };
    const env = {
      ...identity,
      PATH: process.env['PATH'],
      GIT_AUTHOR_NAME: 'Ada Lovelace',
      GIT_AUTHOR_EMAIL: 'ada@example.org',
      GIT_COMMITTER_NAME: 'Ada Lovelace',
      GIT_COMMITTER_EMAIL: 'ada@example.org',
    };
    await run('git', ['clone', '--quiet', `${service.url}/v1/gh/${SEED.owner}/${SEED.name}`, clone], { env });
    const lines: string[] = [];
    for (const command of COMMANDS) {
      const { stderr } = await run('sh', ['-c', command], { cwd: clone, env });
      lines.push(`$ ${command}`, ...stderr.trimEnd().split('\n').filter(Boolean));
    }
    const shown = lines.join('\n').replaceAll(service.url, 'https://gitveil.example.org');
    const named = shown.replaceAll(sandbox.notifyUrl, 'https://ntfy.sh');
    return masked(named.replaceAll(sandbox.url, 'https://code.example.org')).split('\n');
  } finally {
    await service.dispose();
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Replaces what differs between runs, such as the hash and the key. */
function masked(text: string): string {
  return text
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\b[0-9a-f]{32}\b/g, '2b61c09d5f8e47a3b1d6903ce7f24a58')
    .replaceAll(/\b[0-9a-f]{12}\b/g, '4f1c09ab72de')
    .replaceAll(/anon-[0-9a-f]{12}\b/g, 'anon-4f1c09ab72de');
}

const LINE_HEIGHT = 19;
const CHARACTER_WIDTH = 8.1;
const MARGIN = 20;

/** Draws an SVG for light and dark pages. */
export function terminalPicture(lines: readonly string[]): string {
  const width = Math.ceil(Math.max(...lines.map(({ length }) => length)) * CHARACTER_WIDTH) + 2 * MARGIN;
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
  const texts = lines.map((line, index) => {
    const kind = line.startsWith('$ ') ? ' class="typed"' : '';
    const text = escaped(line).replace(/^remote:/, '<tspan class="prefix">$&</tspan>');
    return `<text x="${MARGIN}" y="${MARGIN + (index + 0.75) * LINE_HEIGHT}"${kind}>${text}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
<title>A first push in a terminal</title>
<style>
.paper { fill: #f6f8fa } text { font: 13.5px ui-monospace, Menlo, Consolas, monospace; white-space: pre }
text { fill: #24292f } .prefix { fill: #656d76 } .typed { fill: #0a6b61; font-weight: bold }
@media (prefers-color-scheme: dark) { .paper { fill: #161b22 } text { fill: #e6edf3 } .prefix { fill: #9198a1 } .typed { fill: #56d4c4 } }
</style>
<rect class="paper" width="${width}" height="${height}" rx="8"/>
${texts.join('\n')}
</svg>
`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  readArguments(`Usage: npm run picture\n\nDraws ${PICTURE} from a real push to an embedded code host.`, {});
  writeFileSync(join(import.meta.dirname, '../..', PICTURE), terminalPicture(await firstPush()));
}
