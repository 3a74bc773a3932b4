/** In whose name upstream is listed, and what refusals say. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GitTransport } from '../../../src/host/git/git-transport.ts';
import { openRepositories } from '../../../src/host/open.ts';
import { SmartHttp } from '../../../src/host/git/smart-http.ts';
import { pullRequestsOf } from '../../../src/host/rest/reads.ts';
import { MemoryBudget } from '../../../src/isolate/memory-budget.ts';
import { ACCOUNT } from '../support/back-off.ts';
import { BAND_DATA, encodeBand } from '../../../src/git/wire/side-band.ts';
import { piecesOf } from '../../support/byte-chunks.ts';
import { commitContent, oidNumber } from '../../support/objects.ts';
import { buildPack, makeDelta, oidOf } from '../../support/pack-builder.ts';
import { API, json, PatientClock, type Script, ScriptedHost } from '../support/scripted-host.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { pktText } from '../../support/pkt-line.ts';

const REPOSITORY = { owner: 'octo', name: 'hello' };
const OID = 'a'.repeat(40);
const LIST = `${pktText(`${OID} refs/heads/main\n`)}0000`;

/** An answer with a pack. */
const answered = (...pieces: Uint8Array[]) =>
  Buffer.concat([
    Buffer.from(pktText('packfile\n')),
    ...pieces.map((piece) => Buffer.from(encodeBand(BAND_DATA, piece))),
    Buffer.from('0000'),
  ]);

let isPublic: boolean;
let lookUps: number;

beforeEach(() => {
  [isPublic, lookUps] = [true, 0];
});

function opened(script: Script) {
  const http = new ScriptedHost(script);
  const clock = new PatientClock();
  const account = { token: 'secret', ...ACCOUNT };
  const budget = new MemoryBudget();
  const change = vi.spyOn(budget, 'change');
  const memory = budget.open(clock);
  const transport = new GitTransport(
    new SmartHttp('https://host.test', account, http),
    clock,
    memory,
    async () => ((lookUps += 1), isPublic),
  );
  const list = () => transport.listRefs(REPOSITORY, ['refs/heads/'], 'upstream');
  const callers = () => http.asked.map(({ headers }) => (headers.has('Authorization') ? 'bot' : 'public'));
  const mostBytes = () => Math.max(...change.mock.calls.map(([, bytes]) => bytes));
  return { transport, list, callers, mostBytes, memory };
}

it('reads an answer to its end, so that the next request can have the connection', async () => {
  const { readable, writable } = new IdentityTransformStream();
  let hasEnded = false;
  const answer = async (): Promise<void> => {
    const writer = writable.getWriter();
    await writer.write(new TextEncoder().encode(LIST));
    await scheduler.wait(5);
    hasEnded = true;
    await writer.close();
  };
  const { list } = opened(() => {
    void answer();
    return new Response(readable);
  });
  await list();
  expect(hasEnded).toBe(true);
});

const refusesPublic: Script = ({ headers }) =>
  headers.has('Authorization') ? new Response(LIST) : new Response('Too many requests', { status: 429 });

describe('a host that takes a connection and says nothing', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is given up in time, and not asked again', async () => {
    const TIMEOUT_MS = 15_000;
    const clock = new PatientClock();
    let asked = 0;
    const fetch = (...[, init]: Parameters<typeof globalThis.fetch>) =>
      new Promise<Response>((_, reject) => {
        asked += 1;
        init?.signal?.addEventListener('abort', () => {
          clock.at += TIMEOUT_MS;
          reject(new Error('aborted'));
        });
      });
    const http = new SmartHttp('https://host.test', null, { fetch }, TIMEOUT_MS);
    const transport = new GitTransport(http, clock, new MemoryBudget().open(clock), null);
    const listing = transport
      .listRefs(REPOSITORY, ['refs/heads/'], 'upstream')
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    expect(await listing).toMatchObject({ name: 'HostError', code: 'unreachable' });
    expect(asked).toBe(1);
  });
});

it('refs of more than is read are asked for once, and that is final', exhaustive, async () => {
  let asked = 0;
  const { transport } = opened(() => {
    asked += 1;
    const line = new TextEncoder().encode(pktText(`${OID} refs/tags/${'v1/'.repeat(20_000)}\n`));
    return new Response(
      new ReadableStream({ type: 'bytes', pull: (controller) => controller.enqueue(line.slice()) }),
    );
  });
  await expect(transport.advertised(REPOSITORY, new Set(['b'.repeat(40)]))).rejects.toMatchObject({
    publicMessage: 'host.test answers with more than this service reads.',
    failure: { effect: 'none', lasts: 'final' },
  });
  expect(asked).toBe(1);
});

