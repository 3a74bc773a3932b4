/**
 * POST /v1/held: publishes a held push. Only the scheduled handler asks for it, of its own Worker, so that the work is
 * done where requests are placed. The caller must show the service's own seal, and hold the lease of the push.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { hostWithKey } from '../../config/hosts.ts';
import { openHttp } from '../../configured.ts';
import type { LeasedHold } from '../../durable/held-pushes/held-push-record.ts';
import { type Lease, LEASE_MS } from '../../durable/held-pushes/held-pushes.ts';
import { RELEASE_PATH, type ReleaseAnswer, releaseSeal } from '../../durable/held-pushes/release-due.ts';
import type { AppEnv, Env } from '../../env.ts';
import { systemClock } from '../../isolate/clock.ts';
import { isolateMemory, type MemoryHold } from '../../isolate/memory-budget.ts';
import { heldPushesOf } from '../../objects.ts';
import type { Admission } from '../../push/push-host.ts';
import { inProgress, PushRun } from '../../push/push-run.ts';
import { failureOf, type HeldEnd, release } from '../../push/hold/release.ts';
import { UnreadableError } from '../../push/verdict/encoding.ts';
import { NotedReply } from '../../push/reply/reply.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { isSameSecret } from '../../secret/same-secret.ts';
import { LostRowError } from '../../spool/sealed-rows.ts';
import { forkWants, writeWants } from '../../limits/wants.ts';
import { readPayload } from '../request/payload.ts';
import { suspensionOf } from '../request/suspension.ts';
import { pushSettings } from './git-push.ts';
import { openPlace, reserve, suspended } from './push-admission.ts';
import { pushHost } from './push-host.ts';
import { readHeldBytes, readHeldPush } from './read-held.ts';

/** A key that was written in one place may be read in another only after a while. */
const KEY_DELAY_MS = 60_000;
const PANIC_PAUSE_MS = 60_000;
/** The operator may have lost the token, or a line of the configuration, for a while. */
const NO_HOST_PAUSE_MS = 10 * 60_000;
/** Of what may be created: it is left to those who wait for an answer, however much is due. */
const LEFT_TO_LIVE = 1 / 16;

const releaseRequest = z.object({ prHash: z.string(), lease: z.string(), seal: z.string(), now: z.int() });

export const heldPublisher = new Hono<AppEnv>();

heldPublisher.post(RELEASE_PATH, async (c) => {
  const request = await readPayload(c, releaseRequest);
  if (request.kind === 'refused') return c.notFound();
  const { now, seal, ...lease } = request.fields;
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  if (!isSameSecret(seal, releaseSeal(secret, lease))) return c.notFound();
  const held = await heldPushesOf(c.env).open(lease);
  if (held === null) return c.notFound();
  const objects = () => heldPushesOf(c.env);
  const staying = stayAlive(() => objects().renew(lease));
  try {
    const { failure, isForAll } = await publishHeld(c, held, lease);
    await (failure === null ? objects().published(lease) : objects().failed(lease, failure, now));
    return c.json<ReleaseAnswer>({ stop: isForAll });
  } finally {
    staying.abort();
  }
});

/** @param renew answers false if the lease is lost: then it changes nothing any more. */
function stayAlive(renew: () => Promise<boolean>): AbortController {
  const end = new AbortController();
  const loop = async (): Promise<void> => {
    for (;;) {
      await systemClock.sleep(LEASE_MS / 5, end.signal);
      if (end.signal.aborted || !(await renew().catch(() => true))) return;
    }
  };
  void loop();
  return end;
}

/** Making a fork takes up to a minute, and sending long: meanwhile it may have been discarded. @throws Refusal */
async function mayGoOn(env: Env, lease: Lease): Promise<void> {
  const [isOurs, { panicMode }] = await Promise.all([heldPushesOf(env).renew(lease), suspensionOf(env)]);
  if (panicMode) throw suspended();
  if (!isOurs) throw inProgress('this push is not held any more', 'Look at its page.');
}

/** Never rejects. */
async function publishHeld(
  c: Context<AppEnv>,
  held: LeasedHold,
  lease: Lease,
): Promise<HeldEnd | { readonly failure: null; readonly isForAll: false }> {
  // What is published later is nobody's any more, and makes nobody wait.
  const memory = isolateMemory.open(systemClock, null, false);
  try {
    if ((await suspensionOf(c.env)).panicMode)
      return later('The service is suspended.', PANIC_PAUSE_MS, true);
    const host = hostWithKey(c.var.config, held.host);
    if (host === undefined || host.token === null) {
      return later('The service has no bot account at the code host now.', NO_HOST_PAUSE_MS, false);
    }
    c.set('host', host);
    c.set('http', openHttp(c.var.config));
    const key = await c.env.HELD_KEYS.get(held.spool.attempt);
    if (key === null) {
      return held.failures < 3
        ? later('Its key is not there yet.', KEY_DELAY_MS, false)
        : final('the key of the held push is gone', 'Push it again.');
    }
    await releaseWith(c, held, key, memory, () => mayGoOn(c.env, lease));
    c.var.logger.info('held push published');
    return { failure: null, isForAll: false };
  } catch (error) {
    if (error instanceof LostRowError || error instanceof UnreadableError) {
      c.var.logger.error('held push is lost', { error });
      return error instanceof LostRowError
        ? final('what was kept of the held push is gone', 'Push it again.')
        : final('another version of this service has stored the held push', 'Push it again.');
    }
    const end = failureOf(error);
    const message = end.failure.kind === 'final' ? 'held push failed' : 'held push not published yet';
    c.var.logger.warn(message, { error });
    return end;
  } finally {
    memory.end();
  }
}

async function releaseWith(
  c: Context<AppEnv>,
  held: LeasedHold,
  key: string,
  memory: MemoryHold,
  stillMay: () => Promise<void>,
): Promise<void> {
  const host = pushHost(c, { memory, admission: heldAdmission(c, held.client) });
  const { logger } = c.var;
  const read = (start = 0, end = held.entryBytes) =>
    readHeldBytes(c.env, held, key, memory, start, Math.min(end, held.entryBytes));
  const push = await readHeldPush(c.env, held, key, memory);
  const run = new PushRun(host, pushSettings(c), push.push.repository, { reply: new NotedReply(), logger });
  const place = await host.admission.place(push.pushHash);
  run.claims.holdIsKnown();
  try {
    await release(run, push, { prHash: held.prHash, spool: { read }, place }, stillMay);
  } catch (error) {
    run.claims.failed(true);
    await place.release();
    throw error;
  } finally {
    await run.end(true);
  }
}

/**
 * Its client was admitted when it was pushed, and has given a place for it.
 * @param client the random name by which it is known here. Its shares are counted under that.
 */
function heldAdmission(c: Context<AppEnv>, client: string): Admission {
  const limits = c.var.config.limits.creations.map(({ most, withinMs }) => ({
    most: Math.max(1, Math.floor(most * (1 - LEFT_TO_LIVE))),
    withinMs,
  }));
  const place = openPlace(c, writeWants(client), limits, client);
  return {
    enter: async () => null,
    refuseFull: async () => null,
    place: async () => place,
    peek: async () => null,
    takeShare: async () => void (await reserve(c, writeWants(client))),
    takeFork: async () => void (await reserve(c, forkWants(client, null, limits))),
  };
}

function later(said: string, askedMs: number, isForAll: boolean): HeldEnd {
  return { failure: { kind: 'later', said: [said], askedMs, counts: !isForAll }, isForAll };
}

function final(reason: string, advice: string): HeldEnd {
  return { failure: { kind: 'final', said: [reason, advice] }, isForAll: false };
}
