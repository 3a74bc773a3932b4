/**
 * Replaces the platform's D1, KV and cache on this machine. Everything that we take from private
 * files of miniflare is in this file.
 *
 * workerd itself has no D1, no KV and no cache, only bindings that send their requests to another
 * Worker. miniflare, Cloudflare's simulator, has such Workers, and everybody who develops a Worker
 * tests with them. They are files of its package, which workerd can read without miniflare.
 *
 * miniflare itself is not started. It would keep a process of Node.js with its tools, its proxy and
 * its checks for as long as the service runs: 250 MiB more memory than ours, and half a second more
 * at each start (docs/decisions/one-runtime.md has the figures). A Worker of its own would also
 * stand between the clients and the service, and measurements would show both.
 *
 * The price is that these files are no interface: a new version of miniflare may move them, or
 * change what they expect. So its version is exact in package.json, and
 * test/local/stand-ins.test.ts compares what is said here with the installed version: it names the
 * file that has moved. This is what we rely on:
 *
 * - The paths of the files, in `D1`, `KV`, `CACHE` and `SHARED_MODULES`.
 * - The names of two classes, whose Durable Objects keep the data: `D1DatabaseObject` and
 *   `KVNamespaceObject`.
 * - The names of two bindings: `MINIFLARE_OBJECT` leads to these classes, `MINIFLARE_BLOBS` to the
 *   folder of the values.
 * - The property `MINIFLARE_NAMESPACE`, by which an entry finds the object of one database or
 *   namespace.
 * - The modules that these files import: `miniflare:shared` and `miniflare:zod`.
 * - How the name of a value's file is made: see `TIMELESS`.
 *
 * Also needed is the module of workerd that makes a D1 binding of a service: see `d1Binding`.
 *
 * miniflare has two Workers for D1 and for KV: one accepts the requests, and passes them on to
 * Durable Objects of the other, which keep the data. Here they are one Worker, which saves an
 * isolate. Names, keys and folders of the data are miniflare's, so a newer version of gitveil reads
 * the data of an older one.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type CapnpValue, Embed } from './capnp.ts';

/** The folder in which workerd looks for the files. */
export const STAND_INS_PATH = join(dirname(createRequire(import.meta.url).resolve('miniflare')), 'workers');

/** The compatibility date that miniflare gives to these Workers. */
const COMPATIBILITY_DATE = '2023-07-24';

/**
 * Replaces zod, which only D1's Worker imports. It checks what workerd's own D1 binding sends, and
 * nobody else can reach it. Loading zod takes a fifth of a start, and 6 MB.
 */
const UNCHECKED = `
const schema = new Proxy(() => schema, { get: (_, name) => (name === 'parse' ? (value) => value : schema) });
export { schema as z };
`;

/**
 * Stops the clock with which miniflare ends the name of a value's file (`generateBlobId` in its
 * shared/index.worker.js). In the name of a delayed push's key, the millisecond would tell when it
 * was pushed, even from what is left of the name once the push is published. The clock is used only
 * once more, for the duration of a statement, which nobody reads.
 */
const TIMELESS = `Object.defineProperty(performance, 'now', { value: () => 0 });`;

/** The modules that the stand-ins import. */
export const SHARED_MODULES: readonly CapnpValue[] = [
  { name: 'miniflare:shared', esModule: new Embed('/shared/index.worker.js') },
  { name: 'miniflare:zod', esModule: UNCHECKED },
];

export const D1 = standIn({
  kind: 'd1',
  entry: '/d1/entry.worker.js',
  object: '/d1/database.worker.js',
  className: 'D1DatabaseObject',
});

export const KV = standIn({
  kind: 'kv',
  entry: '/shared/object-entry.worker.js',
  object: '/kv/namespace.worker.js',
  className: 'KVNamespaceObject',
});

/**
 * Keeps nothing. The only isolate has in memory what the service would read there, and the names
 * and dates of files would tell what was asked for, and when.
 */
export const CACHE: CapnpValue = {
  name: 'cache',
  worker: {
    compatibilityDate: COMPATIBILITY_DATE,
    modules: [{ name: 'main.js', esModule: new Embed('/cache/cache-entry-noop.worker.js') }],
  },
};

/** The name of the service for `cacheApiOutbound`. */
export const CACHE_SERVICE = 'cache';

export function d1Binding(name: string): CapnpValue {
  const fetcher = { name: 'fetcher', service: entryFor('d1', name) };
  return { name, wrapped: { moduleName: 'cloudflare-internal:d1-api', innerBindings: [fetcher] } };
}

export function kvBinding(name: string): CapnpValue {
  return { name, kvNamespace: entryFor('kv', name) };
}

/** Leads to one database or namespace of a stand-in. */
function entryFor(kind: string, id: string): CapnpValue {
  return { name: kind, props: { json: JSON.stringify({ MINIFLARE_NAMESPACE: id }) } };
}

interface StandIn {
  readonly kind: string;
  /** The file of the Worker that takes the requests. */
  readonly entry: string;
  /** The file of the Durable Object's class. */
  readonly object: string;
  readonly className: string;
}

function standIn({ kind, entry, object, className }: StandIn): CapnpValue {
  const both = `export { default } from "entry.js"; export { ${className} } from "object.js"; ${TIMELESS}`;
  return {
    name: kind,
    worker: {
      compatibilityDate: COMPATIBILITY_DATE,
      compatibilityFlags: ['nodejs_compat', 'experimental', 'enhanced_error_serialization'],
      modules: [
        { name: 'main.js', esModule: both },
        { name: 'entry.js', esModule: new Embed(entry) },
        { name: 'object.js', esModule: new Embed(object) },
      ],
      bindings: [
        { name: 'MINIFLARE_OBJECT', durableObjectNamespace: { className } },
        { name: 'MINIFLARE_BLOBS', service: `${kind}:disk` },
      ],
      durableObjectNamespaces: [{ className, uniqueKey: `miniflare-${className}` }],
      durableObjectStorage: { localDisk: `${kind}:disk` },
    },
  };
}
