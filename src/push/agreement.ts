/**
 * Asks the person about warnings before a push is published, and judges again what may have changed
 * meanwhile. A push that waits holds nothing that others need.
 * Proved by test/e2e/push/warning-wait.test.ts.
 */
import { undatedOf } from '../durable/pull-request/record.ts';
import type { Oid } from '../git/objects/oid.ts';
import { setAside, takeBack } from '../spool/set-aside.ts';
import type { PushSpool } from '../spool/spool.ts';
import { linesOf } from '../words/finding.ts';
import { codesOf, newWarnings, unconfirmed } from './consent.ts';
import { mayWait, withAdvice } from './delay/keep.ts';
import { judgeAgain, lookAgain } from './judge-again.ts';
import type { JudgedPush } from './judge-push.ts';
import { UNKNOWN_HASH } from './judge/destination.ts';
import type { PushRun } from './push-run.ts';
import type { Received } from './receive/receive.ts';
import { repeatCommand } from './reply/commands.ts';
import { Refusal } from './reply/refusal.ts';
import { isUpdate } from './verdict.ts';

/**
 * Tells what was found. Where it would be published now with warnings that the person has not
 * accepted, asks them first.
 * @throws Refusal if the person does not agree, or if something has changed meanwhile
 */
export async function agreedOn(run: PushRun, received: Received, judged: JudgedPush): Promise<JudgedPush> {
  const { findings, place } = judged;
  if (place !== null && unconfirmed(findings, received.options.yes).length > 0) {
    const command = commandWith(run, received, true, [`yes=${codesOf(findings).join(',')}`]);
    const spool = run.store.openSpool();
    try {
      const onWait = () => makeRoom(run, received, judged, spool);
      if (await run.consent.ask({ findings, command }, onWait))
        return await judgedAfter(run, received, judged, spool);
    } finally {
      await spool.discard();
    }
  }
  const { first = [], others = [] } = Object.groupBy(findings, ({ code }) =>
    code === UNKNOWN_HASH ? 'first' : 'others',
  );
  await run.reply.note(...linesOf(first));
  run.notes.push(...linesOf(others));
  return judged;
}

/**
 * Releases what others may need while the person is asked.
 * @throws Refusal if the client's limits would refuse the push after the wait
 */
async function makeRoom(
  run: PushRun,
  { options, pack }: Received,
  { work, updates, slotHash }: JudgedPush,
  spool: PushSpool,
): Promise<void> {
  const full = updates || mayWait(run.settings, options) ? null : await run.limits.peek();
  if (full !== null)
    throw withAdvice(run, options, (await run.limits.refuseFull(async () => slotHash)) ?? full);
  await setAside(pack, work.commits, spool);
  // What was read of upstream is read again.
  run.host.memory.release();
  await run.claims.endUpdate();
}

/**
 * Judges again what may have changed while the person was asked: panic, the repository, the pull
 * request that the push names.
 * @throws Refusal
 */
async function judgedAfter(
  run: PushRun,
  received: Received,
  before: JudgedPush,
  spool: PushSpool,
): Promise<JudgedPush> {
  const suspension = await run.limits.suspension();
  if (suspension !== null) throw suspension;
  const work = { ...before.work, commits: await takeBack(spool, run.host.memory) };
  const recordedTip = before.claim?.recorded?.tip ?? null;
  // The person was told of all that an overwrite drops there, and of nothing that comes later.
  const mayReplace = async (oid: Oid) => oid === before.place?.named?.tip;
  const was = { work, recordedTip, wasOpen: before.updates, mayReplace };
  const overwrite = commandWith(run, received, true, ['overwrite']);
  const naming = { reusesHash: true, overwrite };
  const present = await lookAgain(run, work);
  const { push, claim, findings } = await judgeAgain(run, was, naming, present, received.pack.spool);
  const news = newWarnings(findings, before.findings);
  const also = unconfirmed(news, received.options.yes);
  if (also.length > 0)
    throw new Refusal('unconfirmed', 'something has changed while it waited', ['Push again.'], { also });
  run.notes.push(...linesOf(news));
  const bot = { name: present.botLogin, email: run.settings.anonEmail };
  const compared = before.compared && { ...before.compared, undated: undatedOf(work.commits, bot) };
  return { ...before, work: push, place: push, claim, updates: isUpdate(push), compared };
}

/** The command that pushes the same, or its correction, with more options. */
export function commandWith(
  run: PushRun,
  received: Received,
  isSame: boolean,
  more: readonly string[],
): string {
  const { prHash, prKey, preview, overwrite } = received.options;
  const flags = Object.entries({ preview, overwrite }).flatMap(([name, isGiven]) => (isGiven ? [name] : []));
  return repeatCommand(run, received, { prHash, prKey, isSame }, [...flags, ...more]);
}
