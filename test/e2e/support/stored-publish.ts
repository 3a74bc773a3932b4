/**
 * Takes the place of src/push/publish/live-attempt.ts in the Worker of stored-worker.ts: publishes
 * what the bytes of a delayed push say, as another isolate would. Of the push itself nothing is
 * left by then but the entries in the spool.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { undatedOf } from '../../../src/durable/pull-request/record.ts';
import { decodeKept, encodeKept } from '../../../src/push/delay/kept-push.ts';
import * as real from '../../../src/push/publish/live-attempt.ts';
import type { PushedWork } from '../../../src/push/verdict.ts';
import { verdictLine } from './verdict-line.ts';

const whole = (work: PushedWork) => ({ ...work, commits: [...work.commits] });

export const enterNow: typeof real.enterNow = async (run, publication) => {
  const { push, spool, pushHash, claim, changes, compared, slot, ...more } = publication;
  deepStrictEqual(more, {});
  const { repository, footer, policyLimits, named, ...work } = push;
  const says = { repository, footer, policyLimits, named };
  const bytes = encodeKept({
    target: run.target,
    pushHash,
    work,
    recordedTip: null,
    wasOpen: false,
    others: [],
    owed: null,
  });
  console.log(verdictLine(bytes));
  const kept = decodeKept(bytes);
  deepStrictEqual(whole(kept.work), whole(work));
  push.commits.encoded.free();
  const bot = { name: await run.host.botLogin(), email: run.settings.anonEmail };
  return real.enterNow(run, {
    push: { ...kept.work, ...says },
    spool: { read: () => spool.read() },
    pushHash: kept.pushHash,
    claim: structuredClone(claim),
    changes,
    compared: compared && { ...compared, undated: undatedOf(kept.work.commits, bot) },
    slot,
  });
};
