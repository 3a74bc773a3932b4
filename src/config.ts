/**
 * The environment, read once into a typed and frozen object. No other file reads a variable.
 *
 * A bad value is never repaired: it becomes a problem that names the variable, the value and what is allowed, and the
 * service does not run with it. An empty variable counts as absent. Variables: contract section 1 and
 * docs/configuration.md.
 * Pure: it is given the environment, so the Worker and `npm start` judge a value alike.
 */
import { type ConfigProblem, EnvironmentReader } from './config/environment-reader.ts';
import { furtherHosts, type HostConfig, MAIN_HOST, tokenVariable } from './config/hosts.ts';
import {
  commitEmail,
  type Contact,
  contact,
  delay,
  duration,
  headerSecret,
  hostNames,
  matching,
  oneOf,
  origins,
  onionAddress,
  rateLimits,
  webAddress,
  wholeNumber,
} from './config/values.ts';
import {
  type ConfigWarning,
  deadButtons,
  evadedLimits,
  guessablePassword,
  halfDatabase,
  misspelt,
  nobodyToWriteTo,
  strayTokens,
} from './config/warnings.ts';
import {
  OPEN_LIMIT_NAMES,
  OPEN_LIMITS,
  type OpenLimit,
  type OpenLimitName,
  type OpenLimits,
} from './limits/limits.ts';
import type { Limit } from './limits/sliding-window.ts';
import { LOCATION_HINTS, type LocationHint } from './objects.ts';
import { DEFAULT_CLIENT_IP_HEADER } from './limits/client.ts';

/** So that the tenth that one client may use holds the largest push. */
const LEAST_SPOOL_MB = 1_000;

export interface Config {
  /** At least one: the first is that of the contract's paths. */
  readonly hosts: readonly [HostConfig, ...HostConfig[]];
  readonly host: string;
  readonly port: number;
  readonly stateDir: string;
  readonly serviceUrl: string;
  /** If false, `serviceUrl` is a guess: it names this machine, which others cannot reach. */
  readonly isServiceUrlGiven: boolean;
  /** The service's address in the Tor network. */
  readonly onionUrl: string | null;
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
  /** Sites whose pages may post for their readers; null: all. */
  readonly allowedOrigins: readonly string[] | null;
  readonly notifyAdminTopic: string | null;
  readonly alertAddress: 'shown' | 'hidden';
  readonly maxRepositoryMb: number;
  /** What all pushes that are under way may have sent. */
  readonly spoolMb: number;
  /** What to do with a push of commits that are in an open pull request of the service already. */
  readonly pushDoubles: 'tell' | 'refuse';
  /** How long a push waits, unless its person says otherwise, in milliseconds; 0: not at all. */
  readonly publishDelayMs: number;
  /** What to do with a push that the code host does not take now. */
  readonly whenBusy: 'refuse' | 'wait';
  /** Which pushes wait until the operator has seen them; `new`: to repositories for which nothing was published yet. */
  readonly review: 'none' | 'new' | 'all';
  /** What all pushes that wait may take. */
  readonly delayedMb: number;
  /** How often a client may do what the contract does not limit. */
  readonly limits: OpenLimits;
  /** What a push needs to update a pull request: only its hash, or also a key. */
  readonly prUpdatePolicy: 'hash' | 'key';
  /** What to do with a push that would publish the name or address of its author. */
  readonly identityCheck: 'refuse' | 'warn' | 'off';
  /** Which credentials a push may not publish: those that are proven to be real, or all that look like one. */
  readonly pushSecrets: 'proven' | 'refuse';
  readonly anonEmail: string;
  /** Where src/objects.ts creates new objects; null: near the client that first asks for them. */
  readonly locationHint: LocationHint | null;
  /** How to reach the operator; null: not set. */
  readonly operatorContact: Contact | null;
  readonly commitHash: string;
  /** SHA-256 of the Worker's bundle in hex, as the deployment says. */
  readonly bundleHash: string | null;
  readonly sourceRepo: string;
  /** True on the project's own public instance only. */
  readonly officialInstance: boolean;
}

export type ConfigResult =
  | { readonly kind: 'valid'; readonly config: Config; readonly warnings: readonly ConfigWarning[] }
  | { readonly kind: 'invalid'; readonly problems: readonly ConfigProblem[] };

/**
 * Reads and checks every variable of `env`; other entries are ignored.
 * All problems are reported at once, so that an operator needs one attempt and not several.
 */
