/** A push that is not let in: what it is told, what it costs, and what happens when nobody can say whether it is. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { systemClock } from '../../src/isolate/clock.ts';
import { HttpClient } from '../../src/outgoing/http-client.ts';
import type { Place } from '../../src/push/push-host.ts';
import worker from '../../src/worker.ts';
import { admitted } from '../support/admission.ts';
import { commitContent } from '../support/objects.ts';
import { buildPack } from '../support/pack-builder.ts';
import { FLUSH, pkt, readPushAnswer } from '../support/wire.ts';

const bindings = env as unknown as Env;
const MEBIBYTE = 1024 * 1024;
const COMMANDS = `${pkt(`${'0'.repeat(40)} ${'a'.repeat(40)} refs/heads/fix\0 report-status side-band-64k`)}${FLUSH}`;
const PUSH = Buffer.concat([
  Buffer.from(COMMANDS),
  buildPack([{ type: 'commit', content: commitContent() }]).bytes,
]);
const PASSWORD = { kind: 'password' } as const;

const lost = () => Promise.reject(new Error('Network connection lost.'));
const UNREACHABLE = {
  idFromName: () => 'id',
  get: () => ({ admit: lost, read: lost }),
};

let hostWasAsked: ReturnType<typeof vi.spyOn>;

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  hostWasAsked = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
});

afterEach(() => guard().setPanic(false, PASSWORD));

function guard() {
  return bindings.GUARD.get(bindings.GUARD.idFromName('guard'));
}

const ADDRESS = '192.0.2.99';

async function send(body: BodyInit, variables: object = {}, address = ADDRESS) {
  const context = createExecutionContext();
  const request = new Request('https://gitveil.test/v1/gh/octo/hello/git-receive-pack', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-git-receive-pack-request', 'CF-Connecting-IP': address },
    body,
  });
  const response = await worker.fetch(
    request,
    { ...bindings, HOSTING_TOKEN: 'token', ...variables },
    context,
  );
  const answer = new Uint8Array(await response.arrayBuffer());
  await waitOnExecutionContext(context);
  return { status: response.status, answer };
}

async function push(body: BodyInit, variables: object = {}, address = ADDRESS) {
  const { status, answer } = await send(body, variables, address);
  expect(status).toBe(200);
  return readPushAnswer(answer);
}

/** A body that goes on for so many mebibytes after its commands, and how many of them were taken. */
function longBody(mebibytes: number) {
  const taken = { mebibytes: 0 };
  const stream = new ReadableStream({
    type: 'bytes',
    start: (controller) => controller.enqueue(new TextEncoder().encode(COMMANDS)),
    pull(controller) {
      controller.enqueue(new Uint8Array(MEBIBYTE));
      taken.mebibytes += 1;
      if (taken.mebibytes >= mebibytes) controller.close();
    },
  });
  return { stream, taken };
}

describe('a push in panic mode', () => {
  beforeEach(() => guard().setPanic(true, PASSWORD));

  it('gets the message, and neither the account nor the host is asked', async () => {
    const answer = await push(COMMANDS, { HOST_ACCOUNTS: UNREACHABLE });
    expect(answer).toMatchObject({
      unpack: 'ok',
      refs: { 'refs/heads/fix': 'push rejected: service temporarily suspended' },
      error: 'push rejected: service temporarily suspended',
    });
    expect(answer.progress.split('\n')).toContain('SERVICE TEMPORARILY SUSPENDED');
    expect(hostWasAsked).not.toHaveBeenCalled();
  });

  it('is read to its end, so that its client hears the answer', async () => {
    const { stream, taken } = longBody(20);
    await push(stream);
    expect(taken.mebibytes).toBe(20);
  });

  it('is not read for ever: over its limit it is too large, whatever else', async () => {
    const { stream, taken } = longBody(1000);
    expect((await send(stream)).status).toBe(413);
    // The limit, and what a client may have on its way until it sees the answer.
    expect(taken.mebibytes).toBeLessThan(240);
  });

  it.each([
    ['has a moment for its answer to leave', false, 1],
    ['is forgotten at once if its client has gone', true, 0],
  ])('%s', async (_, hasGone, waits) => {
    const sleep = vi.spyOn(systemClock, 'sleep').mockClear();
    const context = createExecutionContext();
    const request = new Request('https://gitveil.test/v1/gh/octo/hello/git-receive-pack', {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-git-receive-pack-request', 'CF-Connecting-IP': ADDRESS },
      body: COMMANDS,
    });
    const { body } = await worker.fetch(request, bindings, context);
    if (hasGone) await body?.cancel();
    else await new Response(body).arrayBuffer();
    await waitOnExecutionContext(context);
    expect(sleep.mock.calls.filter(([ms]) => ms === 20)).toHaveLength(waits);
  });
});

it('the account learns neither the address, nor which push it is, nor where it goes', async () => {
  const told: unknown[] = [];
  const HOST_ACCOUNTS = {
    idFromName: () => 'id',
    get: () => ({
      async admit(...values: unknown[]) {
        told.push(values);
        return { pauseMs: 0, waitMs: 0, taken: 'id', refusal: null, own: [], full: [] };
      },
    }),
  };
  // Whoever has the disk could look a push up by its hash: which pull request it opens, and where.
  const pushHash = 'f'.repeat(64);
  const refusal = await admitted(ADDRESS, { HOST_ACCOUNTS }, async (admission) =>
    (await admission.place(pushHash)).take({ owner: 'octo', name: 'hello' }, []),
  );
  expect(refusal).toBeNull();
  const text = JSON.stringify(told);
  expect(text.match(/"[0-9a-f]{64}"/g)).toHaveLength(4);
  expect(text).not.toMatch(new RegExp(`${ADDRESS}|${pushHash}|octo|hello`));
});

