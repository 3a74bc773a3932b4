/**
 * POST /v1/delayed: publishes a delayed push. Only this service itself asks for it, of its own Worker, so that the work
 * is done where requests are placed. The caller must show the service's own seal, and hold the lease of the push.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { hostWithKey } from '../../config/hosts.ts';
import { openHttp } from '../../configured.ts';
import type { DelayedIntent, Lease, LeasedPush } from '../../durable/delayed-pushes/delayed-push.ts';
import { LEASE_MS } from '../../durable/delayed-pushes/delayed-rows.ts';
import { RELEASE_PATH, type ReleaseAnswer, releaseSeal } from '../../durable/delayed-pushes/release-due.ts';
import type { AppEnv } from '../../env.ts';
import { systemClock } from '../../isolate/clock.ts';
import { isolateMemory, type MemoryHold } from '../../isolate/memory-budget.ts';
import { forkWants, type Wants, writeWants } from '../../limits/wants.ts';
import { delayedPushesOf } from '../../objects.ts';
import { isForReview } from '../../push/delay/keep.ts';
import { type KeptPush, UnreadableError } from '../../push/delay/kept-push.ts';
import { type DelayedEnd, failureOf, release } from '../../push/delay/release.ts';
import type { Published } from '../../push/publish/publish.ts';
import type { Admission } from '../../push/push-host.ts';
import { inProgress, PushRun } from '../../push/push-run.ts';
import { countPush } from '../../push/reply/refusal.ts';
import { NotedReply } from '../../push/reply/reply.ts';
import { removeBegun as removeFromHost } from '../../push/withdraw.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { isSameSecret } from '../../secret/same-secret.ts';
import { LostRowError } from '../../spool/sealed-rows.ts';
import { readPayload } from '../request/payload.ts';
import { suspensionOf } from '../request/suspension.ts';
import { pushSettings } from './git-push.ts';
import { openPlace, reserve, suspended } from './push-admission.ts';
import { pushHost } from './push-host.ts';
import { readDelayedBytes, readDelayedPush } from './read-delayed.ts';

/** A key that was written in one place may be read in another only after a while. */
const KEY_DELAY_MS = 60_000;
const MOST_KEY_TRIES = 3;
const PANIC_PAUSE_MS = 60_000;
/** The operator may have lost the token, or a line of the configuration, for a while. */
const NO_HOST_PAUSE_MS = 10 * 60_000;
/** Of what may be created: it is left to those who wait for an answer, however much is due. */
const LEFT_TO_LIVE = 1 / 16;

const releaseRequest = z.object({ name: z.string(), lease: z.string(), seal: z.string(), now: z.int() });

export const delayedPublisher = new Hono<AppEnv>();

