/** The embedded code host, which `npm start` uses if there is no bot account. */
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { tokenVariable } from '../src/config/hosts.ts';
import { type Config, isLoopback } from '../src/config.ts';
import { claimPort } from './ports.ts';
import { SEED, seedRepository } from './seed.ts';

/** The variables that make the service use it. */
export const HOST_VARIABLES = [
  'HOSTING_URL',
  'HOSTING_API_URL',
  'HOSTING_TOKEN',
  'NOTIFY_BASE_URL',
  'LIMIT_CREATIONS',
] as const;

/** It is no secret: whoever can reach this host may act as the maintainer on its pages, too. */
export const MAINTAINER_PASSWORD = 'maintainer';

/** It does not limit its bot as GitHub does. */
const CALLS_AN_HOUR = 1_000_000;
const CREATIONS = '10000/1h';

/** Whether no bot account is configured at any code host. */
export function isHostEmbedded({ hosts }: Pick<Config, 'hosts'>): boolean {
  return hosts.every(({ token }) => token === null);
}

/** Why it may not start; null if it may. It is a toy: the public must not take it for a real code host. */
export function embeddingProblem({
  hosts,
  serviceUrl,
  isServiceUrlGiven,
  onionUrl,
}: Pick<Config, 'hosts' | 'serviceUrl' | 'isServiceUrlGiven' | 'onionUrl'>): string | null {
  const { hostname } = new URL(serviceUrl);
  const isPublic = isServiceUrlGiven && !isLoopback(hostname.replaceAll(/[[\]]/g, ''));
  if (!isPublic && onionUrl === null) return null;
  const [variable, address] = isPublic ? ['SERVICE_URL', serviceUrl] : ['ONION_URL', onionUrl];
  const tokens = hosts.map(({ key }) => tokenVariable(key)).join(' or ');
  return (
    `${variable} is "${address}", which is not an address of this machine only, and ${tokens} is not set: ` +
    `set ${tokens} to the token of the bot account; or unset ${variable}, to try the service with the embedded code host`
  );
}

/**
 * Starts it beside the service, with one small repository.
 * @param dir where it keeps its state. @param forgetLimits what a button of its front page does.
 */
export async function startEmbeddedHost(
  servicePort: number,
  dir: string,
  forgetLimits: () => Promise<void>,
): Promise<Sandbox> {
  // The same port each time, because the state contains addresses of pull requests.
  const nextPort = servicePort < 65_535 ? servicePort + 1 : 0;
  const port = await claimPort('127.0.0.1', nextPort).catch(() => 0);
  const sandbox = await startSandbox({
    port,
    dir,
    maintainerPassword: MAINTAINER_PASSWORD,
    callsAnHour: CALLS_AN_HOUR,
    forgetLimits,
  });
  if (!sandbox.hasRepository(SEED)) {
    await seedRepository(sandbox.createRepository(SEED), new Date());
    const { owner, name } = SEED;
    sandbox.maintainer.openIssue(
      owner,
      name,
      'Say hello in other languages',
      'Which ones? Comment here, or send a change.',
    );
  }
  return sandbox;
}

/** @param env of the operator. */
export function hostVariables(
  sandbox: Sandbox,
  env: Readonly<Record<string, string>>,
): Record<(typeof HOST_VARIABLES)[number], string> {
  return {
    LIMIT_CREATIONS: env['LIMIT_CREATIONS'] ?? CREATIONS,
    HOSTING_URL: sandbox.url,
    HOSTING_API_URL: sandbox.apiUrl,
    HOSTING_TOKEN: sandbox.botToken,
    NOTIFY_BASE_URL: sandbox.notifyUrl,
  };
}
