/**
 * The variables of the service (docs/configuration.md), and how one environment is read.
 * Proved by test/config/config.test.ts.
 */
import { DEFAULT_CLIENT_IP_HEADER } from '../limits/client.ts';
import { OPEN_LIMITS, type OpenLimitName } from '../limits/limits.ts';
import { LOCATION_HINTS } from '../objects.ts';
import { appKey, GITHUB_URL, type HostTokenVariable, isHostTokenVariable } from './hosts.ts';
import {
  commitEmail,
  contact,
  delay,
  duration,
  flag,
  headerSecret,
  hostNames,
  matching,
  oneOf,
  onionAddress,
  origins,
  shortWait,
  openSshKey,
  type ValueKind,
  webAddress,
  webhookSecret,
  wholeNumber,
} from './values.ts';

function variable<const N extends string, T>(name: N, kind: ValueKind<T>, fallback: T) {
  return { name, kind, fallback, isSecret: false };
}

/** Declares a variable whose value never appears in a message. */
function secret<const N extends string, T>(name: N, kind: ValueKind<T>) {
  return { name, kind, fallback: null as T | null, isSecret: true };
}

/** Variables that stand by themselves, under their names in `Config`. */
const SETTINGS = {
  host: variable('HOST', matching('an IP address or host name', /^[A-Za-z0-9.:-]+$/), '127.0.0.1'),
  port: variable('PORT', wholeNumber(1, 65_535), 8080),
  serviceUrl: variable('SERVICE_URL', webAddress, null),
  onionUrl: variable('ONION_URL', onionAddress, null),
  /** Anybody who knows the topic can read the operator's alerts. */
  notifyAdminTopic: secret(
    'NOTIFY_ADMIN_TOPIC',
    matching('1 to 64 letters, digits, - or _', /^[A-Za-z0-9_-]{1,64}$/),
  ),
  clientIpHeader: variable(
    'CLIENT_IP_HEADER',
    matching('the name of a header', /^[A-Za-z0-9-]{1,64}$/),
    DEFAULT_CLIENT_IP_HEADER,
  ),
  dbUrl: variable('DB_URL', webAddress, null),
  dbKey: secret('DB_KEY', headerSecret),
  notifyBaseUrl: variable('NOTIFY_BASE_URL', webAddress, 'https://ntfy.sh'),
  notifyAdminUrl: variable('NOTIFY_ADMIN_URL', webAddress, null),
  hostingUrl: variable('HOSTING_URL', webAddress, GITHUB_URL),
  hostingApiUrl: variable('HOSTING_API_URL', webAddress, 'https://api.github.com'),
  hostingToken: secret('HOSTING_TOKEN', headerSecret),
  /** The GitHub App that maintainers may install, with its key. */
  appId: variable('GITHUB_APP_ID', wholeNumber(1, 999_999_999), null),
  appKey: secret('GITHUB_APP_KEY', appKey),
  /** Secret of the App's webhook; null: the service has none. */
  githubWebhookSecret: secret('GITHUB_WEBHOOK_SECRET', webhookSecret),
  stateDir: variable('STATE_DIR', matching('the path of a folder', /^[^\0\r\n]+$/), '.state'),
  readTimeoutMs: variable('READ_TIMEOUT', duration, 30_000),
  writeTimeoutMs: variable('WRITE_TIMEOUT', duration, 30_000),
  logFormat: variable('LOG_FORMAT', oneOf('text', 'json'), 'text'),
  serviceApiKey: secret('SERVICE_API_KEY', headerSecret),
  panicPassword: secret('PANIC_PASSWORD', matching('one line of text, not in <>', /^(?!<.*>$)[^\0\r\n]+$/)),
  /** Key of every HMAC; null: the service generates one and stores it. */
  identitySecret: secret(
    'IDENTITY_SECRET',
    matching('at least 32 characters, for example the output of `openssl rand -hex 32`', /^.{32,}$/s),
  ),
  /** Access token at the notification service; null if that accepts messages from everyone. */
  notifyToken: secret('NOTIFY_TOKEN', headerSecret),
  /** Servers behind Cloudflare, which a Worker's sockets cannot reach. */
  outgoingFetchHosts: variable('OUTGOING_FETCH_HOSTS', hostNames, []),
  /** Sites whose pages may post for their readers; null allows all sites. */
  allowedOrigins: variable('ALLOWED_ORIGINS', origins, null),
  alertAddress: variable('ALERT_ADDRESS', oneOf('shown', 'hidden'), 'shown'),
  maxRepositoryMb: variable('MAX_REPOSITORY_MB', wholeNumber(1, 100_000), 500),
  /**
   * Space for everything that pushes in progress have sent. One client may use a tenth, in which
   * the largest push fits.
   */
  spoolMb: variable('SPOOL_MB', wholeNumber(1_000, 1_000_000), 2_000),
  /** Reaction to a push of commits that an open pull request of the service already has. */
  pushDoubles: variable('PUSH_DOUBLES', oneOf('tell', 'refuse'), 'tell'),
  /** Default delay before a push is published; 0 publishes it at once. */
  publishDelayMs: variable('PUBLISH_DELAY', delay, 0),
  /** How long a push with warnings waits, so that its person can stop it; 0: it does not. */
  warningWaitMs: variable('WARNING_WAIT', shortWait, 10_000),
  /** Reaction to a push for which the account or the code host is too busy now. */
  whenBusy: variable('WHEN_BUSY', oneOf('refuse', 'wait'), 'refuse'),
  /**
   * Pushes that wait until the operator has seen them; `new`: those to repositories for which the
   * service has not published anything yet.
   */
  review: variable('REVIEW', oneOf('none', 'new', 'all'), 'none'),
  /** Space for all delayed pushes. */
  delayedMb: variable('DELAYED_MB', wholeNumber(10, 1_000_000), 1_000),
  /** Reaction to a push that would publish the name or address of its author. */
  identityCheck: variable('IDENTITY_CHECK', oneOf('refuse', 'warn', 'off'), 'refuse'),
  /**
   * Credentials that a push may not publish: those proven to be real, or all that look like one.
   */
  pushSecrets: variable('PUSH_SECRETS', oneOf('proven', 'refuse', 'off'), 'proven'),
  /** Proof that a push needs to update a pull request: only its hash, or its key as well. */
  prUpdatePolicy: variable('PR_UPDATE_POLICY', oneOf('hash', 'key'), 'hash'),
  /** Region of new objects (src/objects.ts); null: near the client that first asks for one. */
  locationHint: variable('LOCATION_HINT', oneOf(...LOCATION_HINTS), null),
  anonEmail: variable('ANON_EMAIL', commitEmail, 'anonymous@gitveil.invalid'),
  /** Whether vulnerabilities are reported privately, and by whom: the bot's account, or the App. */
  privateReports: variable('PRIVATE_REPORTS', oneOf('off', 'account', 'app'), 'off'),
  /** Whether the bot introduces itself on its first pull request in a repository. */
  introduce: variable('INTRODUCE', oneOf('first', 'never'), 'first'),
  /** Key that signs the new commits of pushes; null: they have no signature. */
  signingKey: secret('SIGNING_KEY', openSshKey),
  operatorContact: variable('OPERATOR_CONTACT', contact, null),
  commitHash: variable(
    'COMMIT_HASH',
    matching('a commit id or the name of a branch', /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/),
    'main',
  ),
  /** SHA-256 of the Worker's bundle in hex, as set by the deployment. */
  bundleHash: variable('BUNDLE_HASH', matching('a SHA-256 in hex', /^[0-9a-f]{64}$/), null),
  sourceRepo: variable('SOURCE_REPO', webAddress, 'https://github.com/gitveil/gitveil'),
  /** True on the project's own public instance only. */
  officialInstance: variable('OFFICIAL_INSTANCE', flag, false),
};

