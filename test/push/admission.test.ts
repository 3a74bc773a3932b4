/** A push that is not let in: what it is told, what it costs, and what happens when nobody can say whether it is. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { systemClock } from '../../src/isolate/clock.ts';
import { HttpClient } from '../../src/outgoing/http-client.ts';
import type { Admission } from '../../src/push/admission.ts';
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
  get: () => ({ admit: lost, reservePlace: lost, releasePlace: lost, read: lost }),
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

  it('gets the message, and neither its window nor the host is asked', async () => {
    const answer = await push(COMMANDS, { CLIENT_WINDOWS: UNREACHABLE });
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

describe('the window of an address', () => {
  it('learns neither the address nor which push it is', async () => {
    const told: string[] = [];
    const CLIENT_WINDOWS = {
      idFromName: () => 'id',
      get: () => ({
        async reservePlace(client: string, key: string) {
          told.push(client, key);
          return { isReserved: true };
        },
      }),
    };
    // Whoever has the disk could look a push up by its hash: which pull request it opens, and where.
    const pushHash = 'f'.repeat(64);
    const refusal = await admitted(ADDRESS, { CLIENT_WINDOWS }, (admission) => admission.reserve(pushHash));
    expect(refusal).toBeNull();
    expect(told).toHaveLength(2);
    for (const text of told) expect(text).toMatch(/^[0-9a-f]{64}$/);
    expect(told).not.toContain(pushHash);
  });
});

describe('a push is refused', () => {
  it.each([
    ['the guard', { GUARD: UNREACHABLE }],
    ['the window of its address', { CLIENT_WINDOWS: UNREACHABLE }],
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
  const GIVEN = { isReserved: true, isShared: false };
  const SHARED = { isReserved: true, isShared: true };
  const FULL = { isReserved: false, isShared: false, attempts: 21, isAlertDue: true };

  /** What a push asks of its own window and of that of its /48, with these answers; and what the operator is told. */
  async function ask(
    answers: Record<'own' | 'site', object | null>,
    work: (admission: Admission) => Promise<unknown> = (admission) => admission.reserve('push'),
  ) {
    const asked: string[] = [];
    const alerts: unknown[] = [];
    const clients: string[] = [];
    /** The client's own window is asked first. */
    const which = (client: string): 'own' | 'site' => {
      if (!clients.includes(client)) clients.push(client);
      return client === clients[0] ? 'own' : 'site';
    };
    const windows = {
      async reservePlace(client: string, _key: string, _most: number, isAnother: boolean) {
        asked.push(`${which(client)} ${isAnother ? 'another' : 'reserve'}`);
        return isAnother ? GIVEN : (answers[which(client)] ?? lost());
      },
      releasePlace: async (client: string) => void asked.push(`${which(client)} release`),
      hit: async (_client: string, action: string) => (asked.push(`count ${action}`), { waitMs: 0 }),
      takeBack: async (_client: string, action: string) => void asked.push(`take back ${action}`),
    };
    const variables = {
      CLIENT_WINDOWS: { idFromName: () => 'id', get: () => windows },
      GUARD: {
        idFromName: () => 'id',
        get: () => ({
          rateLimitExceeded: async ({ network }: { network: string }, figures: object) =>
            void alerts.push([network, figures]),
        }),
      },
    };
    const refusal = await admitted(ADDRESS_IN_48, variables, work);
    return { asked, alerts, reason: refusal?.reason ?? null };
  }

  it('of a /48 are left alone by a client that has none of its own left', async () => {
    expect(await ask({ own: FULL, site: FULL })).toEqual({
      asked: ['own reserve'],
      alerts: [['2001:db8:48:7::/64', { attempts: 21, most: 5 }]],
      reason: 'rate limit exceeded',
    });
  });

  it('of a /48 refuse a push, which then keeps no place of its own', async () => {
    expect(await ask({ own: GIVEN, site: FULL })).toEqual({
      asked: ['own reserve', 'site reserve', 'own release'],
      alerts: [['2001:db8:48::/48', { attempts: 21, most: 20 }]],
      reason: 'rate limit exceeded',
    });
  });

  it('are given back when another cannot be had', async () => {
    expect(await ask({ own: GIVEN, site: null })).toEqual({
      asked: ['own reserve', 'site reserve', 'own release'],
      alerts: [],
      reason: 'the service cannot check its limits',
    });
  });

  it('that an earlier attempt has taken stay its own', async () => {
    const { asked } = await ask({ own: SHARED, site: SHARED }, async (admission) =>
      (await admission.reserve('push')).release(),
    );
    expect(asked).toEqual(['own reserve', 'site reserve']);
  });

  it('are given back with what was counted for the repository, if nothing was opened', async () => {
    const { asked } = await ask({ own: GIVEN, site: GIVEN }, async (admission) => {
      const place = await admission.reserve('push');
      await place.takeShare({ owner: 'octo', name: 'hello' }, []);
      await place.release();
      await place.release();
    });
    expect(asked).toEqual([
      'own reserve',
      'site reserve',
      'count target',
      'own release',
      'site release',
      'take back target',
    ]);
  });

  it('are taken once more for the same push after its answer', async () => {
    const { asked } = await ask({ own: SHARED, site: GIVEN }, async (admission) => {
      const place = await admission.reserve('push');
      await place.settle(true);
      await place.release();
    });
    expect(asked).toEqual(['own reserve', 'site reserve', 'own another', 'site release', 'own release']);
  });
});
