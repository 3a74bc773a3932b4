/** Stages of a delayed push, and which may follow each. */
import { describe, expect, it } from 'vitest';
import type { PushIntent } from '../../../src/durable/pending-push/pending-push.ts';
import {
  DELAYED_STAGES,
  isAtWork,
  moved,
  postponed,
  type Stage,
  type StagedPush,
  type StageEvent,
  stopped,
  toRemove,
  withoutLostLease,
} from '../../../src/durable/delayed-pushes/stages.ts';
import { LEASE_MS } from '../../../src/durable/lease.ts';

const NOW = 1_800_000_000_000;
const intent: PushIntent = { prHash: 'aaaabbbbcccc', committedAt: 1_800_000_000 };
const lease = { token: 'a', until: NOW + LEASE_MS };

/** Each stage once; `removing` for both reasons. */
const STAGES: readonly Stage[] = [
  { kind: 'review' },
  { kind: 'due', dueAt: NOW },
  { kind: 'leased', dueAt: NOW, lease },
  { kind: 'publishing', dueAt: NOW, lease, intent },
  { kind: 'begun', dueAt: NOW, intent },
  { kind: 'stopped', intent },
  { kind: 'unwanted', intent },
  { kind: 'removing', lease, intent, isGivenUp: false },
  { kind: 'removing', lease, intent, isGivenUp: true },
  { kind: 'published', as: { prHash: intent.prHash, url: '', isKeyShown: true } },
  { kind: 'failed' },
  { kind: 'given-up' },
  { kind: 'discarded' },
];

const EVENTS = [...new Set(Object.values(DELAYED_STAGES.stages).flatMap(({ next }) => Object.keys(next)))];

function staged<S extends Stage>(stage: S): StagedPush<S> {
  return { name: 'a', said: [], failures: 0, stage } as unknown as StagedPush<S>;
}

describe('a delayed push', () => {
  it('moves as its table says, and by no other event', () => {
    for (const from of STAGES)
      for (const event of EVENTS as StageEvent[])
        for (const to of STAGES) {
          const move = (): Stage => moved(staged(from), event, to).stage;
          const isAllowed = DELAYED_STAGES.stages[from.kind].next[event]?.includes(to.kind);
          if (isAllowed) expect(move()).toBe(to);
          else expect(move).toThrow(`no move from "${from.kind}" by "${event}" to "${to.kind}"`);
        }
  });

  it('whose lease is lost is what it was before, but for the failure', () => {
    const before = STAGES.map((stage) => withoutLostLease(staged(stage), NOW + LEASE_MS));
    expect(before.map(({ stage }) => stage.kind).join(' ')).toBe(
      'review due due begun begun stopped unwanted stopped unwanted published failed given-up discarded',
    );
    expect(before.map(({ failures }) => failures)).toEqual([0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0]);
    expect(before[3]?.stage).toEqual({ kind: 'begun', dueAt: NOW, intent });
  });

  it('is at work until its lease expires, unless that is of a clock that had jumped', () => {
    const push = staged({ kind: 'leased', dueAt: NOW, lease });
    expect(withoutLostLease(push, NOW)).toBe(push);
    const at = [NOW - 1, NOW, NOW + LEASE_MS - 1, NOW + LEASE_MS];
    expect(at.map((now) => isAtWork(push, now))).toEqual([false, true, true, false]);
    expect(isAtWork(staged({ kind: 'begun', dueAt: NOW, intent }), NOW)).toBe(false);
  });

  it('that may be public is never published once it is to be removed, whoever wants that', () => {
    const stopping = staged({ kind: 'stopped', intent });
    const discarded = toRemove(stopping, 'discard', lease);
    expect(postponed(discarded, NOW, { said: [], failures: 1 }).stage).toEqual({ kind: 'stopped', intent });
    const givenUp = toRemove(stopping, 'give up', lease);
    const unwanted = stopped(givenUp, 'ask the operator');
    expect(unwanted.stage).toEqual({ kind: 'unwanted', intent });
    const again = toRemove(staged({ kind: 'unwanted', intent }), 'discard', lease);
    expect(again.stage).toMatchObject({ isGivenUp: true });
  });
});
