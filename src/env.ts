/**
 * What the runtime hands to the Worker: the bindings of wrangler.toml and the variables of README.md.
 *
 * Code that is pure gets what it needs as arguments. `Env` goes only to what opens a binding: the Worker, its handlers
 * and middleware, the Durable Objects, and the parts that keep something in KV, D1 or an object.
 */
import type { HostConfig } from './config/hosts.ts';
import type { VariableName } from './config/environment-reader.ts';
import type { Config } from './config.ts';
import type { Guard } from './durable/guard.ts';
import type { HostAccount } from './durable/host-account.ts';
import type { Identity } from './durable/identity.ts';
import type { NotificationFeed } from './durable/notification-feed.ts';
import type { PendingPush } from './durable/pending-push.ts';
import type { PullRequest } from './durable/pull-request.ts';
import type { RateWindow } from './durable/rate-window.ts';
import type { ServiceSecret } from './durable/service-secret.ts';
import type { Tally } from './durable/tally.ts';
import type { Logger } from './log.ts';
import type { HttpClient } from './outgoing/http-client.ts';

export interface Env extends Readonly<Partial<Record<VariableName, string>>> {
  readonly DB: D1Database;
  readonly PULL_REQUESTS: DurableObjectNamespace<PullRequest>;
  readonly PENDING_PUSHES: DurableObjectNamespace<PendingPush>;
  readonly NOTIFICATION_FEED: DurableObjectNamespace<NotificationFeed>;
  readonly IDENTITIES: DurableObjectNamespace<Identity>;
  readonly RATE_WINDOWS: DurableObjectNamespace<RateWindow>;
  readonly GUARD: DurableObjectNamespace<Guard>;
  readonly HOST_ACCOUNTS: DurableObjectNamespace<HostAccount>;
  readonly SERVICE_SECRET: DurableObjectNamespace<ServiceSecret>;
  readonly TALLY: DurableObjectNamespace<Tally>;
  readonly HISTORY: KVNamespace;
  readonly LAST_KNOWN: KVNamespace;
  readonly VERSION: WorkerVersionMetadata;
  /** The compatibility date of wrangler.toml. A Worker cannot read it from its runtime. */
  readonly COMPATIBILITY_DATE: string;
}

/** Hono's types: what every handler finds in its context. */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    config: Config;
    /** The code host of the path; only in handlers of `onRepository`. */
    host: HostConfig;
    logger: Logger;
    /** Sends every request to others that this request causes. */
    http: HttpClient;
  };
}
