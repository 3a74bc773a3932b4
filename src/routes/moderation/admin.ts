/**
 * The operator's endpoints: panic switch, rollback (contract, 4.16 and 4.17), pardons, drain and
 * test alerts. Each attempt first counts for its address, and one without the correct password for
 * its /48, too.
 * If the limits cannot be checked, every request is refused.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { OperatorCredential } from '../../durable/guard/guard.ts';
import { type RollbackResult, TRACKED_MS } from '../../durable/guard/rollback.ts';
import type { AppEnv } from '../../env.ts';
import { systemClock } from '../../isolate/clock.ts';
import { succeeds } from '../../isolate/within.ts';
import { pardonOf } from '../../notify/alert.ts';
import { type Trouble, troubleWords } from '../../notify/trouble.ts';
import { delayedPushesOf, guardOf, identityOf } from '../../objects.ts';
import { ROLLED_BACK } from '../../durable/delayed-pushes/endings.ts';
import { removeDelayed } from '../../service/publish-delayed.ts';
import { mayBeListed } from '../../stats/recorded-hashes.ts';
import { answerRefused, CANNOT_WRITE, refused } from '../request/refused.ts';
import { answer, asJson, countSchema, described, error as errorAnswer } from '../description.ts';
import { MODERATION_STATES, pseudonymHash } from './moderation.ts';
import { credentialFields, forOperator, INVALID_CREDENTIALS } from './operator-credential.ts';
import { arePushesSuspended, setPanic } from '../../service/suspension.ts';
import { scopeOf } from '../request/scope.ts';

/** The header that tells whether the switch outlives the process. */
const PANIC_STORED = 'X-Panic-Stored';

const storedHeader = {
  description: '`no`: it counts, and a restart would forget it.',
  schema: { type: 'string' as const, enum: ['yes', 'no'] },
};

/** How often, and after which pause, a guard that has restarted is asked for a result again. */
const ATTEMPTS = 3;
const PAUSE_MS = 500;

const choice = z.boolean().optional();

const panicScope = z.enum(['pushes', 'writes', 'all']).optional();
const panicRequest = z.object({
  ...credentialFields,
  active: z.boolean().describe('True: reject pushes. False: accept them again.'),
  scope: panicScope.describe(
    '`pushes` (default), `writes` for comments and issues, or `all`. What is not named stays as it is.',
  ),
});

const panicAnswer = z
  .object({
    panic_mode: z.boolean().describe('Whether pushes are rejected now.'),
    state: z
      .enum(['activated', 'deactivated'])
      .describe('What was done: `activated` or `deactivated`, for the scope of the request.'),
  })
  .describe('The panic switch is set.');

const rollbackRequest = z.object({
  ...credentialFields,
  spare_single: choice.describe(
    'True: leave alone the pull requests of clients that opened only one. Default: false.',
  ),
  comments: choice.describe('True: delete the comments of the last two hours, too. Default: false.'),
  issues: choice.describe('True: close the issues of the last two hours, too. Default: false.'),
});

const rollbackAnswer = z
  .object({
    closed: countSchema.describe('How many pull requests and issues were closed, and comments deleted.'),
    failed: countSchema.describe('How many could not be. Call again to try them again.'),
    closed_urls: z.array(z.url()).describe('Those that were closed or deleted.'),
    failed_urls: z.array(z.url()).describe('Those that could not be.'),
  })
  .describe('What was to be undone of the last two hours was undone.');

const pardonRequest = z.object({ ...credentialFields, hash: pseudonymHash.describe('The pseudonym.') });

const logEntry = z.object({
  event: z.enum(['flagged', 'blocked', 'pardoned', 'appealed']),
  at: z.iso.datetime().describe('When.'),
});

export const pardonAnswer = z
  .object({
    hash: pseudonymHash,
    state: z.enum(MODERATION_STATES).describe('Its state now.'),
    reports: countSchema.describe('Reports that count now.'),
    restoring: countSchema.describe(
      'Comments that get back the karma that they showed. Deleted comments stay deleted.',
    ),
    log: z.array(logEntry).describe("The pseudonym's log of the last 90 days, oldest first."),
  })
  .describe('The pseudonym is pardoned.');

const drainRequest = z.object({
  password: z.string().describe('The password of the operator.'),
});

const drainAnswer = z
  .object({
    delayed: countSchema.describe('Pushes that are published now, one after the other.'),
    to_review: countSchema.describe('Pushes that wait for the operator, on /admin/delayed.'),
  })
  .describe('What is delayed.');

const testAlertRequest = z.object({
  password: z.string().describe('The password of the operator.'),
});

