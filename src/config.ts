/**
 * The environment, read once into a typed and frozen object. No other file reads a variable.
 *
 * A bad value is never repaired: it becomes a problem that names the variable, the value and what is allowed, and the
 * service does not run with it. An empty variable counts as absent. Variables: contract section 1 and README.md.
 * Pure: it is given the environment, so the Worker and `npm start` judge a value alike.
 */
import {
  furtherHosts,
  type HostConfig,
  type HostTokenVariable,
  isHostTokenVariable,
  MAIN_HOST,
  tokenVariable,
} from './config/hosts.ts';
import {
  type ValueKind,
  commitEmail,
  duration,
  headerSecret,
  hostNames,
  matching,
  oneOf,
  rateLimits,
  webAddress,
  wholeNumber,
} from './config/values.ts';
import { OPEN_LIMIT_NAMES, OPEN_LIMITS, type OpenLimitName, type OpenLimits } from './guard/limits.ts';
import type { Limit } from './guard/sliding-window.ts';
import { DEFAULT_CLIENT_IP_HEADER } from './identity/client-address.ts';

export interface Config {
  /** At least one: the first is that of the contract's paths. */
  readonly hosts: readonly [HostConfig, ...HostConfig[]];
  readonly host: string;
  readonly port: number;
  readonly stateDir: string;
  readonly serviceUrl: string;
  /** If false, `serviceUrl` is a guess: it names this machine, which others cannot reach. */
  readonly isServiceUrlGiven: boolean;
  readonly readTimeoutMs: number;
  readonly writeTimeoutMs: number;
  readonly logFormat: 'text' | 'json';
  readonly clientIpHeader: string;
  readonly serviceApiKey: string | null;
  readonly panicPassword: string | null;
  /** Key of every HMAC; `null` means that the service makes its own and keeps it. */
  readonly identitySecret: string | null;
  readonly hostedDatabase: { readonly url: string; readonly key: string } | null;
  readonly notifyBaseUrl: string;
  /** The server of the operator's alerts. */
  readonly notifyAdminUrl: string;
  /** Access token at the notification service; null: it accepts messages from everyone. */
  readonly notifyToken: string | null;
  /** Servers behind Cloudflare, which sockets cannot reach. */
  readonly outgoingFetchHosts: readonly string[];
  readonly notifyAdminTopic: string | null;
  readonly alertAddress: 'shown' | 'hidden';
  readonly maxRepositoryMb: number;
  /** How often a client may do what the contract does not limit. */
  readonly limits: OpenLimits;
  /** What a push needs to update a pull request: only its hash, or also a key. */
  readonly prUpdatePolicy: 'hash' | 'key';
  /** What to do with a push that would publish the name or address of its author. */
  readonly identityCheck: 'refuse' | 'warn' | 'off';
  readonly anonEmail: string;
  readonly commitHash: string;
  readonly sourceRepo: string;
  /** True on the project's own public instance only. */
  readonly officialInstance: boolean;
}

/** A variable that cannot be used. `rule` does not contain the value, so a public answer may show it. */
export interface ConfigProblem {
  readonly variable: string;
  readonly rule: string;
  readonly message: string;
}

/** The service runs, but perhaps not as the operator expects. */
export interface ConfigWarning {
  /** The one to set. */
  readonly variable: AnyVariable;
  readonly message: string;
}

export type ConfigResult =
  | { readonly kind: 'valid'; readonly config: Config; readonly warnings: readonly ConfigWarning[] }
  | { readonly kind: 'invalid'; readonly problems: readonly ConfigProblem[] };

const PLAIN = [
  'ALERT_ADDRESS',
  'ANON_EMAIL',
  'CLIENT_IP_HEADER',
  'COMMIT_HASH',
  'DB_URL',
  'HOST',
  'HOSTS',
  'HOSTING_API_URL',
  'HOSTING_URL',
  'IDENTITY_CHECK',
  'LIMIT_BADGES',
  'LIMIT_COMMENTS',
  'LIMIT_DISCOVERIES',
  'LIMIT_LOOKUPS',
  'LIMIT_PUSHES',
  'LIMIT_REPORTS',
  'LOG_FORMAT',
  'MAX_REPOSITORY_MB',
  'NOTIFY_ADMIN_URL',
  'NOTIFY_BASE_URL',
  'OFFICIAL_INSTANCE',
  'OUTGOING_FETCH_HOSTS',
  'PORT',
  'PR_UPDATE_POLICY',
  'READ_TIMEOUT',
  'SERVICE_URL',
  'SOURCE_REPO',
  'STATE_DIR',
  'WRITE_TIMEOUT',
] as const;

