/** What makes a service run otherwise than its operator may expect. */
import type { AnyVariable } from './environment-reader.ts';
import { type HostConfig, isHostTokenVariable, tokenVariable } from './hosts.ts';

/** The service runs, but perhaps not as the operator expects. */
export interface ConfigWarning {
  /** The one to set. */
  readonly variable: AnyVariable;
  readonly message: string;
}

/** A key that was mistyped would leave its host without a bot. */
export function strayTokens(
  env: Readonly<Record<string, unknown>>,
  hosts: readonly HostConfig[],
): readonly ConfigWarning[] {
  const wanted = new Set<string>(hosts.map(({ key }) => tokenVariable(key)));
  return Object.keys(env)
    .filter(isHostTokenVariable)
    .filter((name) => !wanted.has(name))
    .map((variable) => ({ variable, message: `${variable} is set, but HOSTS names no host with that key` }));
}

export function halfDatabase(isUrlMissing: boolean): ConfigWarning {
  const [set, variable] = isUrlMissing ? (['DB_KEY', 'DB_URL'] as const) : (['DB_URL', 'DB_KEY'] as const);
  const consequence = "statistics and karma stay in the service's own database";
  return { variable, message: `${set} is set, but ${variable} is not: ${consequence}; set both, or none` };
}

export function deadButtons(url: string): ConfigWarning {
  const message = `SERVICE_URL is not set: the buttons of alerts call ${url}, which works on this machine only`;
  return { variable: 'SERVICE_URL', message };
}

/** On Cloudflare a client cannot set this header. Elsewhere anyone who connects can set it. */
export function evadedLimits(host: string, header: string): ConfigWarning {
  const danger = `anyone who connects to ${host} can write any address into ${header} and so avoid every limit`;
  const remedy = 'set it to the header in which your proxy writes the address';
  return { variable: 'CLIENT_IP_HEADER', message: `CLIENT_IP_HEADER is not set: ${danger}; ${remedy}` };
}