delayedPublisher.post(RELEASE_PATH, async (c) => {
  const request = await readPayload(c, releaseRequest);
  if (request.kind === 'refused') return c.notFound();
  const { now, seal, ...lease } = request.fields;
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  if (!isSameSecret(seal, releaseSeal(secret, lease))) return c.notFound();
  const leased = await delayedPushesOf(c.env).open(lease);
  if (leased === null) return c.notFound();
  const objects = () => delayedPushesOf(c.env);
  const staying = stayAlive(() => objects().renew(lease));
  try {
    const end = await publishDelayed(c, leased, lease);
    if (end.kind === 'failed') await objects().failed(lease, end.failure, now);
    return c.json<ReleaseAnswer>({ stop: end.kind === 'failed' && end.isForAll });
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

type End = { readonly kind: 'published' } | ({ readonly kind: 'failed' } & DelayedEnd);

/** Never rejects. */
async function publishDelayed(c: Context<AppEnv>, leased: LeasedPush, lease: Lease): Promise<End> {
  // What is published later is nobody's any more, and makes nobody wait.
  const memory = isolateMemory.open(systemClock, null, false);
  try {
    if ((await suspensionOf(c.env)).panicMode)
      return later('The service is suspended.', PANIC_PAUSE_MS, true);
    if (!openAt(c, leased.host)) {
      return later('The service has no bot account at the code host now.', NO_HOST_PAUSE_MS, false);
    }
    const key = await c.env.DELAYED_KEYS.get(leased.spool.attempt);
    if (key === null) {
      return leased.failures < MOST_KEY_TRIES
        ? later('Its key is not there yet.', KEY_DELAY_MS, false)
        : final('its key is gone', 'Push it again.');
    }
    const kept = await readDelayedPush(c.env, leased, key, memory);
    const reply = new NotedReply();
    const run = runOf(c, kept, leased.client, memory, reply);
    // A setting that is newer than the push.
    if (!leased.isApproved && (await isForReview(run)))
      return { kind: 'failed', failure: { kind: 'review' }, isForAll: false };
    const { prHash, pullRequest } = await releaseLeased(c, run, kept, { leased, lease, key, memory });
    const isOpened = kept.work.prHash !== prHash;
    // Who named a pull request without its key is not shown it.
    const isKeyShown = isOpened || kept.work.hasKey;
    const objects = delayedPushesOf(c.env);
    if (!(await objects.published(lease, { prHash, url: pullRequest.url, isKeyShown, notes: reply.notes }))) {
      const state = (await objects.view(lease.name))?.state;
      // It was given up, or rolled back, while the host opened it. Else another run publishes the same.
      if (isOpened && state !== 'waiting' && state !== 'published')
        await removeAt(c, kept.target, prHash, memory);
      return { kind: 'published' };
    }
    countPush(null, null);
    c.var.logger.info('delayed push published');
    return { kind: 'published' };
  } catch (error) {
    if (error instanceof LostRowError || error instanceof UnreadableError) {
      c.var.logger.error('delayed push is lost', { error });
      return error instanceof LostRowError
        ? final('what was kept of it is gone', 'Push it again.')
        : final('another version of this service has stored it', 'Push it again.');
    }
    const end = failureOf(error, leased.failures);
    const isFinal = end.failure.kind === 'final';
    if (isFinal) await removeLeft(c, lease);
    const message = isFinal ? 'delayed push failed' : 'delayed push not published yet';
    c.var.logger.warn(message, { error });
    return { kind: 'failed', ...end };
  } finally {
    memory.end();
  }
}

/** False: the service has no account there now. */
function openAt(c: Context<AppEnv>, hostKey: string): boolean {
  const host = hostWithKey(c.var.config, hostKey);
  if (host === undefined || host.token === null) return false;
  c.set('host', host);
  c.set('http', openHttp(c.var.config));
  return true;
}

function runOf(
  c: Context<AppEnv>,
  { target, owed }: Pick<KeptPush, 'target' | 'owed'>,
  client: string,
  memory: MemoryHold,
  reply = new NotedReply(),
): PushRun {
  const host = pushHost(c, { memory, admission: delayedAdmission(c, client, owed) });
  return new PushRun(host, pushSettings(c), target, { reply, logger: c.var.logger });
}

/** @throws Refusal if the lease is lost */
function stillOurs<T>(answer: T | null): T {
  if (answer === null) throw inProgress('this push waits no more', 'Look at its page.');
  return answer;
}

interface Leased {
  readonly leased: LeasedPush;
  readonly lease: Lease;
  readonly key: string;
  readonly memory: MemoryHold;
}

async function releaseLeased(
  c: Context<AppEnv>,
  run: PushRun,
  kept: KeptPush,
  { leased, lease, key, memory }: Leased,
): Promise<Published> {
  const read = (start = 0, end = leased.entryBytes) =>
    readDelayedBytes(c.env, leased, key, memory, start, Math.min(end, leased.entryBytes));
  const place = await run.host.admission.place(kept.pushHash);
  try {
    return await release(run, kept, {
      spool: { read },
      place,
      // Making a fork takes up to a minute, and sending long: meanwhile it may have been given up.
      async mayGoOn() {
        const [isOurs, { panicMode }] = await Promise.all([
          delayedPushesOf(c.env).renew(lease),
          suspensionOf(c.env),
        ]);
        if (panicMode) throw suspended();
        stillOurs(isOurs || null);
      },
      begin: async (intent: DelayedIntent) => stillOurs(await delayedPushesOf(c.env).begin(lease, intent)),
      keepTo: async (intent) => void stillOurs(await delayedPushesOf(c.env).rebind(lease, intent)),
    });
  } catch (error) {
    // What has begun stands in its row.
    run.claims.failed(false);
    await place.release();
    throw error;
  } finally {
    await run.end(true);
  }
}

/** Nobody would remove what the attempts have left once it has ended. Never rejects. */
async function removeLeft(c: Context<AppEnv>, lease: Lease): Promise<void> {
  const leased = await delayedPushesOf(c.env)
    .open(lease)
    .catch(() => null);
  if (leased === null || leased.intent === null) return;
  await removeBegun(c, { name: lease.name, host: leased.host, intent: leased.intent });
}

/** Removes what an attempt to publish a push that was given up has left at the host. Never rejects. */
export async function removeBegun(
  c: Context<AppEnv>,
  { name, host, intent }: { readonly name: string; readonly host: string; readonly intent: DelayedIntent },
): Promise<'removed' | 'failed'> {
  const memory = isolateMemory.open(systemClock, null, false);
  try {
    const listed = openAt(c, host) ? await delayedPushesOf(c.env).listed(name) : null;
    const key = listed && (await c.env.DELAYED_KEYS.get(listed.spool.attempt));
    if (listed === null || key === null) return 'failed';
    const { target } = await readDelayedPush(c.env, listed, key, memory);
    await removeAt(c, target, intent.prHash, memory);
    return 'removed';
  } catch (error) {
    c.var.logger.warn('a push that was given up could not be removed from the code host', { error });
    return 'failed';
  } finally {
    memory.end();
  }
}

/** Rejects if the host does not take it. */
async function removeAt(
  c: Context<AppEnv>,
  target: KeptPush['target'],
  prHash: string,
  memory: MemoryHold,
): Promise<void> {
  const run = runOf(c, { target, owed: null }, 'operator', memory);
  try {
    await removeFromHost(run, prHash);
  } finally {
    await run.end(true);
  }
}

/**
 * Its client was admitted when it was pushed.
 * @param client the random name by which it is known here. Its shares are counted under that.
 * @param owed what its network's limits could not give it then.
 */
function delayedAdmission(c: Context<AppEnv>, client: string, owed: Wants | null): Admission {
  const limits = c.var.config.limits.creations.map(({ most, withinMs }) => ({
    most: Math.max(1, Math.floor(most * (1 - LEFT_TO_LIVE))),
    withinMs,
  }));
  const place = openPlace(c, owed ?? writeWants(client), limits, client);
  return {
    enter: async () => null,
    refuseFull: async () => null,
    place: async () => place,
    peek: async () => null,
    takeShare: async () => void (await reserve(c, writeWants(client))),
    takeFork: async () => void (await reserve(c, forkWants(client, null, limits))),
  };
}

function later(said: string, askedMs: number, isForAll: boolean): End {
  const failure = { kind: 'later', said: [said], askedMs, counts: !isForAll } as const;
  return { kind: 'failed', failure, isForAll };
}

function final(reason: string, advice: string): End {
  return { kind: 'failed', failure: { kind: 'final', said: [reason, advice] }, isForAll: false };
}
