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
import { headerSecret, rateLimits } from './config/values.ts';
import { type ConfigWarning, warningsOf } from './config/warnings.ts';
import { OPEN_LIMIT_NAMES, OPEN_LIMITS, type OpenLimitName, type OpenLimits } from './limits/limits.ts';
import type { Limit } from './limits/sliding-window.ts';

export type Config = ReturnType<typeof readConfig>;

export type ConfigResult =
  | { readonly kind: 'valid'; readonly config: Config; readonly warnings: readonly ConfigWarning[] }
  | { readonly kind: 'invalid'; readonly problems: readonly ConfigProblem[] };

/**
 * Reads and checks every variable of `env`; other entries are ignored.
 * All problems are reported at once, so that an operator needs one attempt and not several.
 */
export function parseConfig(env: Readonly<Record<string, unknown>>): ConfigResult {
  const reader = new EnvironmentReader(env);
  const config = readConfig(reader);
  const { problems } = reader;
  return problems.length > 0
    ? { kind: 'invalid', problems }
    : { kind: 'valid', config, warnings: warningsOf(env, config) };
}

function readConfig(reader: EnvironmentReader) {
  const { serviceUrl, dbUrl, dbKey, hostingUrl, hostingApiUrl, hostingToken, ...settings } =
    reader.settings();
  const { host, port, onionUrl, notifyAdminUrl, notifyBaseUrl } = settings;
  if (onionUrl !== null && serviceUrl === null) {
    reader.miss(
      'SERVICE_URL',
      'must be set beside ONION_URL, because what is published always names SERVICE_URL',
    );
  }
  const main = { key: MAIN_HOST, kind: 'github', url: hostingUrl, apiUrl: hostingApiUrl } as const;
  const further = reader.read('HOSTS', furtherHosts(hostingUrl), []).map((one): HostConfig => {
    const token = reader.read(tokenVariable(one.key), headerSecret, null);
    return Object.freeze({ ...one, token });
  });
  const hosts: readonly [HostConfig, ...HostConfig[]] = [
    Object.freeze({ ...main, token: hostingToken }),
    ...further,
  ];
  return Object.freeze({
    ...settings,
    /** At least one: the first is that of the contract's paths. */
    hosts: Object.freeze(hosts),
    serviceUrl: serviceUrl ?? localUrl(host, port),
    /** If false, `serviceUrl` is a guess: it names this machine, which others cannot reach. */
    isServiceUrlGiven: serviceUrl !== null,
    hostedDatabase: dbUrl !== null && dbKey !== null ? Object.freeze({ url: dbUrl, key: dbKey }) : null,
    notifyAdminUrl: notifyAdminUrl ?? notifyBaseUrl,
    /** How often a client may do what the contract does not limit. */
    limits: readLimits(reader),
  });
}

function readLimits(reader: EnvironmentReader): OpenLimits {
  const read = (name: OpenLimitName): readonly [OpenLimitName, readonly Limit[]] => {
    const { variable, usual, longestHours } = OPEN_LIMITS[name];
    const kind = rateLimits(longestHours);
    return [name, reader.read(variable, kind, null) ?? (kind.parse(usual) as readonly Limit[])];
  };
  return Object.freeze(
    Object.fromEntries(OPEN_LIMIT_NAMES.map(read)) as Record<OpenLimitName, readonly Limit[]>,
  );
}

/** The address of a service on this machine. If it listens on all interfaces, the loopback address reaches it. */
export function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
