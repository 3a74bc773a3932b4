/** The embedded code host, which `npm start` uses if there is no bot account. */
import { randomBytes } from 'node:crypto';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Config } from '../../src/config/config.ts';
import { HOOK_PATH } from '../../src/config/hosts.ts';
import { APP_PERMISSIONS } from '../app-permissions.ts';
import { claimPort } from './ports.ts';

/** Variables that make the service use the embedded code host. */
export const HOST_VARIABLES = [
  'HOSTING_URL',
  'HOSTING_API_URL',
  'HOSTING_TOKEN',
  'NOTIFY_BASE_URL',
  'LIMIT_CREATIONS',
  'PRIVATE_REPORTS',
  'GITHUB_APP_ID',
  'GITHUB_APP_KEY',
  'GITHUB_WEBHOOK_SECRET',
  'EMBEDDED_HOST',
] as const;

/**
 * Password for pushes as the maintainer. It is no secret: anybody who can reach this host can also
 * act as the maintainer on its pages.
 */
export const MAINTAINER_PASSWORD = 'maintainer';

/** Limit of the bot's calls. The embedded host does not limit its bot as GitHub does. */
const CALLS_AN_HOUR = 1_000_000;
const CREATIONS = '10000/1h';

/**
 * Time between two scheduled runs. It is short, so that people who try the service soon see what
 * their acts as the maintainer lead to.
 */
export const EMBEDDED_TICK_MS = 5_000;

/** Whether no bot account is configured at any code host. */
export function isHostEmbedded({ hosts }: Pick<Config, 'hosts'>): boolean {
  return hosts.every(({ token }) => token === null);
}

/**
 * Starts the embedded host beside the service, with one small repository.
 * @param dir the folder of its state.
 * @param forgetLimits the action of a button on its front page.
 */
export async function startEmbeddedHost(
  servicePort: number,
  dir: string,
  forgetLimits: () => Promise<void>,
): Promise<Sandbox> {
  // The same port each time, because the state contains addresses of pull requests.
  const nextPort = servicePort > 0 && servicePort < 65_535 ? servicePort + 1 : 0;
  const port = await claimPort('127.0.0.1', nextPort).catch(() => 0);
  // Imported here: a program that only asks whether the host is embedded need not load sixty files.
  const [{ startSandbox }, { SEED, seedRepository }] = await Promise.all([
    import('../../sandbox/sandbox.ts'),
    import('./seed.ts'),
  ]);
  const sandbox = await startSandbox({
    port,
    dir,
    maintainerPassword: MAINTAINER_PASSWORD,
    callsAnHour: CALLS_AN_HOUR,
    pollSeconds: EMBEDDED_TICK_MS / 1000,
    forgetLimits,
  });
  registerApp(sandbox, servicePort);
  if (!sandbox.hasRepository(SEED)) {
    await seedRepository(sandbox.createRepository({ ...SEED, takesPrivateReports: true }), new Date());
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

/**
 * Gives the host an App, which a maintainer may install on a repository's page. Its webhook calls
 * the service at once.
 */
function registerApp({ apps }: Sandbox, servicePort: number): void {
  const app = apps.app ?? apps.register({ slug: 'gitveil', permissions: APP_PERMISSIONS });
  const secret = app.webhook?.secret ?? randomBytes(20).toString('hex');
  // The port may be another one each time.
  app.webhook = { url: `http://127.0.0.1:${servicePort}${HOOK_PATH}`, secret };
  apps.webhooks.isHeld = false;
}

/**
 * Sets the variables that make the service use the embedded host.
 * @param env the operator's variables.
 */
export function hostVariables(
  sandbox: Sandbox,
  env: Readonly<Record<string, string>>,
): Record<(typeof HOST_VARIABLES)[number], string> {
  const { app } = sandbox.apps;
  return {
    LIMIT_CREATIONS: env['LIMIT_CREATIONS'] ?? CREATIONS,
    PRIVATE_REPORTS: env['PRIVATE_REPORTS'] ?? 'account',
    HOSTING_URL: sandbox.url,
    HOSTING_API_URL: sandbox.apiUrl,
    HOSTING_TOKEN: sandbox.botToken,
    NOTIFY_BASE_URL: env['NOTIFY_BASE_URL'] ?? sandbox.notifyUrl,
    GITHUB_APP_ID: String(app?.id ?? ''),
    GITHUB_APP_KEY: app?.key ?? '',
    GITHUB_WEBHOOK_SECRET: app?.webhook?.secret ?? '',
    EMBEDDED_HOST: 'true',
  };
}