/** Their values never appear in a message. Whoever knows the admin topic can read the operator's alerts. */
const SECRETS = [
  'DB_KEY',
  'HOSTING_TOKEN',
  'IDENTITY_SECRET',
  'NOTIFY_ADMIN_TOPIC',
  'NOTIFY_TOKEN',
  'PANIC_PASSWORD',
  'SERVICE_API_KEY',
] as const;

/** Everything that the environment may set. Its other entries (bindings, the shell's own) are not looked at. */
export const VARIABLES = [...PLAIN, ...SECRETS];
export type VariableName = (typeof VARIABLES)[number];
/** Each further host brings a variable of its own. */
type AnyVariable = VariableName | HostTokenVariable;

/** The names of all variables of the service that an environment sets. */
export function variablesIn(env: Readonly<Record<string, unknown>>): string[] {
  const isOurs = (name: string) => VARIABLES.some((known) => known === name) || isHostTokenVariable(name);
  return Object.keys(env).filter(isOurs);
}

/** Reads one environment and remembers what is wrong with it. */
class EnvironmentReader {
  readonly problems: ConfigProblem[] = [];
  readonly #env: Readonly<Record<string, unknown>>;

  constructor(env: Readonly<Record<string, unknown>>) {
    this.#env = env;
  }

  /** The variable's value; `fallback` when it is absent, and also when it is bad, which is then a problem. */
  read<T, F>(name: AnyVariable, kind: ValueKind<T>, fallback: F): T | F {
    const text = this.#env[name];
    if (typeof text !== 'string' || text === '') return fallback;
    const value = kind.parse(text);
    if (value === undefined) this.#report(name, text, kind.rule);
    return value ?? fallback;
  }

  #report(variable: AnyVariable, text: string, allowed: string): void {
    const isSecret = SECRETS.some((name) => name === variable) || isHostTokenVariable(variable);
    const subject = isSecret ? variable : `${variable} is ${quoted(text)}: it`;
    const rule = `must be ${allowed}`;
    this.problems.push({ variable, rule, message: `${subject} ${rule}` });
  }
}

/**
 * Reads and checks every variable of `env`; other entries are ignored.
 * All problems are reported at once, so that an operator needs one attempt and not several.
 */
export function parseConfig(env: Readonly<Record<string, unknown>>): ConfigResult {
  const reader = new EnvironmentReader(env);
  const host = reader.read('HOST', matching('an IP address or host name', /^[A-Za-z0-9.:-]+$/), '127.0.0.1');
  const port = reader.read('PORT', wholeNumber(1, 65_535), 8080);
  const serviceUrl = reader.read('SERVICE_URL', webAddress, null);
  const notifyAdminTopic = reader.read(
    'NOTIFY_ADMIN_TOPIC',
    matching('1 to 64 letters, digits, - or _', /^[A-Za-z0-9_-]{1,64}$/),
    null,
  );
  const clientIpHeader = reader.read(
    'CLIENT_IP_HEADER',
    matching('the name of a header', /^[A-Za-z0-9-]{1,64}$/),
    null,
  );
  const dbUrl = reader.read('DB_URL', webAddress, null);
  const dbKey = reader.read('DB_KEY', headerSecret, null);
  const notifyBaseUrl = reader.read('NOTIFY_BASE_URL', webAddress, 'https://ntfy.sh');
  const config: Config = {
    hosts: readHosts(reader),
    host,
    port,
    stateDir: reader.read('STATE_DIR', matching('the path of a folder', /^[^\0\r\n]+$/), '.state'),
    serviceUrl: serviceUrl ?? localUrl(host, port),
    isServiceUrlGiven: serviceUrl !== null,
    readTimeoutMs: reader.read('READ_TIMEOUT', duration, 30_000),
    writeTimeoutMs: reader.read('WRITE_TIMEOUT', duration, 30_000),
    logFormat: reader.read('LOG_FORMAT', oneOf('text', 'json'), 'text'),
    clientIpHeader: clientIpHeader ?? DEFAULT_CLIENT_IP_HEADER,
    serviceApiKey: reader.read('SERVICE_API_KEY', headerSecret, null),
    panicPassword: reader.read('PANIC_PASSWORD', matching('one line of text', /^[^\0\r\n]+$/), null),
    identitySecret: reader.read(
      'IDENTITY_SECRET',
      matching('at least 32 characters, for example the output of `openssl rand -hex 32`', /^.{32,}$/s),
      null,
    ),
    hostedDatabase: dbUrl !== null && dbKey !== null ? Object.freeze({ url: dbUrl, key: dbKey }) : null,
    notifyBaseUrl,
    notifyAdminUrl: reader.read('NOTIFY_ADMIN_URL', webAddress, notifyBaseUrl),
    notifyToken: reader.read('NOTIFY_TOKEN', headerSecret, null),
    outgoingFetchHosts: Object.freeze(reader.read('OUTGOING_FETCH_HOSTS', hostNames, [])),
    notifyAdminTopic,
    alertAddress: reader.read('ALERT_ADDRESS', oneOf('shown', 'hidden'), 'shown'),
    maxRepositoryMb: reader.read('MAX_REPOSITORY_MB', wholeNumber(1, 100_000), 500),
    limits: readLimits(reader),
    identityCheck: reader.read('IDENTITY_CHECK', oneOf('refuse', 'warn', 'off'), 'refuse'),
    prUpdatePolicy: reader.read('PR_UPDATE_POLICY', oneOf('hash', 'key'), 'hash'),
    anonEmail: reader.read('ANON_EMAIL', commitEmail, 'anonymous@gitveil.invalid'),
    commitHash: reader.read(
      'COMMIT_HASH',
      matching('a commit id or the name of a branch', /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/),
      'main',
    ),
    sourceRepo: reader.read('SOURCE_REPO', webAddress, 'https://github.com/gitveil/gitveil'),
    officialInstance: reader.read('OFFICIAL_INSTANCE', oneOf('true', 'false'), 'false') === 'true',
  };
  if (reader.problems.length > 0) return { kind: 'invalid', problems: reader.problems };
  return {
    kind: 'valid',
    config: Object.freeze(config),
    warnings: [
      ...((dbUrl === null) === (dbKey === null) ? [] : [halfDatabase(dbUrl === null)]),
      ...strayTokens(env, config.hosts),
      ...(notifyAdminTopic === null || serviceUrl !== null ? [] : [deadButtons(config.serviceUrl)]),
      ...(clientIpHeader !== null || isLoopback(host) ? [] : [evadedLimits(host, config.clientIpHeader)]),
    ],
  };
}