it('refs are read no further when nobody waits for them any more', async () => {
  const line = new TextEncoder().encode(pktText(`${OID} refs/tags/v1\n`));
  const enough = new AbortController();
  let lines = 0;
  const pull = (controller: ReadableByteStreamController) => {
    if (++lines === 3) enough.abort();
    controller.enqueue(line.slice());
  };
  const { transport } = opened(() => new Response(new ReadableStream({ type: 'bytes', pull })));
  const found = await transport.advertised(REPOSITORY, new Set(['b'.repeat(40)]), enough.signal);
  expect(found.size).toBe(0);
  expect(lines).toBeLessThan(1_000);
});

it('of all ids of refs, those that come before it is too much are known', async () => {
  const line = new TextEncoder().encode(pktText(`${OID} refs/tags/${'v1/'.repeat(20_000)}\n`));
  const { transport } = opened(
    () =>
      new Response(
        new ReadableStream({ type: 'bytes', pull: (controller) => controller.enqueue(line.slice()) }),
      ),
  );
  const ids = await transport.advertisedIds(REPOSITORY);
  expect([ids.has(OID), ids.has('b'.repeat(40))]).toEqual([true, false]);
});

describe('a listing of upstream', () => {
  it('goes without the token', async () => {
    const { list, callers } = opened(() => new Response(LIST));
    await list();
    await list();
    expect(callers()).toEqual(['public', 'public']);
  });

  it('that the host refuses to everyone at this address is made by the bot, if the repository is public', async () => {
    const { list, callers } = opened(refusesPublic);
    expect(await list()).toMatchObject({ refs: [{ oid: OID }] });
    expect([callers(), lookUps]).toEqual([['public', 'bot'], 1]);
  });

  it('that the host refuses to everyone is not made by the bot, if the repository is private', async () => {
    isPublic = false;
    const { list, callers } = opened(refusesPublic);
    await expect(list()).rejects.toMatchObject({ code: 'rate-limited' });
    expect(callers()).toEqual(['public']);
  });

  it('that ends in an error packet is told in its words', async () => {
    const { list, transport } = opened(() => new Response(pktText('ERR the repository is being\nmoved\n')));
    const told = { code: 'unreachable', publicMessage: 'host.test says: the repository is being moved' };
    await expect(list()).rejects.toMatchObject(told);
    await expect(transport.listHistory(REPOSITORY, { wants: [OID] }, 1000)).rejects.toMatchObject(told);
  });

  it.each([
    pktText('ERR no commits selected for shallow requests\n'),
    // Git's own, which ends there.
    pktText('shallow-info\n'),
    '0000',
    '',
  ])('without a commit of that age is no failure: %j', async (answer) => {
    const { transport } = opened(() => new Response(answer));
    expect(await transport.listHistory(REPOSITORY, { wants: [OID] }, 1000)).toEqual({
      kind: 'none-selected',
    });
  });

  it.each(['<html>', 'hello', pktText('shallow-info\n').slice(0, -3), `${pktText('shallow-info\n')}00`])(
    'that is malformed is a failure, and not without commits: %j',
    async (answer) => {
      const { transport } = opened(() => new Response(answer));
      await expect(transport.listHistory(REPOSITORY, { wants: [OID] }, 1000)).rejects.toMatchObject({
        code: 'unreachable',
      });
    },
  );
});

/** Differences of so many objects that do not come, in packets. */
function basesAhead(count: number): Buffer {
  const delta = makeDelta(Buffer.from('x'), Buffer.from('x'));
  const entries = Array.from({ length: count }, (_, at) => ({
    type: 'ref-delta' as const,
    base: oidNumber(at),
    delta,
  }));
  return answered(...piecesOf(buildPack(entries).bytes, 60_000));
}

describe('differences whose bases do not come', () => {
  it(
    'are counted in a listing while they are few, and no listing when they are many',
    exhaustive,
    async () => {
      const { transport, mostBytes } = opened(() => new Response(basesAhead(10_000)));
      const request = { wants: [OID] };
      expect(await transport.listHistory(REPOSITORY, request, 1e7)).toMatchObject({ kind: 'listed' });
      expect(mostBytes()).toBeGreaterThan(512 * 1024 + 48 * 7_000);
      const many = opened(() => new Response(basesAhead(15_000)));
      await expect(many.transport.listHistory(REPOSITORY, request, 1e7)).rejects.toMatchObject({
        code: 'unreachable',
        publicMessage: expect.stringMatching(/did not answer as expected/),
      });
    },
  );

  it('end the reading of objects at once', async () => {
    const answer = [basesAhead(1).subarray(0, -4), Buffer.from(pktText('ERR too late\n'))];
    const { transport } = opened(() => new Response(Buffer.concat(answer)));
    await expect(transport.readObjects(REPOSITORY, { wants: [OID] }, 1024)).rejects.toMatchObject({
      publicMessage: expect.stringMatching(/did not answer as expected/),
    });
  });
});

