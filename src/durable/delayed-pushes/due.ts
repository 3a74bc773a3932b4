/**
 * When a delayed push is due, or has waited for too long. Pure. A clock may be wrong, and corrected
 * while a push waits. So the time that a push was promised has come only if the code host's clock
 * says so, too. All times are milliseconds since 1970.
 * Proved by test/durable/delayed-pushes/delayed-pushes.test.ts.
 */
import { earliest, isDue } from '../due-rows.ts';
import { DAY_MS } from './delayed-push.ts';
import { pick } from './schedule.ts';
import { isAtWork, isTimed, type StagedPush, type TimedStage, withoutLostLease } from './stages.ts';

/** The time after which a push that is over ends by the service's clock alone: its key is gone. */
const REST_MS = 2 * DAY_MS;

/** The time at each code host, by its key. One that does not tell it is left out. */
export type HostTimes = Readonly<Record<string, number>>;

export type TimedPush = StagedPush<TimedStage>;

interface Asked {
  /** By the service's clock. */
  readonly now: number;
  /** By the clock of the object, which leases go by. */
  readonly leaseNow: number;
  /** By the clocks of the hosts; null: none was asked. */
  readonly times: HostTimes | null;
  /** The moment from which the next one may be published that waits for a time. */
  readonly spacedUntil: number;
}

/** The work of a run of the scheduler. */
interface Choice {
  readonly picked: readonly TimedPush[];
  /** Due by the service's clock, and not by the host's. */
  readonly held: readonly TimedPush[];
  /** The moment to ask again; null: none is known. */
  readonly nextAt: number | null;
  /** The hosts whose time decides whether more is due. */
  readonly hosts: readonly string[];
}

/** Chooses the pushes to publish now. @param waiting all that wait */
export function choose(waiting: readonly StagedPush[], { now, leaseNow, times, spacedUntil }: Asked): Choice {
  const running = waiting.filter((push) => isAtWork(push, leaseNow));
  const idle = waiting
    .filter((push) => !isAtWork(push, leaseNow))
    .map((push) => withoutLostLease(push, leaseNow));
  const timed = idle.filter(isTimed);
  const ripe = timed.filter((push) => isRipe(push, now));
  const due = ripe.filter((push) => isRipeThere(push, times));
  const held = ripe.filter((push) => !isRipeThere(push, times));
  const asked = [...held, ...idle.filter(({ until }) => until <= now)].map(({ host }) => host);
  const later = timed.map(({ stage }) => stage.dueAt).filter((dueAt) => dueAt > now);
  const whenHostSays = held.flatMap(({ host, stage }) => {
    const there = times?.[host];
    return there === undefined ? [] : [now + stage.dueAt - there];
  });
  const isSpaced = due.length > 0 && spacedUntil > now;
  return {
    picked: pick(due, { running, spacedUntil }, now),
    held,
    nextAt: earliest(...later, ...whenHostSays, isSpaced ? spacedUntil : null),
    hosts: times === null ? [...new Set(asked)] : [],
  };
}

/**
 * Whether it has waited for too long, by both clocks.
 * @param push that has, by the service's clock
 */
export function isOver({ host, until }: StagedPush, now: number, times: HostTimes): boolean {
  return until <= (times[host] ?? now - REST_MS);
}

/** Finds one that the clock of its host has held up for a day. */
export function heldForADay(held: readonly TimedPush[], now: number): TimedPush | undefined {
  return held.find(({ stage }) => stage.dueAt + DAY_MS <= now);
}

/**
 * Whether the service has tried to publish one that waits for a time: that time is the end of a
 * pause then.
 */
export const wasTried = ({ said }: StagedPush): boolean => said.length > 0;

/** The pause after a failure may be counted from a moment of a wrong clock. */
function isRipe(push: TimedPush, now: number): boolean {
  const { dueAt } = push.stage;
  return dueAt <= now || (wasTried(push) && isDue(dueAt, now));
}

/** Any time will do for one that waits for room, or was due before: it was promised none. */
function isRipeThere(push: TimedPush, times: HostTimes | null): boolean {
  if (push.reason === 'busy' || wasTried(push)) return true;
  const there = times?.[push.host];
  return there !== undefined && push.stage.dueAt <= there;
}
