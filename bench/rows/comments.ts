/**
 * Comments: through the service, and through a Hono handler in the same runtime that makes the same
 * request to the host and has an object for each identity, which writes one row for a comment. On
 * one machine all objects share one thread and wait for one disk.
 */
import { join } from 'node:path';
import type { WorkerBuild } from '../../local/deploy/build.ts';
import { bareBuild } from '../support/bare-build.ts';
import { Commenters } from '../support/comment-load.ts';
import { type Row, medians, row } from '../support/figures.ts';
import { git } from '../support/git.ts';
import { Helper } from '../support/helper.ts';
import type { HostActions } from '../support/host-process.ts';
import { builtWorker } from '../support/rig.ts';
import type { ServiceActions } from '../support/service-process.ts';
import type { Workspace } from '../support/workspace.ts';

const ROUNDS = 7;
const COMMENTS = 300;
const IDENTITIES = 60;
const AT_ONCE = 16;
const TOKENS = Array.from({ length: IDENTITIES }, (_, index) => `IDENTITY${index}`);
/**
 * The service asks four objects where the other asks one, and writes a reservation for the account,
 * an attempt and the comment: measured 5.0 with many at once on one thread. At most a fifth more.
 */
const MOST_TIMES = 6;
/** The same, where the host needs as long as one on the internet: measured 1.75. */
const MOST_TIMES_SLOW = 2;
/** Far less than a host on the internet takes. */
const HOST_MS = 50;

const helper = (name: string): string => join(import.meta.dirname, `../support/${name}-process.ts`);

export async function comments(workspace: Workspace): Promise<Row[]> {
  const build = await builtWorker(workspace);
  const host = new Helper<HostActions>(helper('host'));
  const helpers = [
    build,
    await bareBuild(build, 'bare-comment-worker.ts', { IDENTITIES: 'BareIdentity' }),
  ].map((started) => ({
    started,
    service: new Helper<ServiceActions>(helper('service')),
  }));
  try {
    const thread = await openThread(host, workspace);
    const [ours, bare] = await Promise.all(
      helpers.map(
        async ({ service, started }) => `${await start(service, started, thread.env)}${thread.path}`,
      ),
    );
    const rows = await measure(ours as string, bare as string);
    await host.ask('takeTime', { delayMs: HOST_MS });
    return [...rows, await measureSlowHost(ours as string, bare as string)];
  } finally {
    for (const { service } of helpers) await service.end();
    await host.end();
  }
}

async function measure(ours: string, bare: string): Promise<Row[]> {
  const { oursMany, bareMany } = await timesOf({
    oursMany: { url: ours, atOnce: AT_ONCE, tokens: TOKENS },
    bareMany: { url: bare, atOnce: AT_ONCE, tokens: TOKENS },
  });
  return [
    row({
      name: `comment, ${IDENTITIES} identities`,
      value: oursMany,
      reference: bareMany,
      goal: MOST_TIMES,
      unit: 'ms',
    }),
  ];
}

async function measureSlowHost(ours: string, bare: string): Promise<Row> {
  const { value, reference } = await timesOf({
    value: { url: ours, atOnce: AT_ONCE, tokens: TOKENS },
    reference: { url: bare, atOnce: AT_ONCE, tokens: TOKENS },
  });
  const name = `the same, where the host needs ${HOST_MS} ms`;
  return row({ name, value, reference, goal: MOST_TIMES_SLOW, unit: 'ms' });
}

interface Crowd {
  readonly url: string;
  readonly atOnce: number;
  readonly tokens: readonly string[];
}

/** Milliseconds a comment, for each crowd. */
async function timesOf<Name extends string>(
  crowds: Readonly<Record<Name, Crowd>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(crowds) as Name[];
  const commenters = names.map((name) => new Commenters(crowds[name].url, crowds[name].atOnce));
  const timers = names.map((name, index) => [
    name,
    () => (commenters[index] as Commenters).time(COMMENTS, crowds[name].tokens),
  ]);
  try {
    return await medians(ROUNDS, Object.fromEntries(timers) as Record<Name, () => Promise<number>>);
  } finally {
    for (const each of commenters) each.close();
  }
}

async function openThread(host: Helper<HostActions>, workspace: Workspace) {
  const { url, apiUrl, botToken, notifyUrl } = await host.ask('start', null);
  const source = workspace.folder('comments');
  await git(source, ['init', '--quiet', '--bare', '.']);
  await host.ask('addRepository', { owner: 'octo', name: 'talk', source });
  await fetch(`${apiUrl}/repos/octo/talk/issues`, {
    method: 'POST',
    headers: { Authorization: `token ${botToken}` },
    body: JSON.stringify({ title: 'To talk on' }),
  });
  return {
    path: '/v1/gh/octo/talk/issues/1/comments/anonymous',
    env: {
      HOSTING_URL: url,
      HOSTING_API_URL: apiUrl,
      HOSTING_TOKEN: botToken,
      NOTIFY_BASE_URL: notifyUrl,
      // All comments come from one address.
      LIMIT_COMMENTS: '10000/1m',
      LIMIT_CREATIONS: '10000/10s',
      LIMIT_CALLS: '10000/10s',
      LIMIT_TARGET: '10000/10s',
      LIMIT_THREAD: '10000/10s',
    },
  };
}

async function start(
  service: Helper<ServiceActions>,
  build: WorkerBuild,
  env: Record<string, string>,
): Promise<string> {
  return (await service.ask('start', { build, env })).url;
}
