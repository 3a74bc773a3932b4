/**
 * A push that is not let in: what it is told, what it costs, and what happens when nobody can say
 * whether it is.
 */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { systemClock } from '../../src/isolate/clock.ts';
import { forgetEverything } from '../../src/isolate/recent.ts';
import { HttpClient } from '../../src/outgoing/http-client.ts';
import { type Claim, pullRequestClaim, windowName, writeClaim } from '../../src/limits/claim.ts';
import { clientIn } from '../../src/limits/client.ts';
import type { Slot } from '../../src/push/push-host.ts';
import { Refusal } from '../../src/push/reply/refusal.ts';
import { PullRequestSlot, reserveSlot } from '../../src/service/slot.ts';
import worker from '../../src/worker.ts';
import { admitted, inScope } from '../support/admission.ts';
import { commitContent } from '../support/objects.ts';
import { buildPack } from '../support/pack-builder.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { FLUSH, pktText, readReport } from '../support/pkt-line.ts';

const bindings = env as unknown as Env;
const MEBIBYTE = 1024 * 1024;
const COMMANDS = `${pktText(`${'0'.repeat(40)} ${'a'.repeat(40)} refs/heads/fix\0 report-status side-band-64k`)}${FLUSH}`;
const PUSH = Buffer.concat([
  Buffer.from(COMMANDS),
  buildPack([{ type: 'commit', content: commitContent() }]).bytes,
]);
const PASSWORD = { kind: 'password' } as const;

const lost = () => Promise.reject(new Error('Network connection lost.'));
const littleLeft = async () => ({ kind: 'denied', window: 'openings', full: null, waitMs: 60_000 });
const UNREACHABLE = {
  idFromName: () => 'id',
  get: () => ({ admit: lost, reserve: lost, denial: lost, read: lost }),
};

let hostWasAsked: ReturnType<typeof vi.spyOn>;

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  hostWasAsked = vi.spyOn(HttpClient.prototype, 'fetch').mockRejectedValue(new TypeError('no network'));
});

afterEach(async () => {
  await guard().setPanic(false, PASSWORD);
  forgetEverything();
});

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
  return readReport(answer);
}

/**
 * A body that goes on for so many mebibytes after its commands, and how many of them were taken.
 */
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
      report: ['unpack ok', 'ng refs/heads/fix push rejected: service temporarily suspended'],
      errors: ['push rejected: service temporarily suspended'],
    });
    expect(answer.progress).toContain('SERVICE TEMPORARILY SUSPENDED');
    expect(hostWasAsked).not.toHaveBeenCalled();
  });

  it('gets the message also if the guard is reset when it cannot store that a burst was told', async () => {
    const GUARD = { idFromName: () => 'id', get: () => ({ admit: lost, status: () => guard().status() }) };
    const answer = await push(COMMANDS, { GUARD });
    expect(answer.errors).toEqual(['push rejected: service temporarily suspended']);
  });

  it('is read to its end, so that its client hears the answer', async () => {
    const { stream, taken } = longBody(20);
    await push(stream);
    expect(taken.mebibytes).toBe(20);
  });

  it('is not read for ever: over its limit it is too large, whatever else', exhaustive, async () => {
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
      async reserve(...values: unknown[]) {
        told.push(values);
        return { kind: 'granted', pauseMs: 0, id: 'id', windows: [], full: [] };
      },
    }),
  };
  // Whoever has the disk could look a push up by its hash: which pull request it opens, and where.
  const pushHash = 'f'.repeat(64);
  const refusal = await admitted(ADDRESS, { HOST_ACCOUNTS }, async (admission) =>
    (await admission.slot(pushHash)).take({ owner: 'octo', name: 'hello' }, []),
  );
  expect(refusal).toBeNull();
  const text = JSON.stringify(told);
  // Whose it is, under this name and those before, which push, and where: no more.
  const [claim] = told.flat() as [Claim];
  const earlier = claim.byEarlier ?? [];
  const names = text.match(/[0-9a-f]{64}/g)?.filter((name) => !earlier.includes(name));
  expect(new Set(names).size).toBe(3);
  expect(text).not.toMatch(new RegExp(`${ADDRESS}|${pushHash}|octo|hello`));
});

