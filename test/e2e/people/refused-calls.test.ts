/** Which objects the requests of a client over its limit still reach, by the real objects: none that others need. */
import { expect, it } from 'vitest';
import { buildWorker } from '../../../local/build.ts';
import { buildPack, oidOf } from '../../support/pack-builder.ts';
import { contribute } from '../support/contribution.ts';
import type { Counts } from '../support/counting-worker.ts';
import type { Person } from '../support/person.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { packOf, pushBody, send, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

const FURTHER = 30;
/** As many of a client's pushes the guard needs to see a burst. */
const BURST = 20;

const bed = useOwnTestBed({
  // By the hour: the tests may take longer than a minute.
  env: {
    LIMIT_PUSHES: '60/1h',
    LIMIT_DISCOVERIES: '80/1h',
    LIMIT_COMMENTS: '2/1h',
    LIMIT_CALLS: '130/1h',
  },
  rebuild: () => buildWorker('test/e2e/support/counting-worker.ts'),
});

/** Calls of the objects that everybody needs, since the last time. A copy of the panic switch is renewed each second. */
async function callsOfHotObjects(): Promise<string[]> {
  const response = await fetch(`${bed.service.url}/counts`);
  const { calls } = await response.json<Counts>();
  const names = calls.map(({ name }) => name);
  return names.filter(
    (name) => /^(GUARD|HOST_ACCOUNTS|CLIENT_WINDOWS)\./.test(name) && name !== 'GUARD.status',
  );
}

/** One request; what its client reads. */
type Attempt = (person: Person, upstream: Upstream) => Promise<string>;

const postJson =
  (path: string, payload: object): Attempt =>
  async (person, upstream) => {
    const answer = await send(`${upstream.url}${path}`, {
      method: 'POST',
      person,
      headers: { 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify(payload)),
    });
    return answer.body.toString();
  };

const read =
  (path: string, headers: Record<string, string> = {}): Attempt =>
  async (person, upstream) =>
    (await send(`${upstream.url}${path}`, { person, headers })).body.toString();

/** A commit on nothing. */
const push =
  (...options: string[]): Attempt =>
  async (person, upstream) => {
    const content = Buffer.from(
      `tree ${oidOf('tree', Buffer.alloc(0))}\nauthor N <n@n> 1 +0000\ncommitter N <n@n> 1 +0000\n\n${crypto.randomUUID()}\n`,
    );
    const { bytes: pack } = buildPack([{ type: 'commit', content }]);
    const commands = [{ newId: oidOf('commit', content), ref: 'refs/heads/fix' }];
    const answer = await sendPush(upstream.url, person, pushBody({ commands, pack, options }));
    return readReport(answer.body).errors.join();
  };

/** Of a repository that nobody has asked about, so that the host has to be asked. */
const previewElsewhere: Attempt = async (person) => push('preview')(person, await bed.createUpstream());

it.each<[what: string, reach: Attempt, further: readonly Attempt[], refusal: RegExp]>([
  ['pushes', push(), [push(), push('preview')], /too many pushes/],
  ['previews', push('preview'), [push('preview'), push()], /too many pushes/],
  [
    'discoveries',
    read('/info/refs?service=git-receive-pack'),
    [read('/info/refs?service=git-receive-pack'), read('/info/refs?service=git-upload-pack')],
    /Too many clones/,
  ],
  [
    'comments',
    postJson('/issues/1/comments/anonymous', { body: 'Words' }),
    [postJson('/issues/1/comments/anonymous', { body: 'Words' })],
    /too many comments/,
  ],
  [
    'issues',
    postJson('/issues/anonymous', { title: 'A', body: 'B' }),
    [postJson('/issues/anonymous', { title: 'A', body: 'B' })],
    /too many comments and issues/,
  ],
  [
    'calls that it causes',
    previewElsewhere,
    [push(), push('preview'), postJson('/issues/anonymous', { title: 'A', body: 'B' })],
    /too many requests/,
  ],
])('a client over its limit of %s reaches none of them', exhaustive, async (_, reach, further, refusal) => {
  const upstream = await bed.createUpstream();
  const person = bed.person();
  const [first] = further as [Attempt];
  for (let left = 100; ; left--) {
    expect(left).toBeGreaterThan(0);
    await reach(person, upstream);
    if (refusal.test(await first(person, upstream))) break;
  }
  await callsOfHotObjects();
  const asked = bed.host.requests.length;
  for (let count = 0; count < FURTHER; count++) {
    for (const attempt of further) expect(await attempt(person, upstream)).toMatch(refusal);
  }
  expect(await callsOfHotObjects()).toEqual([]);
  expect(bed.host.requests).toHaveLength(asked);
});

it(
  'a client that has opened five pull requests reaches the guard only as often as makes a burst',
  exhaustive,
  async () => {
    const { upstream, person, clone } = await contribute(bed);
    const bodies: Buffer[] = [];
    for (let count = 0; count < 5; count++) {
      await clone.commit();
      const pack = await packOf(clone, ['HEAD', '^origin/main']);
      const commands = [{ newId: await clone.idOf('HEAD'), ref: `refs/heads/fix-${count}` }];
      const body = pushBody({ commands, pack });
      bodies.push(body);
      expect(readReport((await sendPush(upstream.url, person, body)).body).errors).toEqual([]);
    }
    const repeated = async (body: Buffer) =>
      readReport((await sendPush(upstream.url, person, body)).body).errors.join();
    expect(await push()(person, upstream)).toBe('push rejected: rate limit exceeded');
    // One that was answered asks for another place, and is known after that.
    for (const body of bodies) expect(await repeated(body)).toBe('push rejected: rate limit exceeded');
    await callsOfHotObjects();
    const asked = bed.host.requests.length;
    const refused: string[] = [];
    for (let count = 0; count < FURTHER; count++) {
      refused.push(await push()(person, upstream), await repeated(bodies[count % 5] as Buffer));
    }
    expect(new Set(refused)).toEqual(new Set(['push rejected: rate limit exceeded']));
    const calls = await callsOfHotObjects();
    expect(new Set(calls)).toEqual(new Set(['GUARD.admit']));
    expect(calls.length).toBeLessThanOrEqual(BURST);
    expect(bed.host.requests).toHaveLength(asked);
  },
);
