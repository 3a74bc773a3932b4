/**
 * An isolate whose memory is taken: by many clients that begin a push and send no more. A push is refused in-band, a
 * fetch with 503, after some seconds; and once those clients have gone, everybody is served again.
 */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { RawConnection } from './support/raw-http.ts';
import { useTestBed } from './support/test-bed.ts';
import type { Upstream } from './support/upstream.ts';
import { pushBody, RECEIVE_PACK, send } from './support/wire.ts';

/** They fill the pool but for 250 KiB, and one of them takes the large place. */
const CLIENTS = 64;
const ANNOUNCED_BYTES = 260;
const PACK_HEADER = Buffer.from('5041434b0000000200000005', 'hex');

const bed = useTestBed();

async function beginPush(upstream: Upstream, address: string): Promise<RawConnection> {
  const connection = await RawConnection.open(bed.service.url);
  connection.sendHead(`/v1/gh/${upstream.fullName}/git-receive-pack`, null, {
    'CF-Connecting-IP': address,
    'Content-Type': RECEIVE_PACK,
    'Content-Length': String(ANNOUNCED_BYTES),
  });
  const command = { newId: randomBytes(20).toString('hex'), ref: 'refs/heads/x' };
  connection.send(pushBody({ commands: [command], pack: PACK_HEADER }));
  return connection;
}

async function requestsInFlight(): Promise<number> {
  const { body } = await send(`${bed.service.url}/metrics`);
  return (JSON.parse(body.toString()) as { goroutines: number }).goroutines;
}

it('one subscriber who begins many pushes takes nobody else’s memory', async () => {
  const upstream = await bed.createUpstream();
  const person = bed.person();
  const clone = await person.clone(upstream.url);
  await clone.commit({ files: { 'new.txt': 'new\n' } });
  await send(`${upstream.url}/info/refs?service=git-receive-pack`, { person });
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, (_, client) => beginPush(upstream, `2001:db8:9:${client}::1`)),
  );
  while ((await requestsInFlight()) <= CLIENTS) await new Promise((resolve) => setTimeout(resolve, 20));
  const push = await person.git(clone.path, ['push', 'origin', 'HEAD:refs/for/main']);
  expect(push, push.stderr).toMatchObject({ code: 0 });
  for (const client of clients) client.vanish();
  while ((await requestsInFlight()) > 1) await new Promise((resolve) => setTimeout(resolve, 20));
}, 60_000);

it('an isolate without memory says that it is busy, and serves everybody once it has some again', async () => {
  const [pushed, fetched] = [await bed.createUpstream(), await bed.createUpstream()];
  const [pusher, fetcher] = [bed.person(), bed.person()];
  const clone = await pusher.clone(pushed.url);
  await clone.commit({ files: { 'new.txt': 'new\n' } });
  const shallow = await fetcher.clone(fetched.url, '--depth', '1');
  await fetched.grow({ count: 1 });
  // So that its history is known, and its next discovery takes nothing for it.
  await send(`${pushed.url}/info/refs?service=git-receive-pack`, { person: pusher });

  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, (_, client) => beginPush(pushed, `10.7.0.${client}`)),
  );
  while ((await requestsInFlight()) <= CLIENTS) await new Promise((resolve) => setTimeout(resolve, 20));

  const [push, fetch] = await Promise.all([
    pusher.git(clone.path, ['push', 'origin', 'HEAD:refs/for/main']),
    fetcher.git(shallow.path, ['fetch', '--verbose', 'origin'], { env: { GIT_CURL_VERBOSE: '1' } }),
  ]);
  expect(push.code).toBe(1);
  expect(push.stderr).toMatch(/! \[remote rejected\] .*\(push rejected: the service is busy\)/);
  expect(push.stderr).toContain('Push again in a minute.');
  expect(fetch.code).not.toBe(0);
  expect(fetch.stderr).toMatch(/HTTP\/1\.1 503/);
  expect(fetch.stderr).toMatch(/retry-after: 60/i);

  for (const client of clients) client.vanish();
  while ((await requestsInFlight()) > 1) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await pusher.git(clone.path, ['push', 'origin', 'HEAD:refs/for/main'])).toMatchObject({ code: 0 });
  expect(await fetcher.git(shallow.path, ['fetch', 'origin'])).toMatchObject({ code: 0 });
}, 60_000);

/** Nearly as many commands as a push may have; they never end. */
async function beginCommands(upstream: Upstream, address: string): Promise<RawConnection> {
  const connection = await RawConnection.open(bed.service.url);
  connection.sendHead(`/v1/gh/${upstream.fullName}/git-receive-pack`, null, {
    'CF-Connecting-IP': address,
    'Content-Type': RECEIVE_PACK,
    'Content-Length': String(64 * 1024 * 1024),
  });
  const commands = Array.from({ length: 500 }, (_, at) => ({
    newId: '1'.repeat(40),
    ref: `refs/heads/${at}${'x'.repeat(16_000)}`,
  }));
  connection.send(pushBody({ commands, pack: Buffer.alloc(0) }).subarray(0, -8));
  return connection;
}

async function allEnded(): Promise<void> {
  while ((await requestsInFlight()) > 1) await new Promise((resolve) => setTimeout(resolve, 20));
}

it('clients that leave amidst their commands leave nothing behind', async () => {
  const upstream = await bed.createUpstream();
  const person = bed.person();
  const clone = await person.clone(upstream.url);
  await clone.commit({ files: { 'new.txt': 'new\n' } });
  const push = () => person.git(clone.path, ['push', 'origin', 'HEAD:refs/for/main']);
  // Two fill the pool, one takes the large place, and one is turned away and holds what is left.
  const clients = await Promise.all(
    Array.from({ length: 4 }, (_, client) => beginCommands(upstream, `10.${client}.0.1`)),
  );
  let pushed = await push();
  // The commands may still be on their way.
  while (pushed.code === 0) pushed = await push();
  expect(pushed.stderr).toMatch(/push rejected: the service is busy|error: 503/);
  for (const client of clients) client.vanish();
  await allEnded();
  const others = await Promise.all(
    Array.from({ length: 40 }, (_, client) => beginPush(upstream, `10.8.${client}.1`)),
  );
  while ((await requestsInFlight()) <= others.length) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await push()).toMatchObject({ code: 0 });
  for (const client of others) client.vanish();
  await allEnded();
}, 60_000);

it('forms that are announced and not sent take no memory from others', async () => {
  const upstream = await bed.createUpstream();
  const clients = await Promise.all(Array.from({ length: 6 }, () => RawConnection.open(bed.service.url)));
  for (const client of clients) {
    client.sendHead(`/v1/gh/${upstream.fullName}/change`, null, {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': String(1024 * 1024),
    });
    client.send(Buffer.from('text='));
  }
  while ((await requestsInFlight()) <= clients.length)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const clone = await bed.person().clone(upstream.url);
  await clone.commit();
  expect(await clone.push()).toMatchObject({ code: 0 });
  for (const client of clients) client.vanish();
});
