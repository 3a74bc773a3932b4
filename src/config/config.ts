/**
 * Turns the environment into one typed, frozen object: all that an operator can set, but
 * LOCATION_HINT, which src/objects.ts reads. A bad value is never repaired: it becomes a problem
 * that names the variable, the value (unless it is a secret) and what is allowed, and the service
 * does not run. An empty variable counts as absent (contract, section 1). Pure, so that the Worker
 * and `npm start` come to the same result.
 */
import {
  type AnyVariable,
  type ConfigProblem,
  type Environment,
  EnvironmentReader,
  VARIABLES,
  variablesIn,
} from './environment-reader.ts';
import {
  furtherHosts,
  GITHUB_URL,
  type HostConfig,
  isHostTokenVariable,
  MAIN_HOST,
  tokenVariable,
} from './hosts.ts';
import { headerSecret, isLoopback, rateLimits } from './values.ts';
import type { AppKey } from '../host/app/app-key.ts';
import type { AppSettings } from '../host/app/github-app.ts';
import { OPEN_LIMIT_NAMES, OPEN_LIMITS, type OpenLimitName, type OpenLimits } from '../limits/limits.ts';
import type { Limit } from '../limits/sliding-window.ts';
import type { AccountLimits } from '../limits/claim.ts';
import { nearName } from '../words/near-name.ts';

export type Config = ReturnType<typeof readConfig>;

/** A setting with which the service runs, but perhaps not as the operator expects. */
interface ConfigWarning {
  /** The variable to set; of one that has no effect, its own name. */
  readonly variable: AnyVariable;
  readonly message: string;
}

export type ConfigResult =
  | { readonly kind: 'valid'; readonly config: Config; readonly warnings: readonly ConfigWarning[] }
  | { readonly kind: 'invalid'; readonly problems: readonly ConfigProblem[] };

/** Reports all problems at once, so that the operator can correct them in one go. */
export function parseConfig(env: Environment): ConfigResult {
  const reader = new EnvironmentReader(env);
  const config = readConfig(reader);
  const { problems } = reader;
  return problems.length > 0
    ? { kind: 'invalid', problems }
    : { kind: 'valid', config, warnings: warningsOf(env, config) };
}

function readConfig(reader: EnvironmentReader) {
  const { serviceUrl, dbUrl, dbKey, hostingUrl, hostingApiUrl, hostingToken, appId, appKey, ...settings } =
    reader.settings();
  const { host, port, onionUrl, notifyAdminUrl, notifyBaseUrl } = settings;
  if (onionUrl !== null && serviceUrl === null) {
    const why = 'because what is published always names SERVICE_URL';
    reader.refuse('SERVICE_URL', `must be set beside ONION_URL, ${why}`);
  }
  const app = readApp(reader, appId, appKey);
  if (settings.privateReports === 'app' && app === null && reader.problems.length === 0)
    reader.refuse('GITHUB_APP_ID', 'must be set for PRIVATE_REPORTS=app');
  const main = { key: MAIN_HOST, kind: 'github', url: hostingUrl, apiUrl: hostingApiUrl } as const;
  const further = reader.read('HOSTS', furtherHosts(hostingUrl), []).map((one): HostConfig => {
    const token = reader.read(tokenVariable(one.key), headerSecret, null);
    return Object.freeze({ ...one, token });
  });
  const hosts: readonly [HostConfig, ...HostConfig[]] = [
    Object.freeze({ ...main, ...(app !== null && { app }), token: hostingToken }),
    ...further,
  ];
  return Object.freeze({
    ...settings,
    /** The code hosts; the first one is `gh`, which the contract's paths name. */
    hosts: Object.freeze(hosts),
    serviceUrl: serviceUrl ?? localUrl(host, port),
    /** False if `serviceUrl` is a guess: the address of this machine, which others cannot reach. */
    isServiceUrlGiven: serviceUrl !== null,
    hostedDatabase: dbUrl !== null && dbKey !== null ? Object.freeze({ url: dbUrl, key: dbKey }) : null,
    notifyAdminUrl: notifyAdminUrl ?? notifyBaseUrl,
    /** The limits that the contract leaves to the operator. */
    limits: readLimits(reader, main.url),
  });
}