describe('a push is refused', () => {
  it.each([
    ['the guard', { GUARD: UNREACHABLE }],
    ['the key of the hashes', { SERVICE_SECRET: UNREACHABLE }],
  ])('when %s cannot be asked', async (_what, variables) => {
    const answer = await push(PUSH, variables);
    expect(answer.errors).toEqual(['push rejected: the service cannot check its limits']);
    expect(answer.progress.join('\n')).toContain('Nothing was changed. Push again in a few minutes.');
    expect(hostWasAsked).not.toHaveBeenCalled();
  });
});

describe('the places of a client', () => {
  const ADDRESS_IN_48 = '2001:db8:48:7::1';
  const FULL = { attempts: 21, isAlertDue: true, holders: [] };

  /**
   * Answers what a push asks of an account that gives this answer, and what the operator is told.
   */
  async function ask(
    answer: (kinds: readonly string[], time: number) => object,
    work: (slot: Slot) => Promise<unknown> = (slot) => slot.settle(false),
    mayTrack = async (): Promise<void> => {},
  ) {
    const asked: unknown[] = [];
    const alerts: unknown[] = [];
    const account = {
      async reserve({ windows, push: { isAnother } }: Claim & { push: { isAnother: boolean } }) {
        const kinds = windows.map(({ kind }) => kind);
        asked.push([isAnother ? 'another' : 'reserve', ...kinds]);
        const { without = [], ...told } = answer(kinds, asked.length) as { without?: string[] };
        const own = windows.filter(({ kind }) => !without.includes(kind));
        const granted = { kind: 'granted', id: `${asked.length}`, windows: own.map(windowName), full: [] };
        return { pauseMs: 0, ...granted, ...told };
      },
      async release(id: string) {
        asked.push(['release', id]);
      },
    };
    const GUARD = {
      idFromName: () => 'id',
      get: () => ({
        mayTrack,
        async tell({ attempts, most }: { attempts: number; most: number }, _at: number, network: string) {
          alerts.push([network, { attempts, most }]);
        },
      }),
    };
    const variables = { HOST_ACCOUNTS: { idFromName: () => 'id', get: () => account }, GUARD };
    const refusal = await admitted(ADDRESS_IN_48, variables, async (admission) =>
      work(await admission.slot('push')),
    );
    return { asked, alerts, reason: refusal?.reason ?? null };
  }

  it.each([
    ['address', '2001:db8:48:7::/64', 5],
    ['prefix', '2001:db8:48::/48', 20],
  ])('refuse a push, and the operator is told whose they are: %s', async (kind, network, most) => {
    const full = { ...FULL, name: `${kind} of somebody` };
    expect(
      await ask(() => ({ kind: 'denied', window: kind, waitMs: 60_000, withinMs: 3_600_000, full })),
    ).toEqual({
      asked: [['reserve', 'address', 'prefix']],
      alerts: [[network, { attempts: 21, most }]],
      reason: 'rate limit exceeded',
    });
  });

  it.each([
    ['address', ADDRESS_IN_48, 'max 5 PRs per hour per IP.'],
    ['prefix', ADDRESS_IN_48, 'max 20 PRs per hour per IPv6 /48.'],
    ['prefix', 'fc00:dead:beef:4dad::1:2', 'max 100 PRs per hour per onion service.'],
  ])('are named with the limit that denies: %s, %s', async (window, address, words) => {
    const denied = async () => ({ kind: 'denied', window, full: null, waitMs: 60_000, withinMs: 3_600_000 });
    const account = { idFromName: () => 'id', get: () => ({ reserve: denied, denial: denied }) };
    const variables = { HOST_ACCOUNTS: account };
    const lines: (string | undefined)[] = [];
    await inScope(address, variables, async (scope) => {
      // A delayed push has its client's claim, but knows no client.
      const claim = pullRequestClaim(clientIn(scope.network, 'secret'), 'push');
      const limits = { creations: [], openings: [] };
      const slot = new PullRequestSlot(scope, { claim, account: limits, burst: 'name', client: null });
      const refusal: unknown = await slot.settle(false).catch((error: unknown) => error);
      lines.push(refusal instanceof Refusal ? refusal.lines[0] : undefined);
    });
    await admitted(address, variables, async (limits) => {
      lines.push((await limits.peek())?.lines[0]);
    });
    expect(lines).toEqual([`Rate limit exceeded: ${words}`, `Rate limit exceeded: ${words}`]);
  });

  it.each([
    ['the account', undefined, 'account'],
    // Else whoever invites the App could stop all delayed pushes.
    ['an installation of the App', 'installation', 'rate-limited'],
  ])('say who has little left: %s', async (_, payer, code) => {
    const HOST_ACCOUNTS = { idFromName: () => 'id', get: () => ({ reserve: littleLeft }) };
    await inScope(ADDRESS, { HOST_ACCOUNTS }, async (scope) => {
      const reserving = reserveSlot(scope, writeClaim('name'), null, null, payer);
      await expect(reserving).rejects.toMatchObject({ code, outcome: 'rate-limited', waitMs: 60_000 });
    });
  });

  it('refuse a push while they cannot be asked', async () => {
    const { reason } = await ask(() => {
      throw new Error('Network connection lost.');
    });
    expect(reason).toBe('the service cannot check its limits');
  });

  it('are no reason of a push that fails for another one while they cannot be asked', async () => {
    const variables = { HOST_ACCOUNTS: UNREACHABLE };
    expect(await admitted(ADDRESS_IN_48, variables, (admission) => admission.refuseFull())).toBeNull();
  });

  it('are released with all that was reserved, once, if nothing was opened', async () => {
    const { asked } = await ask(
      () => ({}),
      async (slot) => {
        await slot.take({ owner: 'octo', name: 'hello' }, []);
        await slot.settle(true);
        await slot.release();
        await slot.release();
      },
    );
    expect(asked).toEqual([
      ['reserve', 'address', 'prefix', 'repository', 'account'],
      ['release', '1'],
    ]);
  });

  it('are released if what is opened could not be tracked', async () => {
    const { asked, reason } = await ask(
      () => ({}),
      (slot) => slot.take({ owner: 'octo', name: 'hello' }, []),
      () => Promise.reject(new Error('database or disk is full: SQLITE_FULL')),
    );
    expect(asked.slice(1)).toEqual([['release', '1']]);
    expect(reason).toBe('the service cannot write at the moment');
  });

  it.each([
    ['of an earlier attempt stay its own', false, 'reserve'],
    ['are reserved once more for the same push after its answer', true, 'another'],
  ])('%s', async (_, isAnother, how) => {
    const { asked } = await ask(
      (_kinds, time) => (time === 1 ? { without: ['address', 'prefix'] } : isAnother ? {} : { id: null }),
      async (slot) => {
        await slot.take({ owner: 'octo', name: 'hello' }, []);
        await slot.settle(isAnother);
        await slot.release();
      },
    );
    expect(asked).toEqual([
      ['reserve', 'address', 'prefix', 'repository', 'account'],
      [how, 'address', 'prefix'],
      ['release', '1'],
      ...(isAnother ? [['release', '2']] : []),
    ]);
  });

  it('leave the push to the host’s pause, and are released', async () => {
    const { asked, reason } = await ask(
      () => ({ pauseMs: 600_000 }),
      (slot) => slot.take({ owner: 'octo', name: 'hello' }, []),
    );
    expect(asked.slice(1)).toEqual([['release', '1']]);
    expect(reason).toBe('the code host asks to wait');
  });
});