export function parseConfig(env: Readonly<Record<string, unknown>>): ConfigResult {
  const reader = new EnvironmentReader(env);
  const host = reader.read('HOST', matching('an IP address or host name', /^[A-Za-z0-9.:-]+$/), '127.0.0.1');
  const port = reader.read('PORT', wholeNumber(1, 65_535), 8080);
  const serviceUrl = reader.read('SERVICE_URL', webAddress, null);
  const onionUrl = reader.read('ONION_URL', onionAddress, null);
  if (onionUrl !== null && serviceUrl === null) {
    reader.miss(
      'SERVICE_URL',
      'must be set beside ONION_URL, because what is published always names SERVICE_URL',
    );
  }
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
    onionUrl,
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
    allowedOrigins: Object.freeze(reader.read('ALLOWED_ORIGINS', origins, null)),
    notifyAdminTopic,
    alertAddress: reader.read('ALERT_ADDRESS', oneOf('shown', 'hidden'), 'shown'),
    maxRepositoryMb: reader.read('MAX_REPOSITORY_MB', wholeNumber(1, 100_000), 500),
    spoolMb: reader.read('SPOOL_MB', wholeNumber(LEAST_SPOOL_MB, 1_000_000), 2_000),
    pushDoubles: reader.read('PUSH_DOUBLES', oneOf('tell', 'refuse'), 'tell'),
    publishDelayMs: reader.read('PUBLISH_DELAY', delay, 0),
    whenBusy: reader.read('WHEN_BUSY', oneOf('refuse', 'wait'), 'refuse'),
    review: reader.read('REVIEW', oneOf('none', 'new', 'all'), 'none'),
    delayedMb: reader.read('DELAYED_MB', wholeNumber(10, 1_000_000), 1_000),
    limits: readLimits(reader),
    identityCheck: reader.read('IDENTITY_CHECK', oneOf('refuse', 'warn', 'off'), 'refuse'),
    pushSecrets: reader.read('PUSH_SECRETS', oneOf('proven', 'refuse'), 'proven'),
    prUpdatePolicy: reader.read('PR_UPDATE_POLICY', oneOf('hash', 'key'), 'hash'),
    locationHint: reader.read('LOCATION_HINT', oneOf(...LOCATION_HINTS), null),
    anonEmail: reader.read('ANON_EMAIL', commitEmail, 'anonymous@gitveil.invalid'),
    operatorContact: reader.read('OPERATOR_CONTACT', contact, null),
    commitHash: reader.read(
      'COMMIT_HASH',
      matching('a commit id or the name of a branch', /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/),
      'main',
    ),
    bundleHash: reader.read('BUNDLE_HASH', matching('a SHA-256 in hex', /^[0-9a-f]{64}$/), null),
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
      ...misspelt(env, config.hosts),
      ...(notifyAdminTopic === null || serviceUrl !== null ? [] : [deadButtons(config.serviceUrl)]),
      ...((config.panicPassword?.length ?? Infinity) < 16 ? [guessablePassword()] : []),
      ...(config.operatorContact === null && isPublic(config) ? [nobodyToWriteTo()] : []),
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
  return Object.freeze([
    withToken(main),
    ...reader.read('HOSTS', furtherHosts(main.url), []).map(withToken),
  ] as const);
}

function readLimits(reader: EnvironmentReader): OpenLimits {
  const read = (name: OpenLimitName): readonly [OpenLimitName, readonly Limit[]] => {
    const { variable, usual } = OPEN_LIMITS[name];
    const { longestHours = 24 }: OpenLimit = OPEN_LIMITS[name];
    const kind = rateLimits(longestHours);
    return [name, reader.read(variable, kind, null) ?? (kind.parse(usual) as readonly Limit[])];
  };
  return Object.freeze(
    Object.fromEntries(OPEN_LIMIT_NAMES.map(read)) as Record<OpenLimitName, readonly Limit[]>,
  );
}

/** Whether others than the people on this machine may reach the service, as far as its configuration says. */
function isPublic({ serviceUrl, host }: Pick<Config, 'serviceUrl' | 'host'>): boolean {
  return !isLoopback(host) || !isLoopback(new URL(serviceUrl).hostname.replaceAll(/[[\]]/g, ''));
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.[\d.]+$/.test(host);
}

/** The address of a service on this machine. If it listens on all interfaces, the loopback address reaches it. */
export function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
