/** One push until its answer has gone out. */
import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { LEASE_MS } from '../../src/durable/lease.ts';
import type { PushIntent } from '../../src/durable/pending-push.ts';
import type { Env } from '../../src/env.ts';

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;
/** Ahead of the clock: by itself no alarm goes off within a test. */
const NOW = Date.now() + 24 * 60 * MINUTE_MS;

let count = 0;
function newPush() {
  const id = bindings.PENDING_PUSHES.idFromName(`push ${++count}`);
  // A stub does not outlive the object's death.
  const object = () => bindings.PENDING_PUSHES.get(id);
  return { object, begin: (intent: PushIntent, at = NOW) => object().begin(intent, at) };
}

const intent = (prHash: string): PushIntent => ({ prHash, committedAt: count });

describe('a pending push', () => {
  it('goes on with what it was working on when it is repeated after its machine died', async () => {
    const { begin } = newPush();
    const first = await begin(intent('a'));
    expect(first).toMatchObject({ kind: 'begun', intent: intent('a'), isRepeated: false });
    await abortAllDurableObjects();
    expect(await begin(intent('b'))).toMatchObject({ intent: intent('a'), isRepeated: true });
    await abortAllDurableObjects();
    expect(await begin(intent('c'))).toMatchObject({ intent: intent('a'), isRepeated: true });
  });

  it('does not begin twice at once, until the first one has had its time', async () => {
    const { begin } = newPush();
    await begin(intent('a'));
    expect(await begin(intent('b'), NOW + LEASE_MS - 1)).toEqual({ kind: 'busy' });
    expect(await begin(intent('b'), NOW + LEASE_MS)).toMatchObject({ intent: intent('a'), isRepeated: true });
  });

  it('that was not answered may be repeated at once; one that was is forgotten', async () => {
    const { object, begin } = newPush();
    for (const [isAnswered, next] of [
      [false, 'a'],
      [true, 'c'],
    ] as const) {
      const begun = await begin(intent('a'));
      if (begun.kind !== 'begun') throw new Error('it is busy');
      await object().end(begun.lease, isAnswered);
      const again = await begin(intent('c'));
      expect(again).toMatchObject({ intent: intent(next), isRepeated: !isAnswered });
      if (again.kind === 'begun') await object().end(again.lease, false);
    }
  });

  it('ends nobody’s work but its own', async () => {
    const { object, begin } = newPush();
    const first = await begin(intent('a'));
    await begin(intent('b'), NOW + LEASE_MS);
    if (first.kind === 'begun') await object().end(first.lease, false);
    expect(await begin(intent('c'), NOW + LEASE_MS + 1)).toEqual({ kind: 'busy' });
  });

  it('is forgotten after an hour, and leaves nothing behind', async () => {
    const { object, begin } = newPush();
    await begin(intent('a'));
    await abortAllDurableObjects();
    const late = await begin(intent('b'), NOW + 60 * MINUTE_MS);
    expect(late).toMatchObject({ intent: intent('b'), isRepeated: false });
    await runDurableObjectAlarm(object());
    const left = await runInDurableObject(object(), async (_, { storage }) => [
      ...(await storage.list()).keys(),
      await storage.getAlarm(),
    ]);
    expect(left).toEqual([null]);
  });
});
