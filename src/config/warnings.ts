/** What makes a service run otherwise than its operator may expect. */
import { nearName } from '../near-name.ts';
import { type AnyVariable, type Settings, VARIABLES, variablesIn } from './environment-reader.ts';
import { type HostConfig, isHostTokenVariable, tokenVariable } from './hosts.ts';
import { isLoopback } from './values.ts';

/** Shorter names, such as HOME and HOST, are often near each other by chance. */
const LEAST_MISSPELT_LENGTH = 8;

/** Words near those of our names. A name that has one is spelt as it was meant, such as NOTION_TOKEN or STATIC_DIR. */
const OTHER_WORDS: ReadonlySet<string> = new Set(
  (
    'BASIC HEAD LOAD NETLIFY NOTION READY REF REPOS REV ROUTING STAGE START STATIC STATS STORE TESTING ' +
    'UID WAIT'
  ).split(' '),
);

/** The service runs, but perhaps not as the operator expects. */
export interface ConfigWarning {
  /** The one to set. */
  readonly variable: AnyVariable;
  readonly message: string;
}

type Judged = 'host' | 'clientIpHeader' | 'notifyAdminTopic' | 'panicPassword' | 'operatorContact';
/** What was read. */
interface Read extends Pick<Settings, Judged> {
  readonly hosts: readonly HostConfig[];
  readonly serviceUrl: string;
  readonly isServiceUrlGiven: boolean;
}

export function warningsOf(
  env: Readonly<Record<string, unknown>>,
  { hosts, host, serviceUrl, isServiceUrlGiven, ...config }: Read,
): readonly ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  const warn = (variable: AnyVariable, problem: string) =>
    void warnings.push({ variable, message: `${variable} ${problem}` });

  for (const [set, other] of [['DB_URL', 'DB_KEY'] as const, ['DB_KEY', 'DB_URL'] as const]) {
    const consequence = "statistics and karma stay in the service's own database";
    const message = `${set} is set, but ${other} is not: ${consequence}; set both, or none`;
    if (env[set] && !env[other]) warnings.push({ variable: other, message });
  }
  // A key that was mistyped would leave its host without a bot.
  const tokens = new Set<string>(hosts.map(({ key }) => tokenVariable(key)));
  for (const name of Object.keys(env))
    if (isHostTokenVariable(name) && !tokens.has(name))
      warn(name, 'is set, but HOSTS names no host with that key');
  warnings.push(...misspelt(env, hosts));
  if (config.notifyAdminTopic !== null && !isServiceUrlGiven)
    warn(
      'SERVICE_URL',
      `is not set: the buttons of alerts call ${serviceUrl}, which works on this machine only`,
    );
  if ((config.panicPassword?.length ?? Infinity) < 16) {
    const remedy = 'it can be guessed; set a longer one, for example the output of `openssl rand -hex 32`';
    warn('PANIC_PASSWORD', `has fewer than 16 characters: ${remedy}`);
  }
  // As far as the configuration says, others than the people on this machine may reach the service. People who are named,
  // maintainers who object and those who find a weakness all need somebody to write to.
  const isPublic = [host, new URL(serviceUrl).hostname].some((name) => !isLoopback(name));
  if (config.operatorContact === null && isPublic) {
    const remedy = 'set it to an e-mail address or to the https address of a page';
    warn('OPERATOR_CONTACT', `is not set: nobody can find out how to reach you; ${remedy}`);
  }
  // On Cloudflare a client cannot set this header. Elsewhere anyone who connects can set it.
  if (!env.CLIENT_IP_HEADER && !isLoopback(host)) {
    const evasion = `can write any address into ${config.clientIpHeader} and so avoid every limit`;
    const remedy = 'set it to the header in which your proxy writes the address';
    warn('CLIENT_IP_HEADER', `is not set: anyone who connects to ${host} ${evasion}; ${remedy}`);
  }
  return warnings;
}

/** A misspelt variable has no effect, and nothing else would tell: a misspelt PANIC_PASSWORD leaves no way to panic. */
export function misspelt(
  env: Readonly<Record<string, unknown>>,
  hosts: readonly HostConfig[],
): readonly ConfigWarning[] {
  const names: readonly AnyVariable[] = [...VARIABLES, ...hosts.map(({ key }) => tokenVariable(key))];
  const known = names.filter(({ length }) => length >= LEAST_MISSPELT_LENGTH);
  const own = new Set(variablesIn(env));
  return Object.entries(env).flatMap(([name, value]) => {
    // The entries that are no text are bindings.
    if (own.has(name) || name.length < LEAST_MISSPELT_LENGTH || typeof value !== 'string' || value === '')
      return [];
    if (name.split('_').some((word) => OTHER_WORDS.has(word))) return [];
    const near = nearName(name, known);
    const variable = known.find((one) => one === near);
    if (variable === undefined) return [];
    const message = `${name} is set, but there is no such variable: did you mean ${variable}? Rename it, or unset it`;
    return [{ variable, message }];
  });
}
