/**
 * An isolate whose memory is taken: by many clients that begin a push and send no more. A push is refused in-band, a
 * fetch with 503, after some seconds; and once those clients have gone, everybody is served again.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { changedBuild } from '../support/changed-worker.ts';
import { LIVE_METRICS, readMetrics } from '../support/metrics.ts';
import { RawConnection } from '../support/raw-http.ts';
import { buildPack } from '../../support/pack-builder.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { packOf, pushBody, readPushAnswer, RECEIVE_PACK, send, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const PACK_HEADER = Buffer.from('5041434b0000000200000005', 'hex');
/**
 * How many commands clients send, of which the last never comes: one takes the large slot, four fill the pool, and
 * smaller ones take what is left. Then pushes with no more than the beginning of a pack take the rest.
 */
const COMMANDS = [500, 235, 235, 235, 235, 40, 40, 40, ...Array.from({ length: 10 }, () => 8)];
const CLIENTS_WITH_PACKS = 12;
const CRAWLERS = 100;
/** Those with a megabyte each: together more than twice what the memory holds. */
const LARGE_CRAWLERS = 40;
const SENT_BYTES = 1_000_000;
/** In a second: hardly more than whoever sends must. */
const CRAWLED_BYTES = 1_300;
const CLIENTS = COMMANDS.length + CLIENTS_WITH_PACKS;

/** GitHub's number for a minute, but by the hour: the tests may take longer. */
const CREATIONS = 80;

/** How long a request waits for memory; ten seconds elsewhere (test/isolate/memory-budget.test.ts). A busy machine needs two. */
const MAX_WAIT_MS = 6_000;

const bed = useOwnTestBed({
  env: { ...LIVE_METRICS, LIMIT_CREATIONS: `${CREATIONS}/1h` },
  rebuild: (build) =>
    changedBuild(build, {
      file: 'src/isolate/memory-budget.ts',
      from: 'const MAX_WAIT_MS = 10_000;',
      to: `const MAX_WAIT_MS = ${MAX_WAIT_MS};`,
    }),
});

