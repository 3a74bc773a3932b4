/**
 * `npm run doctor`: checks everything that the service needs here, and says on one screen what is
 * wrong and what to do. It ends with 1 if something does not work.
 */
import type { Config } from '../../src/config/config.ts';
import { variablesIn } from '../../src/config/environment-reader.ts';
import { hostNameOf } from '../../src/config/hosts.ts';
import { alertFindings, testAlertFindings } from './alert-check.ts';
import { appFindings } from './app-check.ts';
import { readArguments } from '../arguments.ts';
import { readConfiguration } from '../configuration.ts';
import { isHostEmbedded } from '../runtime/embedded-host.ts';
import { type Finding, screenOf } from './finding.ts';
import { checkHost } from './host-check.ts';
import { clockFinding, diskFinding } from './machine-check.ts';
import { wallFindings } from './wall-check.ts';

const USAGE = `
Usage: npm run doctor [-- --alert]

Looks at what the service needs on this machine: its configuration, its code hosts and the bot's tokens
there, its GitHub App, whether something in front of SERVICE_URL stops pushes, where alerts go, the clock,
and the disk. It takes the variables of npm start, which docs/configuration.md lists, and changes nothing.
It ends with 1 if something does not work.

  --alert  also asks the running service at SERVICE_URL, with its PANIC_PASSWORD, to send a test alert
`;

/** Judges the configuration as `npm start` does. */
function configurationFindings(problems: readonly string[], warnings: readonly string[]): Finding[] {
  const found = [
    ...problems.map((remedy) => ({ state: 'problem' as const, remedy })),
    ...warnings.map((remedy) => ({ state: 'warning' as const, remedy })),
  ].map(({ state, remedy }) => {
    const [says = ''] = remedy.split(/[:;,] /);
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

/** Checks the App of the main host, if the service has one. */
async function appOf(config: Config): Promise<Finding[]> {
  const [host] = config.hosts;
  const { githubWebhookSecret: webhookSecret, serviceUrl } = config;
  if (host.app !== undefined) {
    const { id, key } = host.app;
    return appFindings({ host, id, token: (now) => key.token(id, now), webhookSecret, serviceUrl });
  }
  if (webhookSecret === null) return [];
  const remedy = 'Set GITHUB_APP_ID and GITHUB_APP_KEY, or unset GITHUB_WEBHOOK_SECRET.';
  return [{ subject: 'app', state: 'warning', says: 'none, but its webhook has a secret', remedy }];
}

async function alertsOf(config: Config): Promise<Finding[]> {
  const test = values.alert ? await testAlertFindings(config) : [];
  // A trial needs no alerts.
  const isTrial = isHostEmbedded(config) && config.notifyAdminTopic === null;
  return isTrial ? test : [...alertFindings(config), ...test];
}

function reportFindings({ privateReports }: Config): Finding[] {
  const says =
    privateReports === 'app'
      ? 'by the GitHub App, where it is installed and may'
      : 'whoever can sign in as the bot can read them';
  return privateReports === 'off' ? [] : [{ subject: 'private reports', state: 'ok', says }];
}

const { values } = readArguments(USAGE, { alert: { type: 'boolean', default: false } });
const { config, problems, warnings } = readConfiguration();
const findings = [
  ...configurationFindings(problems, warnings),
  ...(config === null
    ? []
    : [
        ...(await hostFindings(config)),
        ...(await appOf(config)),
        ...(await wallFindings(config)),
        ...reportFindings(config),
        ...(await alertsOf(config)),
        diskFinding(config),
      ]),
];
console.log(screenOf(findings));
process.exitCode = findings.some(({ state }) => state === 'problem') ? 1 : 0;
