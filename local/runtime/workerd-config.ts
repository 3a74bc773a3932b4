/**
 * Writes workerd's configuration for this machine: the service with the bindings of wrangler.toml,
 * and stand-ins for what the platform has elsewhere.
 *
 * The configuration contains neither addresses nor what the operator has set. Sockets get their
 * addresses on the command line, and the operator's variables are read from workerd's environment,
 * so that no secret is written to disk. Reference: workerd.capnp in the package `workerd`.
 */
import { join } from 'node:path';
import type { WorkerBuild } from '../deploy/build.ts';
import { type CapnpValue, Embed, capnp } from './capnp.ts';
import { REFUSED_FETCH } from './run-service.ts';
import { CACHE, CACHE_SERVICE, D1, KV, SHARED_MODULES, d1Binding, kvBinding } from './stand-ins.ts';

/** Subfolders of the state's folder. */
export const STATE_FOLDERS = ['do', 'd1', 'kv'] as const;

/** Replaces the internet for `fetch`. Sockets are not affected. */
const NO_FETCH = `export default {
  fetch({ method, url }) {
    console.warn(${JSON.stringify(REFUSED_FETCH)} + method + ' ' + url);
    return new Response('the runtime may not fetch', { status: 500 });
  },
};
`;

/** Folders of the objects that count what clients do. */
export const LIMITS_FOLDERS = ['do/gitveil-ClientWindows', 'do/gitveil-HostAccount'] as const;

/** Names the files that must be next to the configurations, with their content. */
export function modulesOf({ script, helpers }: WorkerBuild): Readonly<Record<string, string>> {
  return {
    'service.js': script,
    'migrate.js': helpers.migrate,
    'schedule.js': helpers.schedule,
    'no-fetch.js': NO_FETCH,
  };
}

/**
 * Configures the database alone, and on the socket `migrate` the Worker that brings it up to date.
 */
export function databaseConfig({ settings }: WorkerBuild, stateDir: string): string {
  const migrate = {
    compatibilityDate: settings.compatibilityDate,
    modules: [embedded('migrate.js')],
    bindings: settings.databases.map(d1Binding),
  };
  return config(['migrate'], [{ name: 'migrate', worker: migrate }, disk('d1', stateDir), D1]);
}

export interface ServiceConfigOptions {
  readonly stateDir: string;
  /** Names of the variables that workerd's environment sets. */
  readonly variables: readonly string[];
  readonly refusesFetch: boolean;
  readonly isTriggerClock: boolean;
}

/**
 * Configures everything: on the socket `service` the service, and on `schedule` the Worker that
 * runs its scheduled handler.
 */
export function serviceConfig(
  build: WorkerBuild,
  { stateDir, variables, refusesFetch, isTriggerClock }: ServiceConfigOptions,
): string {
  const schedule = {
    compatibilityDate: build.settings.compatibilityDate,
    compatibilityFlags: ['service_binding_extra_handlers'],
    modules: [embedded('schedule.js')],
    bindings: [{ name: 'SERVICE', service: 'service' }],
  };
  const noFetch = {
    compatibilityDate: build.settings.compatibilityDate,
    compatibilityFlags: ['connect_pass_through'],
    modules: [embedded('no-fetch.js')],
  };
  // The code host may be on this machine, or in its network.
  const allow = ['public', 'private', '240.0.0.0/4'];
  return config(
    ['service', 'schedule'],
    [
      {
        name: 'service',
        worker: {
          ...service(build, variables, isTriggerClock),
          ...(refusesFetch && { globalOutbound: 'no-fetch' }),
        },
      },
      ...(refusesFetch ? [{ name: 'no-fetch', worker: noFetch }] : []),
      { name: 'schedule', worker: schedule },
      { name: 'internet', network: { allow, tlsOptions: { trustBrowserCas: true } } },
      ...STATE_FOLDERS.map((folder) => disk(folder, stateDir)),
      D1,
      KV,
      CACHE,
    ],
  );
}

function service({ settings, builtAt }: WorkerBuild, variables: readonly string[], isTriggerClock: boolean) {
  const { versionMetadata, durableObjects, selves } = settings;
  const vars = Object.entries(settings.vars).filter(([name]) => !variables.includes(name));
  const version = JSON.stringify({ id: '', tag: '', timestamp: builtAt });
  return {
    compatibilityDate: settings.compatibilityDate,
    compatibilityFlags: settings.compatibilityFlags,
    modules: [embedded('service.js')],
    bindings: [
      ...vars.map(([name, text]) => ({ name, text })),
      { name: 'ONE_MACHINE', text: 'true' },
      ...(isTriggerClock ? [{ name: 'TRIGGER_IS_CLOCK', text: 'true' }] : []),
      ...variables.map((name) => ({ name, fromEnvironment: name })),
      ...(versionMetadata === null ? [] : [{ name: versionMetadata, json: version }]),
      ...settings.databases.map(d1Binding),
      ...settings.kvNamespaces.map(kvBinding),
      ...selves.map((name) => ({ name, service: 'service' })),
      ...Object.entries(durableObjects).map(([name, className]) => ({
        name,
        durableObjectNamespace: { className },
      })),
    ],
    durableObjectNamespaces: Object.values(durableObjects).map((className) => ({
      className,
      uniqueKey: `gitveil-${className}`,
      enableSql: true,
    })),
    durableObjectStorage: { localDisk: 'do:disk' },
    cacheApiOutbound: CACHE_SERVICE,
  };
}

const embedded = (file: string): CapnpValue => ({ name: file, esModule: new Embed(file) });

const disk = (name: string, stateDir: string): CapnpValue => ({
  name: `${name}:disk`,
  disk: { path: join(stateDir, name), writable: true },
});

/** Writes a configuration in which each socket leads to the Worker of its name. */
function config(sockets: readonly string[], services: readonly CapnpValue[]): string {
  const all = {
    services,
    sockets: sockets.map((name) => ({ name, http: {}, service: name })),
    extensions: [{ modules: SHARED_MODULES }],
    structuredLogging: true,
  };
  return `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = ${capnp(all)};\n`;
}
