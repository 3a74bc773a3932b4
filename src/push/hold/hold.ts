/**
 * In place of act three: a publishable push is kept, encrypted, and published later (release.ts). Its person has the
 * hash, and its page says how it stands.
 */
import type { HoldReason, NewHold } from '../../durable/held-pushes/held-push-record.ts';
import { keyHashOf } from '../../durable/held-pushes/held-push-record.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { workBranch } from '../../pr-hash.ts';
import { randomMoment } from '../../secret/random-moment.ts';
import type { Spool } from '../../spool/spool.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate, type Publishable } from '../verdict/verdict.ts';
import { encodeHeld } from './held-push.ts';
import type { TakenHold } from '../push-host.ts';

const HOUR_MS = 60 * 60 * 1000;
/** No push is held for longer. */
const LIFE_MS = 14 * 24 * HOUR_MS;
/** One that waits only for the code host. */
const BUSY_LIFE_MS = 24 * HOUR_MS;
/** Before it is tried for the first time. */
const BUSY_PAUSE_MS = 60_000;

/** When a push may be published, in milliseconds since 1970. */
export interface HoldWindow {
  readonly from: number;
  readonly to: number;
}

export interface Holding {
  readonly reason: HoldReason;
  readonly push: Publishable;
  readonly spool: Spool;
  readonly pushHash: string;
  readonly hashes: Pick<NewHold, 'push' | 'same'>;
  readonly prHash: string;
  /** As the push gave it; null: none is required. */
  readonly key: string | null;
  readonly window: HoldWindow;
  /** The held push that this one replaces. */
  readonly taken: TakenHold | null;
}

export interface Held {
  readonly prHash: string;
  readonly reason: HoldReason;
  readonly window: HoldWindow;
  /** For a pull request that is new and needs one. */
  readonly newKey: string | null;
}

/** From the delay on, and at most twice as long, so that the time of the push does not follow. */
export function delayed(now: number, delayMs: number): HoldWindow {
  return { from: now + delayMs, to: now + 2 * delayMs };
}

/** As soon as the code host takes it. */
export function whenHostMay(now: number): HoldWindow {
  return { from: now, to: now + BUSY_LIFE_MS };
}

/** @throws Refusal if there is no room for it, or it cannot be kept. Then nothing of it is left. */
export async function holdPush(run: PushRun, holding: Holding): Promise<Held> {
  const { host, settings } = run;
  const { reason, push, spool, pushHash, hashes, prHash, key, window, taken } = holding;
  const now = host.clock.now();
  const until = now + (reason === 'busy' ? BUSY_LIFE_MS : LIFE_MS);
  const updates = isUpdate(push);
  const needsKey = settings.prUpdatePolicy === 'key' && !updates;
  // Whoever has taken a held push has its key.
  const newKey = needsKey && taken === null ? settings.newPrKey() : null;
  const shownKey = newKey ?? key;
  // Two of the same at once would be held as two. One that was begun to be published is locked already.
  if (run.claims.begunAs === null) await run.claims.lock(pushHash, push.repository, prHash);
  const tip = updates ? await branchTip(run, push) : null;
  const entryBytes = spool.byteLength;
  await spool.write([
    encodeHeld({ push, pushHash, newKey: needsKey ? shownKey : null, key: updates ? key : null, tip }),
  ]);
  const kept = await spool.keep(until);
  const isHeld = await host.holds.hold(
    {
      prHash,
      reason,
      ...hashes,
      keyHash: shownKey === null ? null : keyHashOf(shownKey),
      isUpdate: updates,
      entryBytes,
      commits: push.commits.length,
      heldAt: now,
      ...window,
      dueAt: dueAt(reason, window, now),
      until,
    },
    kept,
    taken,
  );
  if (!isHeld) throw noRoom();
  return { prHash, reason, window, newKey };
}

/** Told nobody. Null: when the operator has seen it. */
function dueAt(reason: HoldReason, { from, to }: HoldWindow, now: number): number | null {
  if (reason === 'review') return null;
  return reason === 'busy' ? now + BUSY_PAUSE_MS : randomMoment(from, to);
}

async function branchTip({ host, steps }: PushRun, { named }: Publishable): Promise<Oid | null> {
  const fork = named?.pullRequest.fork ?? null;
  if (named === null || fork === null) return null;
  const name = `refs/heads/${workBranch(named.prHash)}`;
  const { refs } = await steps.run('fork', () => host.transport.listRefs(fork, [name], 'bot'));
  return refs.find((ref) => ref.name === name)?.oid ?? null;
}

function noRoom(): Refusal {
  return new Refusal('holds-full', 'the service holds too many pushes', [
    'It has no room to hold this push, in all or for your network. Nothing was kept.',
    'Push again later, or publish it at once with -o delay=0s.',
  ]);
}
