/**
 * The scope of one request, or of one delayed push: everything that it may use, made from the
 * environment and the configuration. Routes make one from a request of Hono
 * (src/routes/request/scope.ts); below them, nothing knows of Hono's contexts.
 */
import type { Config } from '../config/config.ts';
import type { HostConfig } from '../config/hosts.ts';
import type { Env } from '../env.ts';
import type { GitClient } from '../git/wire/git-client.ts';
import { systemClock } from '../isolate/clock.ts';
import { isolateMemory, type MemoryHold } from '../isolate/memory-budget.ts';
import { type Client, clientIn, prefixOf } from '../limits/client.ts';
import type { Logger } from '../log.ts';
import type { HttpClient } from '../outgoing/http-client.ts';
import { serviceSecret } from '../secret/open-secret.ts';

export interface Scope {
  readonly env: Env;
  readonly config: Config;
  readonly logger: Logger;
  /** Sends every request to others that this one causes. */
  readonly http: HttpClient;
  /** The client's address, or its network of addresses. In memory only, and never in a log. */
  readonly network: string;
  readonly gitClient: GitClient;
  /** A page of a site is asking that is neither the service nor one that the operator has named. */
  readonly isForeign: boolean;
  readonly addresses: ServiceAddresses;
  /** Keeps the isolate at work after the answer, or after the client has left. */
  readonly later: (work: Promise<unknown>) => void;
}

/** The service's own addresses. None ends with a slash. */
interface ServiceAddresses {
  /** Scheme and host for links and commands that only this client sees. */
  readonly shown: string;
  /** Scheme and host for links in what is published. */
  readonly published: string;
  /** The address of the front page for links in what is published. */
  readonly frontPage: string;
}

/** A scope for one code host. */
export interface HostScope extends Scope {
  readonly host: HostConfig;
}

/** The client of the scope. Rejects if the key of the hashes cannot be read. */
export async function clientOf({
  env,
  config,
  network,
}: Pick<Scope, 'env' | 'config' | 'network'>): Promise<Client> {
  return clientIn(network, await serviceSecret(env, config.identitySecret));
}

/** Counts memory for the client's prefix: all networks that one subscriber may hold. */
export function memoryFor({ network }: Pick<Scope, 'network'>): MemoryHold {
  return isolateMemory.open(systemClock, prefixOf(network));
}