describe('an answer of the host', () => {
  it('counts as work, by what has come', async () => {
    const { list, memory } = opened(() => new Response(LIST));
    await list();
    expect(memory.workedBytes).toBe(LIST.length);
  });

  it('counts as work, by what has come out of a pack, too', async () => {
    const contents = Array.from({ length: 50 }, (_, at) =>
      commitContent({ message: `${at} `.repeat(1_000) }),
    );
    const { bytes } = buildPack(contents.map((content) => ({ type: 'commit', content })));
    const { transport, memory } = opened(() => new Response(answered(bytes)));
    const listed = await transport.listHistory(REPOSITORY, { wants: [OID] }, 1_000_000);
    expect(listed).toMatchObject({ kind: 'listed', commits: { size: 50 } });
    expect(memory.workedBytes).toBeGreaterThan(
      contents.reduce((sum, { length }) => sum + length, bytes.length),
    );
    expect(memory.workedBytes).toBeLessThan(200_000);
  });
});

describe('the bot', () => {
  it.each([401, 403])('that the host refuses with %i hears why', async (status) => {
    const { transport } = opened(() => new Response('Your account is suspended.\n', { status }));
    const said = `Your account is suspended. (${status})`;
    await expect(transport.listRefs(REPOSITORY, [], 'bot')).rejects.toMatchObject({
      code: 'refused',
      publicMessage: `host.test refuses the bot account: ${said}`,
      said,
    });
  });

  it('is shown no web page', async () => {
    const headers = { 'Content-Type': 'text/html' };
    const { transport } = opened(() => new Response('<html>', { status: 403, headers }));
    await expect(transport.listRefs(REPOSITORY, [], 'bot')).rejects.toMatchObject({
      said: 'no reason (403)',
    });
  });
});

describe('a look-up', () => {
  it('says for ten minutes that a repository is public, under both of its names, and that one is no more', async () => {
    const clock = new PatientClock();
    let isPrivate = false;
    const http = new ScriptedHost(() =>
      json(200, {
        id: 1,
        name: 'new',
        owner: { login: 'octo' },
        private: isPrivate,
        archived: false,
        size: 1,
      }),
    );
    const github = openRepositories({
      kind: 'github',
      apiUrl: API,
      token: 'secret',
      http,
      ...ACCOUNT,
      clock,
    });
    const isKnown = (name: string) => pullRequestsOf(API, { owner: 'Octo', name }, clock.now()) !== null;
    expect(isKnown('old')).toBe(false);
    await github.repository({ owner: 'octo', name: 'old' });
    expect([isKnown('old'), isKnown('new'), isKnown('other')]).toEqual([true, true, false]);
    clock.at += 10 * 60_000;
    expect(isKnown('old')).toBe(false);
    await github.repository({ owner: 'octo', name: 'old' });
    isPrivate = true;
    await github.repository({ owner: 'octo', name: 'old' });
    expect([isKnown('old'), isKnown('new')]).toEqual([false, false]);
  });
});

describe('objects that are read by their ids', () => {
  const BLOB = Buffer.from('content of a file\n');
  const { bytes: pack } = buildPack([{ type: 'blob', content: BLOB }]);
  const read = (answer: Uint8Array | string, maxBytes = 1024) =>
    opened(() => new Response(answer)).transport.readObjects(REPOSITORY, { wants: [OID] }, maxBytes);

  it('come with what was asked for, and stay when the memory is given back', async () => {
    const oid = oidOf('blob', BLOB);
    const objects = await read(answered(pack.subarray(0, 20), pack.subarray(20)));
    expect(objects?.get(oid)).toEqual({ type: 'blob', oid, content: new Uint8Array(BLOB) });
  });

  it.each([
    ['says that it has none', pktText('ERR upload-pack: not our ref\n'), /says: upload-pack: not our ref/],
    ['says nothing', '0000', /did not answer as expected/],
    ['ends too early', answered(pack.subarray(0, -21)), /did not answer as expected/],
    [
      'sends a difference without its base',
      answered(buildPack([{ type: 'ref-delta', base: OID, delta: makeDelta(BLOB, BLOB) }]).bytes),
      /did not answer as expected/,
    ],
    ['sends something else', 'hello', /did not answer as expected/],
  ])('fail in words if the host %s', async (_, answer, message) => {
    await expect(read(answer)).rejects.toMatchObject({
      code: 'unreachable',
      publicMessage: expect.stringMatching(message),
    });
  });

  it('are none if they are larger than wanted', async () => {
    const { bytes } = buildPack([{ type: 'blob', content: Buffer.alloc(10_000) }]);
    expect(await read(answered(bytes))).toBeNull();
  });
});