type Setting = (typeof SETTINGS)[keyof typeof SETTINGS];
type Settings = { readonly [F in keyof typeof SETTINGS]: (typeof SETTINGS)[F]['fallback'] };
export type VariableName = Setting['name'] | 'HOSTS' | (typeof OPEN_LIMITS)[OpenLimitName]['variable'];
/** Any variable of the service, including the token of each further host. */
export type AnyVariable = VariableName | HostTokenVariable;

/** All variables with a fixed name. The tokens of further hosts are named after their keys. */
export const VARIABLES: readonly VariableName[] = [
  ...Object.values(SETTINGS).map(({ name }) => name),
  'HOSTS',
  ...Object.values(OPEN_LIMITS).map(({ variable: name }) => name),
];
const SECRETS: ReadonlySet<string> = new Set(
  Object.values(SETTINGS).flatMap(({ name, isSecret }) => (isSecret ? name : [])),
);

/** The environment of a process or a Worker; it also holds bindings and foreign variables. */
export type Environment = Readonly<Record<string, unknown>>;

export function variablesIn(env: Environment): string[] {
  return Object.keys(env).filter(
    (name) => VARIABLES.some((known) => known === name) || isHostTokenVariable(name),
  );
}

/** A variable with a value that is not allowed. */
export interface ConfigProblem {
  readonly variable: string;
  /** Never contains the value, so a public answer may show it. */
  readonly rule: string;
  readonly message: string;
}

/** Reads one environment and collects its problems. */
export class EnvironmentReader {
  readonly problems: ConfigProblem[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** Gives `fallback` if the variable is absent. A bad value adds a problem and gives it, too. */
  read<T, F>(name: AnyVariable, kind: ValueKind<T>, fallback: F): T | F {
    const text = this.#env[name];
    if (typeof text !== 'string' || text === '') return fallback;
    const value = kind.parse(text);
    if (value !== undefined) return value;
    const isSecret = SECRETS.has(name) || isHostTokenVariable(name);
    const fault = kind.faultIn === undefined ? '' : `. ${kind.faultIn(text)}`;
    this.refuse(name, `must be ${kind.rule}${fault}`, isSecret ? name : `${name} is ${quoted(text)}: it`);
    return fallback;
  }

  /** Reads all variables that do not depend on others. */
  settings(): Settings {
    const read = ({ name, kind, fallback }: Setting) => this.read<unknown, unknown>(name, kind, fallback);
    return Object.fromEntries(Object.entries(SETTINGS).map(([field, one]) => [field, read(one)])) as Settings;
  }

  /** @param rule follows the subject in the message. */
  refuse(name: AnyVariable, rule: string, subject: string = name): void {
    this.problems.push({ variable: name, rule, message: `${subject} ${rule}` });
  }
}

/** Quotes a value for a message: on one line, shortened, without passwords in its addresses. */
function quoted(text: string): string {
  const shown = text.replaceAll(/\/\/[^,]*@/g, '//***@');
  return JSON.stringify(shown.length > 100 ? `${shown.slice(0, 100)}…` : shown);
}
