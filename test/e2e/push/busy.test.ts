/**
 * An isolate whose memory is taken: by many clients that begin a push and send no more. A push is
 * refused in-band, a fetch with 503, after some seconds; and once those clients have gone,
 * everybody is served again.
 */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { changedBuild } from '../support/changed-worker.ts';
import { LIVE_METRICS, readMetrics } from '../support/metrics.ts';
import { RawConnection } from '../support/raw-http.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { packOf, pushBody, RECEIVE_PACK, send, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

const PACK_HEADER = Buffer.from('5041434b0000000200000005', 'hex');
/**
 * How many commands clients send, of which the last never comes: one takes the large slot, four
 * fill the pool, and smaller ones take what is left. Then pushes with no more than the beginning of
 * a pack take the rest.
 */
const COMMANDS = [500, 235, 235, 235, 235, 40, 40, 40, ...Array.from({ length: 10 }, () => 8)];
const CLIENTS_WITH_PACKS = 12;
const CLIENTS = COMMANDS.length + CLIENTS_WITH_PACKS;

/**
 * How long a request waits for memory; ten seconds elsewhere (test/isolate/memory-budget.test.ts).
 * A busy machine needs two.
 */
const MAX_WAIT_MS = 6_000;

const bed = useOwnTestBed({
  env: LIVE_METRICS,
  rebuild: (build) =>
    changedBuild(build, {
      file: 'src/isolate/memory-budget.ts',
      from: 'const MAX_WAIT_MS = 10_000;',
      to: `const MAX_WAIT_MS = ${MAX_WAIT_MS};`,
    }),
});

/** A push whose pack has begun. */
async function beginPush(upstream: Upstream, address: string): Promise<RawConnection> {
  const connection = await RawConnection.open(bed.service.url);
  const command = { newId: randomBytes(20).toString('hex'), ref: 'refs/heads/x' };
  const body = pushBody({ commands: [command], pack: PACK_HEADER });
  connection.sendHead(`/v1/gh/${upstream.fullName}/git-receive-pack`, null, {
    'CF-Connecting-IP': address,
    'Content-Type': RECEIVE_PACK,
    'Content-Length': String(body.byteLength + 1024 * 1024),
  });
  connection.send(body);
  return connection;
}

/** Commands that never end. */
async function beginCommands(upstream: Upstream, address: string, count: number): Promise<RawConnection> {
  const connection = await RawConnection.open(bed.service.url);
  connection.sendHead(`/v1/gh/${upstream.fullName}/git-receive-pack`, null, {
    'CF-Connecting-IP': address,
    'Content-Type': RECEIVE_PACK,
    'Content-Length': String(64 * 1024 * 1024),
  });
  const commands = Array.from({ length: count }, (_, at) => ({
    newId: '1'.repeat(40),
    ref: `refs/heads/${at}${'x'.repeat(16_000)}`,
  }));
  connection.send(pushBody({ commands, pack: Buffer.alloc(0) }).subarray(0, -8));
  return connection;
}

/** Takes all of the isolate's memory. */
async function fillMemory(upstream: Upstream, address: (client: number) => string): Promise<RawConnection[]> {
  const clients: RawConnection[] = [];
  for (let client = 0; client < CLIENTS; client++) {
    const count = COMMANDS[client];
    clients.push(
      count === undefined
        ? await beginPush(upstream, address(client))
        : await beginCommands(upstream, address(client), count),
    );
    // Their bytes may still be on their way.
    await expect.poll(requestsInFlight).toBeGreaterThan(client + 1);
  }
  return clients;
}

async function requestsInFlight(): Promise<number> {
  const text = await readMetrics(bed.service, 'application/json');
  return (JSON.parse(text) as { goroutines: number }).goroutines;
}

async function allEnded(): Promise<void> {
  // Seldom, READ_TIMEOUT passes until those that wait are turned away: half a minute.
  await expect.poll(requestsInFlight, { interval: 250, timeout: 60_000 }).toBe(1);
}

it('one subscriber who begins many pushes takes nobody else’s memory', exhaustive, async () => {
  const upstream = await bed.createUpstream();
  const person = bed.person();
  const clone = await person.clone(upstream.url);
  await clone.commit({ files: { 'new.txt': 'new\n' } });
  await send(`${upstream.url}/info/refs?service=git-receive-pack`, { person });
  const clients = await fillMemory(upstream, (client) => `2001:db8:9:${client}::1`);
  await expect.poll(requestsInFlight).toBeGreaterThan(CLIENTS);
  const push = await person.git(clone.gitFolder, ['push', 'origin', 'HEAD:refs/for/main']);
  expect(push, push.stderr).toMatchObject({ code: 0 });
  for (const client of clients) client.vanish();
  await allEnded();
});

it(
  'an isolate without memory says that it is busy, and serves everybody once it has some again',
  exhaustive,
  async () => {
    const [pushed, fetched] = [await bed.createUpstream(), await bed.createUpstream()];
    const [pusher, fetcher] = [bed.person(), bed.person()];
    const clone = await pusher.clone(pushed.url);
    await clone.commit({ files: { 'new.txt': 'new\n' } });
    const shallow = await fetcher.clone(fetched.url, '--depth', '1');
    await fetched.grow({ count: 1 });
    const command = { newId: await clone.idOf('HEAD'), ref: 'refs/for/main' };
    const body = pushBody({ commands: [command], pack: await packOf(clone, ['HEAD', '^origin/main']) });

    const clients = await fillMemory(pushed, (client) => `10.7.0.${client}`);
    await expect.poll(requestsInFlight).toBeGreaterThan(CLIENTS);

    const [push, fetch] = await Promise.all([
      // Git asks for the refs first, and would be told so then.
      sendPush(pushed.url, pusher, body),
      fetcher.git(shallow.path, ['fetch', '--verbose', 'origin'], { env: { GIT_CURL_VERBOSE: '1' } }),
    ]);
    const { errors, progress } = readReport(push.body);
    expect(errors).toEqual(['push rejected: the service is busy']);
    expect(progress.join('\n')).toContain('Push again in a minute.');
    expect(fetch.code).not.toBe(0);
    expect(fetch.stderr).toMatch(/HTTP\/1\.1 503/);
    expect(fetch.stderr).toMatch(/retry-after: 60/i);

    for (const client of clients) client.vanish();
    await allEnded();
    expect(await pusher.git(clone.gitFolder, ['push', 'origin', 'HEAD:refs/for/main'])).toMatchObject({
      code: 0,
    });
    expect(await fetcher.git(shallow.path, ['fetch', 'origin'])).toMatchObject({ code: 0 });
  },
);

it('forms that are announced and not sent take no memory from others', exhaustive, async () => {
  const upstream = await bed.createUpstream();
  const clients = await Promise.all(Array.from({ length: 6 }, () => RawConnection.open(bed.service.url)));
  for (const client of clients) {
    client.sendHead(`/v1/gh/${upstream.fullName}/change`, null, {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': String(1024 * 1024),
    });
    client.send(Buffer.from('text='));
  }
  await expect.poll(requestsInFlight).toBeGreaterThan(clients.length);
  const clone = await bed.person().clone(upstream.url);
  await clone.commit();
  expect(await clone.push()).toMatchObject({ code: 0 });
  for (const client of clients) client.vanish();
});