async function beginPush(
  upstream: Upstream,
  address: string,
  pack: Uint8Array = Buffer.concat([PACK_HEADER], 1024 * 1024),
  sentBytes = PACK_HEADER.byteLength,
  command = { newId: randomBytes(20).toString('hex'), ref: 'refs/heads/x' },
): Promise<RawConnection> {
  const connection = await RawConnection.open(bed.service.url);
  const body = pushBody({ commands: [command], pack: Buffer.from(pack) });
  connection.sendHead(`/v1/gh/${upstream.fullName}/git-receive-pack`, null, {
    'CF-Connecting-IP': address,
    'Content-Type': RECEIVE_PACK,
    'Content-Length': String(body.byteLength),
  });
  connection.send(body.subarray(0, body.byteLength - pack.byteLength + sentBytes));
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

async function creationsLeft(): Promise<number> {
  const line = (await readMetrics(bed.service)).split('\n').find((text) => /_creations_left\{/.test(text));
  return Number(line?.split(' ').at(-1));
}

async function allEnded(): Promise<void> {
  // Seldom, READ_TIMEOUT passes until those that wait are turned away: half a minute.
  await expect.poll(requestsInFlight, { interval: 250, timeout: 60_000 }).toBe(1);
}

it(
  'one subscriber who begins many pushes takes nobody else’s memory',
  { ...exhaustive, timeout: 120_000 },
  async () => {
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
  },
);

it(
  'an isolate without memory says that it is busy, and serves everybody once it has some again',
  { ...exhaustive, timeout: 120_000 },
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
    const { errors, progress } = readPushAnswer(push);
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

it(
  'clients that leave amidst their commands leave nothing behind',
  { ...exhaustive, timeout: 120_000 },
  async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    const clone = await person.clone(upstream.url);
    await clone.commit({ files: { 'new.txt': 'new\n' } });
    const push = () => person.git(clone.gitFolder, ['push', 'origin', 'HEAD:refs/for/main']);
    const clients = await fillMemory(upstream, (client) => `10.${client}.0.1`);
    // The commands may still be on their way.
    let pushed = await push();
    for (let left = 20; pushed.code === 0 && left > 0; left--) pushed = await push();
    expect(pushed.stderr).toMatch(/push rejected: the service is busy|error: 503/);
    for (const client of clients) client.vanish();
    await allEnded();
    const others = await Promise.all(
      Array.from({ length: 100 }, (_, client) => beginPush(upstream, `10.8.${client}.1`)),
    );
    await expect.poll(requestsInFlight).toBeGreaterThan(others.length);
    expect(await push()).toMatchObject({ code: 0 });
    for (const client of others) client.vanish();
    await allEnded();
  },
);

it(
  'a crowd of pushes that have sent a megabyte and then crawl leaves room for others',
  { ...exhaustive, timeout: 90_000 },
  async () => {
    const upstream = await bed.createUpstream();
    const clone = await bed.person().clone(upstream.url);
    await clone.commit({ files: { 'new.txt': randomBytes(1_500_000).toString('hex') } });
    const { bytes: pack } = buildPack([{ type: 'blob', content: randomBytes(2 * SENT_BYTES) }]);
    const crawlers = await Promise.all(
      Array.from({ length: LARGE_CRAWLERS }, (_, client) =>
        beginPush(upstream, `10.9.${client}.1`, pack, SENT_BYTES),
      ),
    );
    let sent = SENT_BYTES;
    const crawl = setInterval(() => {
      const next = pack.subarray(sent, (sent += CRAWLED_BYTES));
      for (const client of crawlers) client.send(next);
    }, 1_000);
    try {
      await expect.poll(requestsInFlight).toBeGreaterThan(LARGE_CRAWLERS);
      // Whoever cannot have what they need is turned away by then.
      await setTimeout(1.5 * MAX_WAIT_MS);
      expect(await requestsInFlight()).toBeGreaterThan(LARGE_CRAWLERS);
      const push = await clone.push();
      expect(push, push.stderr).toMatchObject({ code: 0 });
      // Nor was any of them turned away.
      clearInterval(crawl);
      for (const client of crawlers.filter((_, index) => index % 4 === 0)) {
        client.send(pack.subarray(sent));
        expect((await client.answer())?.body.toString()).toContain('push rejected: fetch first');
      }
    } finally {
      clearInterval(crawl);
      for (const client of crawlers) client.vanish();
    }
    await allEnded();
  },
);

it(
  'a hundred pushes that crawl, each complete but for its end, have created nothing and leave others everything',
  { ...exhaustive, timeout: 120_000 },
  async () => {
    const [crawled, upstream] = [await bed.createUpstream(), await bed.createUpstream()];
    const person = bed.person();
    const [theirs, clone] = [await person.clone(crawled.url), await bed.person().clone(upstream.url)];
    await theirs.commit({ files: { 'new.txt': randomBytes(20_000).toString('hex') } });
    await clone.commit();
    const left = await creationsLeft();
    const pack = await packOf(theirs, ['HEAD', '^origin/main']);
    const newId = await theirs.idOf('HEAD');
    const asked = bed.host.requests.length;
    const crawlers = await Promise.all(
      Array.from({ length: CRAWLERS }, (_, client) =>
        beginPush(crawled, `10.10.${client}.1`, pack, Math.floor(pack.byteLength / 2), {
          newId,
          ref: 'refs/heads/x',
        }),
      ),
    );
    let sent = Math.floor(pack.byteLength / 2);
    const crawl = setInterval(() => {
      // Its last bytes never come.
      const next = pack.subarray(sent, Math.min(sent + CRAWLED_BYTES, pack.byteLength - 20));
      sent += next.byteLength;
      for (const client of crawlers) client.send(next);
    }, 1_000);
    try {
      await expect.poll(requestsInFlight).toBeGreaterThan(CRAWLERS);
      expect(await creationsLeft()).toBe(left);
      expect(await clone.push()).toMatchObject({ code: 0 });
      // A pull request, and the fork for it.
      expect(await creationsLeft()).toBe(left - 2);
      const written = bed.host.requests
        .slice(asked)
        .filter(({ method, path }) => method !== 'GET' && !path.endsWith('/git-upload-pack'));
      expect(written.filter(({ path }) => path.includes(`/${crawled.name}`))).toEqual([]);
      // They were not worthless: one that ends is taken.
      clearInterval(crawl);
      crawlers[0]?.send(pack.subarray(sent));
      expect((await crawlers[0]?.answer())?.body.toString()).toContain('PR URL:');
    } finally {
      clearInterval(crawl);
      for (const client of crawlers) client.vanish();
    }
    await allEnded();
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
