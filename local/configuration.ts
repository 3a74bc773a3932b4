/**
 * Reads the configuration for the programs of this machine: which problems keep the service from
 * starting, and which deserve a warning.
 */
import { type Config, misspelt, parseConfig } from '../src/config/config.ts';
import { isLoopback } from '../src/config/values.ts';
import { DEFAULT_CLIENT_IP_HEADER } from '../src/limits/client.ts';
import { isHostEmbedded } from './runtime/embedded-host.ts';
import { variables } from './environment.ts';
import { nameProblem } from './service-name.ts';

/**
 * Warning for a service with a real host that listens on this machine only: it has a proxy in
 * front.
 */
const UNKNOWN_CLIENTS =
  `CLIENT_IP_HEADER is not set: behind a proxy all clients count as one, and a client that sends a header ` +
  `${DEFAULT_CLIENT_IP_HEADER} can claim any address; set it to the header in which your proxy writes ` +
  `the address`;

/** Warning for those who forgot the token: nothing else in the log would tell them. */
const EMBEDDED_FOR_ALL =
  'the code host is embedded, because HOSTING_TOKEN is not set: it is only for trying gitveil; set the token of the ' +
  'bot account before others use the service';

export interface LocalConfiguration {
  /** `null` if it is invalid. */
  readonly config: Config | null;
  /** Sentences, as the warnings are. The service does not start with a problem. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export function readConfiguration(): LocalConfiguration {
  const env = variables();
  const result = parseConfig(env);
  if (result.kind === 'invalid') {
    return {
      config: null,
      problems: messages([...result.problems, ...misspelt(process.env, [])]),
      warnings: [],
    };
  }
  const { config } = result;
  const hasProxy = env['CLIENT_IP_HEADER'] !== undefined;
  const unnamed = nameProblem(config, hasProxy);
  const names = messages(misspelt(process.env, config.hosts));
  return {
    config,
    problems: unnamed === null ? names : [...names, unnamed],
    warnings: [...messages(result.warnings), ...warningsOf(config, hasProxy)],
  };
}

const messages = (found: readonly { readonly message: string }[]): string[] =>
  found.map(({ message }) => message);

function warningsOf(config: Config, hasProxy: boolean): readonly string[] {
  const isLocal = isLoopback(config.host);
  if (isHostEmbedded(config)) return isLocal && !config.isServiceUrlGiven ? [] : [EMBEDDED_FOR_ALL];
  return isLocal && !hasProxy ? [UNKNOWN_CLIENTS] : [];
}