describe('a push is refused', () => {
  it.each([
    ['the guard', { GUARD: UNREACHABLE }],
    ['the key of the hashes', { SERVICE_SECRET: UNREACHABLE }],
  ])('when %s cannot be asked', async (_what, variables) => {
    const answer = await push(PUSH, variables);
    expect(answer.error).toBe('push rejected: the service cannot check its limits');
    expect(answer.progress).toContain('Nothing was changed. Push again in a few minutes.');
    expect(hostWasAsked).not.toHaveBeenCalled();
  });
});

describe('the places of a client', () => {
  const ADDRESS_IN_48 = '2001:db8:48:7::1';
  const GIVEN = { kind: 'taken', own: ['own', 'site'], full: [] };
  const TAKEN = { pauseMs: 0, waitMs: 0, taken: 'a creation', refusal: null, full: [] };
  const FULL = { isReserved: false, isShared: false, attempts: 21, isAlertDue: true };

  /** What a push asks of the account, with this answer; and what the operator is told. */
  async function ask(
    answer: (places: { of: { client: string }[] }) => object,
    work: (place: Place) => Promise<unknown> = (place) => place.settle(false),
  ) {
    const asked: unknown[] = [];
    const alerts: unknown[] = [];
    let clients: string[] = [];
    const named = (hash: string): string => ['own', 'site'][clients.indexOf(hash)] ?? hash;
    const account = {
      async admit(_client: string, _creates: boolean, _limits: unknown, opening: { places: never }) {
        const told = await account.reservePlaces(opening.places, false);
        return { ...TAKEN, ...told };
      },
      async reservePlaces(places: { of: { client: string }[] }, isAnother: boolean) {
        if (clients.length === 0) clients = places.of.map(({ client }) => client);
        asked.push([isAnother ? 'another' : 'reserve', ...places.of.map(({ client }) => named(client))]);
        const told = answer(places) as { own?: string[]; client?: string };
        return JSON.parse(
          JSON.stringify(told).replaceAll(/"(own|site)"(?!:)/g, (_, name: string) =>
            JSON.stringify(clients[name === 'own' ? 0 : 1]),
          ),
        );
      },
      async giveBack(taken: string | null, opening: { clients: string[] }) {
        asked.push(['give back', taken, ...opening.clients.map(named)]);
      },
    };
    const GUARD = {
      idFromName: () => 'id',
      get: () => ({
        rateLimitExceeded: async ({ network }: { network: string }, figures: object) =>
          void alerts.push([network, figures]),
      }),
    };
    const variables = { HOST_ACCOUNTS: { idFromName: () => 'id', get: () => account }, GUARD };
    const refusal = await admitted(ADDRESS_IN_48, variables, async (admission) =>
      work(await admission.place('push')),
    );
    return { asked, alerts, reason: refusal?.reason ?? null };
  }

  it.each([
    ['own', '2001:db8:48:7::/64', 5],
    ['site', '2001:db8:48::/48', 20],
  ])('refuse a push, and the operator is told whose they are: %s', async (client, network, most) => {
    expect(await ask(() => ({ kind: 'full', client, refusal: FULL }))).toEqual({
      asked: [['reserve', 'own', 'site']],
      alerts: [[network, { attempts: 21, most }]],
      reason: 'rate limit exceeded',
    });
  });

  it('refuse a push while they cannot be asked', async () => {
    const { reason } = await ask(() => {
      throw new Error('Network connection lost.');
    });
    expect(reason).toBe('the service cannot check its limits');
  });

  it('that an earlier attempt has taken stay its own', async () => {
    const { asked } = await ask(
      () => ({ ...GIVEN, own: ['site'] }),
      async (place) => {
        await place.settle(false);
        await place.release();
      },
    );
    expect(asked).toEqual([
      ['reserve', 'own', 'site'],
      ['give back', null, 'site'],
    ]);
  });

  it('are given back with all that was taken, once, if nothing was opened', async () => {
    const { asked } = await ask(
      () => GIVEN,
      async (place) => {
        await place.take({ owner: 'octo', name: 'hello' }, []);
        await place.release();
        await place.release();
      },
    );
    expect(asked).toEqual([
      ['reserve', 'own', 'site'],
      ['give back', 'a creation', 'own', 'site'],
    ]);
  });

  it('are taken once more for the same push after its answer', async () => {
    const { asked } = await ask(
      ({ of }) => ({ ...GIVEN, own: of.length === 2 ? ['site'] : ['own'] }),
      async (place) => {
        await place.take({ owner: 'octo', name: 'hello' }, []);
        await place.settle(true);
        await place.release();
      },
    );
    expect(asked).toEqual([
      ['reserve', 'own', 'site'],
      ['another', 'own'],
      ['give back', 'a creation', 'site', 'own'],
    ]);
  });
});
