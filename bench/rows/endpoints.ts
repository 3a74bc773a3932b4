/**
 * The most frequent requests against a Hono route in the same runtime that does nothing but set
 * headers for browsers, as every answer of the service does. Each header costs a microsecond.
 */
import { join } from 'node:path';
import type { WorkerBuild } from '../../local/deploy/build.ts';
import { bareBuild } from '../support/bare-build.ts';
import { medians, type Row, row } from '../support/figures.ts';
import { Helper } from '../support/helper.ts';
import { Pipeline } from '../support/pipeline.ts';
import { builtWorker } from '../support/rig.ts';
import type { ServiceActions } from '../support/service-process.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 11;
const REQUESTS = 2000;
/** How many times the route's time each may take. */
const MOST_TIMES = {
  // At least 0.9 of the route's requests a second.
  '/health': 1.11,
  // It draws a picture.
  '/badge/octo/hello': 1.75,
  // It keeps nothing, and reads a row of the database each time.
  '/api/stats': 12,
} as const;
const ENDPOINTS = Object.keys(MOST_TIMES) as (keyof typeof MOST_TIMES)[];
const REFERENCE = '/with-headers';

export async function endpoints(workspace: Workspace): Promise<Row[]> {
  const build = await builtWorker(workspace);
  const builds = [build, await bareBuild(build, 'bare-route-worker.ts')];
  const services = builds.map(() => new Helper<ServiceActions>(SERVICE));
  try {
    const urls = await Promise.all(
      services.map((service, index) => start(service, builds[index] as WorkerBuild)),
    );
    return await measure(urls[0] as string, urls[1] as string);
  } finally {
    for (const service of services) await service.end();
  }
}

const SERVICE = join(import.meta.dirname, '../support/service-process.ts');

async function start(service: Helper<ServiceActions>, build: WorkerBuild): Promise<string> {
  return (await service.ask('start', { build, env: {} })).url;
}

async function measure(service: string, bare: string): Promise<Row[]> {
  const urls = [
    ...ENDPOINTS.map((path) => ({ path, url: `${service}${path}` })),
    { path: REFERENCE, url: `${bare}${REFERENCE}` },
  ];
  const pipelines = await Promise.all(
    urls.map(async ({ path, url }) => ({ path, pipeline: await Pipeline.open(url) })),
  );
  const asked = pipelines.map(({ path, pipeline }) => [path, () => pipeline.time(REQUESTS)] as const);
  const times: Record<string, number> = await medians(ROUNDS, Object.fromEntries(asked));
  return ENDPOINTS.map((path) =>
    row({
      name: `${path}, against a route with headers for browsers`,
      value: times[path] as number,
      reference: times[REFERENCE] as number,
      goal: MOST_TIMES[path],
      unit: 'ms',
    }),
  );
}