const testAlertAnswer = z
  .object({
    sent: z.boolean().describe('Whether the notification service has taken it.'),
    problem: z.string().optional().describe('Why it was not sent, and what to do.'),
  })
  .describe('What has become of the test alert.');

const NOTHING_TO_PARDON = 'nobody has reported this pseudonym';
const NO_TOPIC = 'NOTIFY_ADMIN_TOPIC is not set.';

const REFUSALS = {
  400: errorAnswer('The request is not valid.', ['invalid payload', 'invalid-payload']),
  401: errorAnswer('Neither the password nor the token is correct.', INVALID_CREDENTIALS.error),
  429: errorAnswer(
    'The address has sent 10 requests within a minute, or its IPv6 /48 as a whole forty wrong passwords or tokens.',
    'rate limit exceeded',
  ),
  503: errorAnswer('The service cannot write: its disk may be full.', CANNOT_WRITE.error),
};

export const admin = new Hono<AppEnv>();

admin.post(
  '/admin/panic',
  described(forOperator(panicRequest, setPanicMode), {
    operationId: 'setPanicMode',
    summary: 'Suspend pushes, comments and issues, or accept them again',
    description:
      'With the password of the operator, or with the token of an alert button. On one machine it works also while nothing can be stored.',
    tag: 'Operation',
    json: panicRequest,
    responses: {
      200: {
        ...answer('The switch is set.', asJson(panicAnswer)),
        headers: { [PANIC_STORED]: storedHeader },
      },
      ...REFUSALS,
    },
  }),
);

async function setPanicMode(
  c: Context<AppEnv>,
  { active, scope = 'pushes' }: z.infer<typeof panicRequest>,
  credential: OperatorCredential,
): Promise<Response | null> {
  const set = await setPanic(c.env, active, scope, credential);
  if (set === null) return null;
  const done = { outcome: active ? 'active' : 'inactive', step: scope } as const;
  if (set.isStored) c.var.logger.warn('panic mode was set', done);
  else c.var.logger.error('panic mode was set, but could not be stored: a restart would forget it', done);
  const panicMode = scope === 'writes' ? await arePushesSuspended(c.env) : active;
  const state = active ? 'activated' : 'deactivated';
  const headers = { [PANIC_STORED]: set.isStored ? 'yes' : 'no' };
  return c.json<z.infer<typeof panicAnswer>>({ panic_mode: panicMode, state }, 200, headers);
}

admin.post(
  '/admin/pardon',
  described(forOperator(pardonRequest, pardon), {
    operationId: 'pardonClients',
    summary: 'Lift what reports have led to',
    description:
      'The pseudonym may post again, gets back its karma, and comments that are left show theirs again. Earlier reports no longer count, and their senders cannot report it again until 30 days after their report. Deleted comments stay deleted.',
    tag: 'Operation',
    json: pardonRequest,
    responses: {
      200: answer('It is pardoned.', asJson(pardonAnswer)),
      404: errorAnswer('There is nothing to pardon.', NOTHING_TO_PARDON),
      ...REFUSALS,
    },
  }),
);

async function pardon(
  c: Context<AppEnv>,
  { hash }: z.infer<typeof pardonRequest>,
  credential: OperatorCredential,
): Promise<Response | null> {
  const guard = guardOf(c.env);
  if (!(await guard.accepts(credential, pardonOf(hash)))) return null;
  try {
    const isListed = await mayBeListed(c.env.DB, hash, c.var.logger);
    const pardoned = isListed ? await identityOf(c.env, hash).pardon() : null;
    if (pardoned === null) return await answerRefused(c, refused(404, NOTHING_TO_PARDON));
    c.var.logger.warn('a pseudonym was pardoned');
    const { standing, restoring, log } = pardoned;
    const entries = log.map(({ event, at }) => ({ event, at: new Date(at).toISOString() }));
    return c.json<z.infer<typeof pardonAnswer>>({ hash, ...standing, restoring, log: entries });
  } catch (error) {
    await guard.giveBack(credential);
    throw error;
  }
}

admin.post(
  '/admin/rollback',
  described(forOperator(rollbackRequest, rollBack, ['admin', 'rollback']), {
    operationId: 'rollBack',
    summary: 'Close the newest pull requests',
    description:
      'Closes every pull request that the service has opened within the last two hours. If you say so, it also deletes the comments and closes the issues that it has posted within this time.',
    tag: 'Operation',
    json: rollbackRequest,
    responses: {
      200: answer('What was undone, and what could not be.', asJson(rollbackAnswer)),
      ...REFUSALS,
      429: errorAnswer(
        'The address has sent 5 rollbacks, or 10 requests, within a minute.',
        'rate limit exceeded',
      ),
    },
  }),
);

