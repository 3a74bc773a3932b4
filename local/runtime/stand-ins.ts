/**
 * Replaces the platform's D1, KV and cache on this machine by miniflare's Workers, read from its
 * package as files. miniflare itself is not started, because it would use 300 MB for as long as the
 * service runs.
 *
 * miniflare has two Workers for D1 and for KV: one accepts the requests, and passes them on to
 * Durable Objects of the other, which keep the data. Here they are one Worker, which saves an
 * isolate. Names, keys and folders of the data are miniflare's, so older data stays readable.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type CapnpValue, Embed } from './capnp.ts';

/** The folder in which workerd looks for the files. */
export const STAND_INS_PATH = join(dirname(createRequire(import.meta.url).resolve('miniflare')), 'workers');

/** As miniflare has it. */
const COMPATIBILITY_DATE = '2023-07-24';

/**
 * In place of zod, for the one Worker that imports it: D1's checks what workerd's own interface of
 * D1 sends, which nobody else can reach. To load zod takes a fifth of a start, and 6 MB.
 */
const UNCHECKED = `
const schema = new Proxy(() => schema, { get: (_, name) => (name === 'parse' ? (value) => value : schema) });
export { schema as z };
`;

/**
 * miniflare ends the name of a blob with the millisecond in which it was written (`generateBlobId`
 * in its shared/index.worker.js), and uses this clock for nothing else. In the name of a delayed
 * push's key, that would tell when it was pushed, also from what is left of the name once the push
 * is published.
 */
const TIMELESS = `Object.defineProperty(performance, 'now', { value: () => 0 });`;

/** What the stand-ins import. */
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
 * Keeps nothing: what the service would read there, its only isolate has in memory, and the names
 * and dates of files would tell what was asked for when.
 */
export const CACHE: CapnpValue = {
  name: 'cache',
  worker: {
    compatibilityDate: COMPATIBILITY_DATE,
    modules: [{ name: 'main.js', esModule: new Embed('/cache/cache-entry-noop.worker.js') }],
  },
};

/** The service to be named as `cacheApiOutbound`. */
export const CACHE_SERVICE = 'cache';

export function d1Binding(name: string): CapnpValue {
  const fetcher = { name: 'fetcher', service: entryFor('d1', name) };
  return { name, wrapped: { moduleName: 'cloudflare-internal:d1-api', innerBindings: [fetcher] } };
}

export function kvBinding(name: string): CapnpValue {
  return { name, kvNamespace: entryFor('kv', name) };
}

/** The stand-in for one database or namespace. */
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
