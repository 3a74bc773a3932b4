/**
 * The Worker, and beside it what it costs: calls of Durable Objects with their order, rows that
 * objects and the database write. `GET /counts` tells, and begins anew. `GET /delivered` answers
 * how often an object has emptied its outbox.
 */
import type { Env } from '../../../src/env.ts';
import type { Counts as Tallied } from '../../../src/metrics/series.ts';
import worker, {
  Guard as RealGuard,
  PullRequest as RealPullRequest,
  Tally as RealTally,
} from '../../../src/worker.ts';

export {
  ClientWindows,
  DelayedPushes,
  HostAccount,
  Identity,
  NotificationFeed,
  PendingPush,
  ServiceSecret,
  Spool,
} from '../../../src/worker.ts';

export interface ObjectCall {
  /** Binding and method. */
  readonly name: string;
  /** When it began and ended, in the order of all beginnings and ends; Infinity: not yet. */
  readonly begunAt: number;
  endedAt: number;
}

export interface Counts {
  readonly calls: readonly ObjectCall[];
  /** By what has written them; setting an alarm counts as one. */
  readonly objectRows: number;
  readonly databaseRows: number;
}

let order = 0;
let calls: ObjectCall[] = [];
let objectRows = 0;
let databaseRows = 0;
/** A statement writes while its rows are read. */
let cursors: { readonly rowsWritten: number }[] = [];

function counts(): Counts {
  const rows = cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, objectRows);
  const told = { calls, objectRows: rows, databaseRows };
  [calls, cursors, objectRows, databaseRows] = [[], [], 0, 0];
  return told;
}

type Method = (...values: unknown[]) => unknown;

/** Puts something around a method of all instances. */
function wrap(instance: object, name: string, around: (method: () => unknown) => unknown): void {
  const prototype = Object.getPrototypeOf(instance) as Record<string, Method>;
  const real = prototype[name] as Method;
  prototype[name] = function (this: unknown, ...values: unknown[]) {
    return around(() => Reflect.apply(real, this, values));
  };
}

let isCounting = false;

/** All objects of one isolate share their prototypes. */
export class Guard extends RealGuard {
  constructor(ctx: DurableObjectState, env: Env) {
    if (!isCounting) {
      isCounting = true;
      const row = (write: () => unknown): unknown => {
        objectRows += 1;
        return write();
      };
      for (const name of ['put', 'delete']) wrap(ctx.storage.kv, name, row);
      for (const name of ['put', 'setAlarm']) wrap(ctx.storage, name, row);
      wrap(ctx.storage.sql, 'exec', (exec) => {
        const cursor = exec() as { rowsWritten: number };
        cursors.push(cursor);
        return cursor;
      });
      const statement = env.DB.prepare('SELECT 1');
      wrap(statement, 'run', async (run) => counted(await run()));
      wrap(env.DB, 'batch', async (batch) => {
        const results = (await batch()) as unknown[];
        results.map(counted);
        return results;
      });
    }
    super(ctx, env);
  }
}

/** Its row is no push's: it is written once in ten seconds, whatever happens then. */
export class Tally extends RealTally {
  override add(tallied: Tallied): Tallied {
    const before = objectRows;
    const sums = super.add(tallied);
    objectRows = before;
    return sums;
  }
}

let delivered = 0;

export class PullRequest extends RealPullRequest {
  override async alarm(): Promise<void> {
    await super.alarm();
    delivered += 1;
  }
}

function counted(result: unknown): unknown {
  databaseRows += (result as D1Result).meta.rows_written;
  return result;
}

/** Calls of an object that a request makes. */
function watched(name: string, namespace: DurableObjectNamespace): DurableObjectNamespace {
  return new Proxy(namespace, {
    get: (_, property) => {
      const value = Reflect.get(namespace, property) as Method;
      if (property !== 'get') return value.bind(namespace);
      return (...values: unknown[]) => watchedStub(name, Reflect.apply(value, namespace, values) as object);
    },
  });
}

function watchedStub(name: string, stub: object): object {
  return new Proxy(stub, {
    get: (_, method) => {
      const value: unknown = Reflect.get(stub, method);
      if (typeof value !== 'function') return value;
      return async (...values: unknown[]) => {
        const call = { name: `${name}.${String(method)}`, begunAt: order++, endedAt: Infinity };
        calls.push(call);
        try {
          return await (Reflect.apply(value, stub, values) as Promise<unknown>);
        } finally {
          call.endedAt = order++;
        }
      };
    },
  });
}

const OBJECTS = [
  'PULL_REQUESTS',
  'PENDING_PUSHES',
  'NOTIFICATION_FEED',
  'IDENTITIES',
  'CLIENT_WINDOWS',
  'GUARD',
  'HOST_ACCOUNTS',
  'SERVICE_SECRET',
  'TALLY',
  'SPOOL',
  'DELAYED_PUSHES',
] as const;

let watchedEnv: Env | null = null;

function watch(env: Env): Env {
  const objects = OBJECTS.map((name) => [name, watched(name, env[name])]);
  return { ...env, ...Object.fromEntries(objects) } as Env;
}

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/delivered') return Response.json(delivered);
    if (pathname === '/counts') {
      return new Response(JSON.stringify(counts(), (_, value) => (value === Infinity ? null : value)));
    }
    watchedEnv ??= watch(env);
    return worker.fetch(request, watchedEnv, ctx);
  },
  scheduled: worker.scheduled,
} satisfies ExportedHandler<Env>;
