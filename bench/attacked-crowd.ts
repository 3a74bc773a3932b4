/**
 * `npx node bench/attacked-crowd.ts`: how long 200 honest people wait who clone, push and comment,
 * by themselves and beside one attacker who sends 100 KiB a second of what costs the service most.
 * Each of them meets a new service and a new code host: the embedded host takes longer, the more
 * branches and pull requests there are, as git itself does. The service does not
 * (test/limits/creations.test.ts). Prints the table of docs/operations.md. Half an hour, on a
 * machine that does nothing else.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { readArguments } from '../local/arguments.ts';
import { pkt } from '../test/support/pkt-line.ts';
import { pushBody, RECEIVE_PACK } from '../test/e2e/support/wire.ts';
import { type Crowd, honestPeople, type Waits } from './support/honest-crowd.ts';
import { git } from './support/git.ts';
import { lineOfCommits } from './support/repositories.ts';
import { withRig } from './support/rig.ts';
import { worstPushes } from './support/worst-pushes.ts';
import { Workspace } from './support/workspace.ts';

const PEOPLE = 200;
const BYTES_A_SECOND = 100 * 1024;
const KB = 1_000;
const WARM_UP_SECONDS = 20;
const USAGE = `Usage: npx node bench/attacked-crowd.ts [--seconds 120] [--only WORDS]

Prints the table of docs/operations.md.

  --seconds 120  of each phase: the crowd alone, and twelve attacks
  --only WORDS   only the attacks that have these words in their names
`;
const HEAD = ['Beside', 'Median, ms', '95 %, ms', 'Longest, ms', 'Times the 95 % of nobody'];

interface Attack {
  readonly name: string;
  readonly path: 'git-receive-pack' | 'git-upload-pack';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The worst push of each family of `worstPushes`. */
const WORST = [
  'files of " gho_"',
  'inserts of " gho_"',
  'copies of a byte, in many deltas',
  'messages of sign-offs',
  'messages of white space',
];

function* attacks(tip: string): Generator<Attack> {
  for (const bytes of [100 * KB, 1_000 * KB]) {
    for (const push of worstPushes(bytes, tip, WORST)) {
      const body = pushOf(push);
      const path = 'git-receive-pack';
      yield { name: `pushes of ${bytes / KB} KB, ${push.kind}`, path, headers: {}, body };
      if (bytes === 100 * KB && push.kind === WORST[0]) {
        const headers = { 'Content-Encoding': 'gzip' };
        yield { name: 'the same, compressed', path, headers, body: gzipSync(body) };
      }
    }
  }
  const lines = Array.from({ length: 5_000 }, () => pkt(`want ${randomBytes(20).toString('hex')}\n`));
  const fetched = Buffer.concat([pkt('command=fetch\n'), Buffer.from('0001'), ...lines, pkt(null)]);
  const headers = { 'Git-Protocol': 'version=2', 'Content-Encoding': 'gzip' };
  yield { name: 'fetches of made-up ids', path: 'git-upload-pack', headers, body: gzipSync(fetched) };
}

function pushOf({ newId, pack }: { newId: string; pack: Buffer }): Buffer {
  const options = ['preview', 'publish-names', 'sign-off'];
  return pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], options, pack });
}

/** Sends the same again and again, as fast as the line gives, whether or not it was answered. */
async function attack({ rig, target }: Crowd, each: Attack, forMs: number): Promise<void> {
  const { path, headers, body } = each;
  const type = path === 'git-receive-pack' ? RECEIVE_PACK : 'application/x-git-upload-pack-request';
  const all = { 'Content-Type': type, 'CF-Connecting-IP': rig.newAddress(), ...headers };
  const sent: Promise<unknown>[] = [];
  for (const end = Date.now() + forMs; Date.now() < end;) {
    const answer = fetch(`${target.service}/${path}`, { method: 'POST', headers: all, body });
    sent.push(answer.then((answered) => answered.arrayBuffer()).catch(() => null));
    await setTimeout((1_000 * body.length) / BYTES_A_SECOND);
  }
  await Promise.all(sent);
}

/** How long at most so many of them waited, as a part of all. */
function longest({ ms }: Waits, part: number): number {
  return ms.toSorted((a, b) => a - b)[Math.floor(part * (ms.length - 1))] ?? 0;
}

function cellsOf(name: string, waits: Waits, alone: Waits): string[] {
  const parts = [0.5, 0.95, 1].map((part) => `${Math.round(longest(waits, part))}`);
  return [name, ...parts, (longest(waits, 0.95) / longest(alone, 0.95)).toFixed(2)];
}

/** Writes a table as `prettier` formats it. */
function markdown(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join(' | ')} |`;
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [head, ...others] = rows.map(line);
  return [head, line(rule), ...others].join('\n');
}

/** Measures the crowd for so long, at a new service. @param each null: nobody attacks. */
async function phase(workspace: Workspace, seconds: number, each: Attack | null): Promise<Waits> {
  const { source, client } = await lineOfCommits(workspace, 10);
  const tip = (await git(source, ['rev-parse', 'main'])).trim();
  return withRig(workspace, async (rig) => {
    const target = await rig.repository(source, client);
    const crowd: Crowd = { rig, target, tip, issue: await rig.openIssue(target) };
    await honestPeople(crowd, PEOPLE, 1_000 * Math.min(seconds, WARM_UP_SECONDS));
    const attacking = each && attack(crowd, each, 1_000 * seconds);
    const waits = await honestPeople(crowd, PEOPLE, 1_000 * seconds);
    await attacking;
    console.error(`${each?.name ?? 'nobody'}: ${waits.ms.length} actions, ${waits.failed} failed`);
    return waits;
  });
}

async function main(seconds: number, only: string): Promise<void> {
  const workspace = new Workspace();
  const { source } = await lineOfCommits(workspace, 10);
  const tip = (await git(source, ['rev-parse', 'main'])).trim();
  const alone = await phase(workspace, seconds, null);
  const rows = [HEAD, cellsOf('nobody', alone, alone)];
  for (const each of [...attacks(tip)].filter(({ name }) => name.includes(only)))
    rows.push(cellsOf(each.name, await phase(workspace, seconds, each), alone));
  console.log(markdown(rows));
}

if (import.meta.main) {
  const { values } = readArguments(USAGE, {
    seconds: { type: 'string', default: '120' },
    only: { type: 'string', default: '' },
  });
  await main(Number(values.seconds), values.only);
}