function readHosts(reader: EnvironmentReader): Config['hosts'] {
  const main = {
    key: MAIN_HOST,
    kind: 'github',
    url: reader.read('HOSTING_URL', webAddress, 'https://github.com'),
    apiUrl: reader.read('HOSTING_API_URL', webAddress, 'https://api.github.com'),
  } as const;
  const withToken = (host: Omit<HostConfig, 'token'>): HostConfig => {
    const token = reader.read(tokenVariable(host.key), headerSecret, null);
    return Object.freeze({ ...host, token });
  };
  return Object.freeze([withToken(main), ...reader.read('HOSTS', furtherHosts, []).map(withToken)] as const);
}

/** A key that was mistyped would leave its host without a bot. */
function strayTokens(
  env: Readonly<Record<string, unknown>>,
  hosts: Config['hosts'],
): readonly ConfigWarning[] {
  const wanted = hosts.map(({ key }) => tokenVariable(key));
  return Object.keys(env)
    .filter(isHostTokenVariable)
    .filter((name) => !wanted.includes(name))
    .map((variable) => ({ variable, message: `${variable} is set, but HOSTS names no host with that key` }));
}

function readLimits(reader: EnvironmentReader): OpenLimits {
  const read = (name: OpenLimitName): readonly [OpenLimitName, readonly Limit[]] => {
    const { variable, usual } = OPEN_LIMITS[name];
    return [name, reader.read(variable, rateLimits, null) ?? (rateLimits.parse(usual) as readonly Limit[])];
  };
  return Object.freeze(
    Object.fromEntries(OPEN_LIMIT_NAMES.map(read)) as Record<OpenLimitName, readonly Limit[]>,
  );
}

function halfDatabase(isUrlMissing: boolean): ConfigWarning {
  const [set, variable] = isUrlMissing ? (['DB_KEY', 'DB_URL'] as const) : (['DB_URL', 'DB_KEY'] as const);
  const consequence = "statistics and karma stay in the service's own database";
  return { variable, message: `${set} is set, but ${variable} is not: ${consequence}; set both, or none` };
}

function deadButtons(url: string): ConfigWarning {
  const message = `SERVICE_URL is not set: the buttons of alerts call ${url}, which works on this machine only`;
  return { variable: 'SERVICE_URL', message };
}

/** On Cloudflare a client cannot set this header. Elsewhere anyone who connects can set it. */
function evadedLimits(host: string, header: string): ConfigWarning {
  const danger = `anyone who connects to ${host} can write any address into ${header} and so avoid every limit`;
  const remedy = 'set it to the header in which your proxy writes the address';
  return { variable: 'CLIENT_IP_HEADER', message: `CLIENT_IP_HEADER is not set: ${danger}; ${remedy}` };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.[\d.]+$/.test(host);
}

/** The address of a service on this machine. If it listens on all interfaces, the loopback address reaches it. */
export function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** A value as a message may show it: on one line, short, and without a password that an address carries. */
function quoted(text: string): string {
  const shown = text.replace(/\/\/[^/@]*@/, '//***@');
  return JSON.stringify(shown.length > 100 ? `${shown.slice(0, 100)}…` : shown);
}