async function rollBack(
  c: Context<AppEnv>,
  { spare_single: spareSingle = false, comments = false, issues = false }: z.infer<typeof rollbackRequest>,
  credential: OperatorCredential,
): Promise<Response | null> {
  const id = await guardOf(c.env).beginRollback(credential, { spareSingle, comments, issues });
  if (id === null) return null;
  // Both run at once and go on if the caller leaves. The result is awaited from the beginning,
  // because the guard forgets it when a later rollback begins.
  const ending = Promise.all([spareSingle ? 0 : discardDelayed(c), rollbackResult(c, id)]).then(
    async ([left, result]) => {
      const unknown = left + Number(result === null);
      if (unknown > 0) await succeeds(guardOf(c.env).giveBack(credential));
      return { result, unknown };
    },
  );
  c.executionCtx.waitUntil(ending);
  const { result, unknown } = await ending;
  const { closedUrls, failedUrls } = result ?? { closedUrls: [], failedUrls: [] };
  c.var.logger.warn('a rollback has ended', { objects: closedUrls.length });
  return c.json<z.infer<typeof rollbackAnswer>>({
    closed: closedUrls.length,
    failed: failedUrls.length + unknown,
    closed_urls: [...closedUrls],
    failed_urls: [...failedUrls],
  });
}

/**
 * Discards the delayed pushes of the last two hours, as the guard does, and removes what was half
 * published. Never rejects.
 * @returns how many could not be removed, as far as that is known.
 */
async function discardDelayed(c: Context<AppEnv>): Promise<number> {
  try {
    const begun = await delayedPushesOf(c.env).discardSince(Date.now() - TRACKED_MS);
    const end = { state: 'discarded', said: ROLLED_BACK } as const;
    let left = 0;
    // One after the other: each sets the code host of this request.
    for (const push of begun)
      left += Number(!(await removeDelayed(scopeOf(c), push, end).catch(() => false)));
    return left;
  } catch (error) {
    c.var.logger.error('delayed pushes could not be discarded', { error });
    return 1;
  }
}

/**
 * Waits for the result of a rollback. A guard that restarts goes on with it, and can be asked
 * again. Never rejects.
 * @returns null if nobody knows what was undone.
 */
async function rollbackResult(c: Context<AppEnv>, id: string): Promise<RollbackResult | null> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (attempt > 1) await systemClock.sleep(PAUSE_MS);
    try {
      return await guardOf(c.env).rollbackResult(id);
    } catch (error) {
      c.var.logger.warn('the guard has not told what a rollback has undone', { error });
    }
  }
  return null;
}

admin.post(
  '/admin/drain',
  described(forOperator(drainRequest, drain), {
    operationId: 'drainPushes',
    summary: 'Publish what is delayed',
    description:
      'Before a downgrade: whatever waits for a chosen time is due at once. The scheduled handler publishes it, and the answer says how much is left.',
    tag: 'Operation',
    json: drainRequest,
    responses: { 200: answer('What is left.', asJson(drainAnswer)), ...REFUSALS },
  }),
);

async function drain(c: Context<AppEnv>): Promise<Response> {
  const { review, ...others } = (await delayedPushesOf(c.env).drain()).waiting;
  return c.json<z.infer<typeof drainAnswer>>({ delayed: others.delay + others.busy, to_review: review });
}

admin.post(
  '/admin/test-alert',
  described(forOperator(testAlertRequest, sendTestAlert), {
    operationId: 'sendTestAlert',
    summary: 'Send a test alert',
    description: 'The service sends it in the same way as a real one.',
    tag: 'Operation',
    json: testAlertRequest,
    responses: { 200: answer('Whether it was sent.', asJson(testAlertAnswer)), ...REFUSALS },
  }),
);

async function sendTestAlert(c: Context<AppEnv>): Promise<Response> {
  const outcome = await testAlert(c);
  const problem =
    outcome === 'nobody' ? NO_TOPIC : outcome && troubleWords(c.var.config.notifyAdminUrl, outcome);
  return c.json<z.infer<typeof testAlertAnswer>>(
    problem === null ? { sent: true } : { sent: false, problem },
  );
}

/** Sends a test alert. Gives why it was not taken, `nobody` without a topic; null if it was. */
export async function testAlert(c: Context<AppEnv>): Promise<Trouble | 'nobody' | null> {
  const outcome = await guardOf(c.env).testAlert();
  const reason = outcome === 'nobody' ? 'no-topic' : (outcome?.reason ?? 'taken');
  c.var.logger.warn('a test alert was asked for', { outcome: reason });
  return outcome;
}
