/**
 * Types of what the runtime hands to the Worker: the bindings of wrangler.toml and the variables of
 * docs/configuration.md. Only code that opens a binding gets `Env`; pure code gets what it needs as
 * arguments.
 */
import type { HostConfig } from './config/hosts.ts';
import type { VariableName } from './config/environment-reader.ts';
import type { Config } from './config/config.ts';
import type { Guard } from './durable/guard/guard.ts';
import type { DelayedPushes } from './durable/delayed-pushes/delayed-pushes.ts';
import type { HostAccount } from './durable/host-account/host-account.ts';
import type { Identity } from './durable/identity/identity.ts';
import type { NotificationFeed } from './durable/notification-feed/notification-feed.ts';
import type { PendingPush } from './durable/pending-push/pending-push.ts';
import type { PullRequest } from './durable/pull-request/pull-request.ts';
import type { ClientWindows } from './durable/clients/client-windows.ts';
import type { ServiceSecret } from './durable/service-secret.ts';
import type { Spool } from './durable/spool/spool.ts';
import type { Tally } from './durable/totals.ts';
import type { Logger } from './log.ts';
import type { HttpClient } from './outgoing/http-client.ts';

export interface Env extends Readonly<Partial<Record<VariableName, string>>> {
  readonly DB: D1Database;
  readonly PULL_REQUESTS: DurableObjectNamespace<PullRequest>;
  readonly PENDING_PUSHES: DurableObjectNamespace<PendingPush>;
  readonly NOTIFICATION_FEED: DurableObjectNamespace<NotificationFeed>;
  readonly IDENTITIES: DurableObjectNamespace<Identity>;
  readonly CLIENT_WINDOWS: DurableObjectNamespace<ClientWindows>;
  readonly GUARD: DurableObjectNamespace<Guard>;
  readonly HOST_ACCOUNTS: DurableObjectNamespace<HostAccount>;
  readonly SERVICE_SECRET: DurableObjectNamespace<ServiceSecret>;
  readonly DELAYED_PUSHES: DurableObjectNamespace<DelayedPushes>;
  readonly SPOOL: DurableObjectNamespace<Spool>;
  readonly TALLY: DurableObjectNamespace<Tally>;
  readonly HISTORY: KVNamespace;
  readonly LAST_KNOWN: KVNamespace;
  readonly DELAYED_KEYS: KVNamespace;
  readonly SELF: Fetcher;
  readonly VERSION: WorkerVersionMetadata;
  /** The compatibility date of wrangler.toml. A Worker cannot read it from its runtime. */
  readonly COMPATIBILITY_DATE: string;
  /** Set only where `npm start` runs the Worker (local/runtime/workerd-config.ts). */
  readonly ONE_MACHINE?: string;
  /**
   * Set only in tests and benchmarks (local/runtime/service.ts). Delayed pushes are then due by the
   * trigger's time, in place of the clocks of the service and the code hosts.
   */
  readonly TRIGGER_IS_CLOCK?: string;
  /** Set only where `npm start` embeds the code host (local/runtime/embedded-host.ts). */
  readonly EMBEDDED_HOST?: string;
}

/** Types of what every handler finds in Hono's context. */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    config: Config;
    /** The code host of the path. Set only in handlers of `onRepository`. */
    host: HostConfig;
    logger: Logger;
    /** The client for every outgoing request that this request causes. */
    http: HttpClient;
  };
}