/** Reads the GitHub App, of which both variables are set, or none. */
function readApp(reader: EnvironmentReader, id: number | null, key: AppKey | null): AppSettings | null {
  if (id !== null && key !== null) return Object.freeze({ id, key });
  const isWrong = reader.problems.some(({ variable }) => variable.startsWith('GITHUB_APP_'));
  if (id !== null && !isWrong) reader.refuse('GITHUB_APP_KEY', 'must be set beside GITHUB_APP_ID');
  if (key !== null && !isWrong) reader.refuse('GITHUB_APP_ID', 'must be set beside GITHUB_APP_KEY');
  return null;
}

function readLimits(reader: EnvironmentReader, mainUrl: string): OpenLimits {
  const limits = OPEN_LIMIT_NAMES.map((name) => {
    const { variable, usual, longestHours } = OPEN_LIMITS[name];
    const kind = rateLimits(longestHours);
    const isUsual = name !== 'openings' || mainUrl === GITHUB_URL;
    return [name, reader.read(variable, kind, null) ?? (isUsual ? kind.parse(usual) : [])] as const;
  });
  return Object.freeze(Object.fromEntries(limits) as Record<OpenLimitName, readonly Limit[]>);
}

/** Limits what the bot creates at a host. `LIMIT_OPENINGS` applies to the main host only. */
export function accountLimits({ limits }: Pick<Config, 'limits'>, { key }: HostConfig): AccountLimits {
  return { creations: limits.creations, openings: key === MAIN_HOST ? limits.openings : [] };
}

/** Gives the address at which this machine reaches a service that listens on `host`. */
export function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** Skips shorter names: those, such as HOME and HOST, often resemble each other by chance. */
const LEAST_MISSPELT_LENGTH = 8;

/** Words that resemble one of ours. A name that contains one (NOTION_TOKEN) is no misspelling. */
const OTHER_WORDS =
  /(?:^|_)(?:BASIC|HEAD|LOAD|NETLIFY|NOTION|READY|REF|REPOS|REV|ROUTING|STAGE|START|STATIC|STATS|STORE|TESTING|UID|WAIT)(?:_|$)/;

function warningsOf(env: Environment, config: Config): readonly ConfigWarning[] {
  const { hosts, host, serviceUrl, isServiceUrlGiven } = config;
  const warnings: ConfigWarning[] = [];
  const warn = (variable: AnyVariable, problem: string) =>
    void warnings.push({ variable, message: `${variable} ${problem}` });

  const [set, other] = env['DB_URL'] ? (['DB_URL', 'DB_KEY'] as const) : (['DB_KEY', 'DB_URL'] as const);
  if (env[set] && !env[other]) {
    const consequence = "statistics and karma stay in the service's own database";
    const message = `${set} is set, but ${other} is not: ${consequence}; set both, or none`;
    warnings.push({ variable: other, message });
  }
  // If the key in the variable's name is mistyped, its host has no bot.
  const tokens = new Set<string>(hosts.map(({ key }) => tokenVariable(key)));
  for (const name of Object.keys(env).filter(isHostTokenVariable))
    if (!tokens.has(name)) warn(name, 'is set, but HOSTS names no host with that key');
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
  // People who use a public service, object to it or find a weakness need somebody to write to.
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

/**
 * Warns of misspelt variables, which have no effect: a misspelt PANIC_PASSWORD leaves no way to
 * suspend the service.
 */
export function misspelt(env: Environment, hosts: readonly HostConfig[]): readonly ConfigWarning[] {
  const names: readonly AnyVariable[] = [...VARIABLES, ...hosts.map(({ key }) => tokenVariable(key))];
  const known = names.filter(({ length }) => length >= LEAST_MISSPELT_LENGTH);
  const own = new Set(variablesIn(env));
  return Object.entries(env).flatMap(([name, value]) => {
    // Entries that are not text are bindings.
    const isOurs = own.has(name) || typeof value !== 'string' || value === '';
    if (isOurs || name.length < LEAST_MISSPELT_LENGTH || OTHER_WORDS.test(name)) return [];
    const variable = nearName(name, known);
    if (variable === undefined) return [];
    const message = `${name} is set, but there is no such variable: did you mean ${variable}? Rename it, or unset it`;
    return [{ variable, message }];
  });
}
