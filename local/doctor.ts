/**
 * `npm run doctor`: looks at all that the service needs here, and says on one screen what is wrong and what to do. It
 * ends with 1 if something does not work.
 */
import { existsSync, rmdirSync, statfsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../src/config.ts';
import { variablesIn } from '../src/config/environment-reader.ts';
import { hostNameOf } from '../src/config/hosts.ts';
import { readArguments } from './arguments.ts';
import { readConfiguration } from './configuration.ts';
import { isHostEmbedded } from './embedded-host.ts';
import { type Finding, screenOf } from './finding.ts';
import { checkHost } from './host-check.ts';
import { stateDirProblem } from './state-dir.ts';

const USAGE = `
Usage: npm run doctor

Looks at what the service needs on this machine: its configuration, its code hosts and the bot's tokens there, the clock,
and the disk. It takes the variables of npm start, which docs/configuration.md lists, and changes nothing. It ends with 1
if something does not work.
`;

/** Commits, limits and signed requests take their time from the clock. */
const MOST_AHEAD_MS = 60_000;
const MB = 1_000_000;
/** One large push. */
const LEAST_FREE_MB = 100;

/** As npm start judges it. */
function configurationFindings(problems: readonly string[], warnings: readonly string[]): Finding[] {
  const found = [
    ...problems.map((remedy) => ({ state: 'problem' as const, remedy })),
    ...warnings.map((remedy) => ({ state: 'warning' as const, remedy })),
  ].map(({ state, remedy }) => {
    const [says = ''] = remedy.split(/[:;,]/);
    return { subject: 'configuration', state, says, remedy: `${remedy}.` };
  });
  const set = variablesIn(process.env).length;
  const says = `${set === 1 ? '1 variable is' : `${set} variables are`} set`;
  return found.length > 0 ? found : [{ subject: 'configuration', state: 'ok', says }];
}

async function hostFindings(config: Config): Promise<Finding[]> {
  if (isHostEmbedded(config)) {
    return [
      { subject: 'host gh', state: 'ok', says: 'embedded: it starts with the service, and needs no token' },
    ];
  }
  const checks = await Promise.all(config.hosts.map(checkHost));
  const clocks = config.hosts.flatMap((host, index) => {
    const aheadMs = checks[index]?.aheadMs ?? null;
    return aheadMs === null ? [] : [{ name: hostNameOf(host), aheadMs }];
  });
  return [...checks.flatMap(({ findings }) => findings), clockFinding(clocks)];
}

/** Most hosts are right: one with a wrong clock says nothing of this machine. */
function clockFinding(clocks: readonly { readonly name: string; readonly aheadMs: number }[]): Finding {
  const [middle] = clocks.toSorted((a, b) => a.aheadMs - b.aheadMs).slice(Math.floor(clocks.length / 2));
  const subject = 'clock';
  if (middle === undefined)
    return { subject, state: 'warning', says: 'not compared: no code host says what time it is' };
  const seconds = Math.round(Math.abs(middle.aheadMs) / 1000);
  const direction = middle.aheadMs > 0 ? 'ahead of' : 'behind';
  const says = seconds < 2 ? `as at ${middle.name}` : `${seconds} s ${direction} ${middle.name}`;
  if (Math.abs(middle.aheadMs) < MOST_AHEAD_MS) return { subject, state: 'ok', says };
  const remedy =
    'Set this machine’s clock by NTP, for example with `timedatectl set-ntp true`: dates of commits and limits depend on it.';
  return { subject, state: 'problem', says, remedy };
}

/** Tries it as the start does, and leaves no folder that was not there. */
function diskFinding({ stateDir, spoolMb, heldMb }: Config): Finding {
  const subject = 'disk';
  const folder = resolve(stateDir);
  const isNew = !existsSync(folder);
  const remedy = stateDirProblem(stateDir, []);
  if (remedy !== null)
    return { subject, state: 'problem', says: `${stateDir} cannot be used`, remedy: `${remedy}.` };
  const { bavail, bsize } = statfsSync(folder);
  if (isNew) rmdirSync(folder);
  const freeMb = Math.floor((bavail * bsize) / MB);
  const says = `${(freeMb / 1000).toFixed(1)} GB free in ${stateDir}`;
  if (freeMb >= spoolMb + heldMb) return { subject, state: 'ok', says };
  return {
    subject,
    state: freeMb < LEAST_FREE_MB ? 'problem' : 'warning',
    says,
    remedy: `Pushes may take SPOOL_MB and HELD_MB, ${spoolMb + heldMb} MB in all. Free some room, set STATE_DIR to a larger disk, or set these lower.`,
  };
}

readArguments(USAGE, {});
const { config, problems, warnings } = readConfiguration();
const findings = [
  ...configurationFindings(problems, warnings),
  ...(config === null ? [] : [...(await hostFindings(config)), diskFinding(config)]),
];
console.log(screenOf(findings));
process.exitCode = findings.some(({ state }) => state === 'problem') ? 1 : 0;
