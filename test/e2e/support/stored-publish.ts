/**
 * Takes the place of src/push/publish/publish.ts in the Worker of stored-worker.ts: publishes what the bytes of the
 * verdict say, as another isolate would. Of the push itself nothing is left by then but the entries in the spool.
 */
import { deepStrictEqual } from 'node:assert/strict';
import * as real from '../../../src/push/publish/publish.ts';
import { parse, serialise } from '../../../src/push/verdict/encoding.ts';
import type { Publishable } from '../../../src/push/verdict/verdict.ts';
import { verdictLine } from './verdict-line.ts';

const whole = (push: Publishable) => ({ ...push, commits: [...push.commits] });

export const publish: typeof real.publish = (run, publication) => {
  const { push, spool, pushHash, prHash, claim, place, isReleased = false, ...more } = publication;
  deepStrictEqual(more, {});
  const bytes = serialise(push);
  console.log(verdictLine(bytes));
  const stored = parse(bytes);
  deepStrictEqual(whole(stored), whole(push));
  push.commits.free();
  return real.publish(run, {
    push: stored,
    spool: { read: () => spool.read() },
    pushHash,
    prHash,
    claim: structuredClone(claim),
    place,
    isReleased,
  });
};
