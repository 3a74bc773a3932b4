/**
 * The operator's endpoints (contract, 4.16 and 4.17): panic switch, rollback, pardons. Each attempt
 * first counts for its address, and a wrong credential for its /48, too. If the limits cannot be
 * checked, every request is refused.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { OperatorCredential } from '../../durable/guard/guard.ts';
import { type RollbackResult, TRACKED_MS } from '../../durable/guard/rollback.ts';
import { tokenHash } from '../../durable/guard/tokens.ts';
import type { AppEnv } from '../../env.ts';
import { systemClock } from '../../isolate/clock.ts';
import { succeeds } from '../../isolate/within.ts';
import { longestWait } from '../../limits/sliding-window.ts';
import { isSameSecret } from '../../secret/keyed-hash.ts';
import { pardonOf } from '../../notify/alert.ts';
import { type Trouble, troubleWords } from '../../notify/trouble.ts';
import { delayedPushesOf, guardOf, identityOf } from '../../objects.ts';
import { ROLLED_BACK } from '../../durable/delayed-pushes/endings.ts';
import { removeDelayed } from '../../service/publish-delayed.ts';
import { limitsOf } from '../../service/limits.ts';
import { refusedUntil } from '../request/limits.ts';
import { mayBeListed } from '../../stats/recorded-hashes.ts';
import { answerRefused, CANNOT_WRITE, refused, type Refused } from '../request/refused.ts';
import { readPayload } from '../request/payload.ts';
import { answer, asJson, countSchema, described, error as errorAnswer } from '../description.ts';
import { pseudonymHash, MODERATION_STATES } from './moderation.ts';
import { arePushesSuspended, setPanic } from '../../service/suspension.ts';
import { scopeOf } from '../request/scope.ts';

/** Whether the switch outlives the process. */
export const PANIC_STORED = 'X-Panic-Stored';

const storedHeader = {
  description: '`no`: it counts, and a restart would forget it.',
  schema: { type: 'string' as const, enum: ['yes', 'no'] },
};

/** A guard that has restarted is asked again. */
const ATTEMPTS = 3;
const PAUSE_MS = 500;

const text = z.string().optional();
const choice = z.boolean().optional();

const credentialFields = {
  password: text.describe('The password of the operator.'),
  token: text.describe('The token of an alert button. It works once, for one action, within ten minutes.'),
};

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
const INVALID_CREDENTIALS = refused(401, 'invalid credentials');

const REFUSALS = {
  400: errorAnswer('The request is not valid.', ['invalid payload', 'invalid-payload']),
  401: errorAnswer('Neither the password nor the token is correct.', INVALID_CREDENTIALS.error),
  429: errorAnswer(
    'The address has sent 10 requests within a minute, or its IPv6 /48 as a whole forty wrong passwords or tokens.',
    'rate limit exceeded',
  ),
  503: errorAnswer('The service cannot write: its disk may be full.', CANNOT_WRITE.error),
};

/** What counts an attempt. */
type Actions = readonly ('admin' | 'rollback')[];

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
    operationId: 'pardon',
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
  // Both at once: the caller may leave meanwhile, and the guard forgets results when a later
  // rollback begins.
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
 * As the guard does; and removes what was half published. Answers how many could not be removed.
 * Never rejects.
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
 * After a restart, the guard goes on, and can be asked again. Null: nobody knows what was undone.
 * Never rejects.
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
    operationId: 'drain',
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
    description: 'From this service, as a real one would be sent.',
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

/** Why a test alert was not taken; null: it was. `nobody`: there is no topic. */
export async function testAlert(c: Context<AppEnv>): Promise<Trouble | 'nobody' | null> {
  const outcome = await guardOf(c.env).testAlert();
  const reason = outcome === 'nobody' ? 'no-topic' : (outcome?.reason ?? 'taken');
  c.var.logger.warn('a test alert was asked for', { outcome: reason });
  return outcome;
}

/**
 * Counts a request before it reads it. `handle` gets a credential that may be valid; null: the
 * guard refuses it.
 */
function forOperator<T extends { password?: string | undefined; token?: string | undefined }>(
  schema: z.ZodType<T>,
  handle: (c: Context<AppEnv>, fields: T, credential: OperatorCredential) => Promise<Response | null>,
  actions: Actions = ['admin'],
) {
  return async (c: Context<AppEnv>): Promise<Response> => {
    const tooOften = await refuseTooOften(c, actions);
    if (tooOften !== null) return answerRefused(c, tooOften);
    const payload = await readPayload(c, schema);
    if (payload.kind === 'refused') return answerRefused(c, payload);
    const credential = await credentialOf(c, payload.fields);
    const response = credential && (await handle(c, payload.fields, credential));
    // Over a limit because of this credential, or invalid.
    return response ?? answerRefused(c, (await refuseTooOften(c, [])) ?? INVALID_CREDENTIALS);
  };
}

/** The refusal of a client that is over one of its limits; null if it is within all of them. */
export async function refuseTooOften(c: Context<AppEnv>, actions: Actions): Promise<Refused | null> {
  const limits = limitsOf(scopeOf(c));
  const counted = actions.map((action) => limits.count(action));
  const wait = longestWait(await Promise.all([limits.known('prefixAdmin'), ...counted]));
  return wait.waitMs === 0 ? null : refusedUntil(wait, 'rate limit exceeded');
}

/**
 * Null: it cannot be valid. The guard checks tokens; each counts like a wrong password, as nobody
 * has forty valid ones. While its /48 is over the limit, even the correct password is answered like
 * a wrong one: guessing on tells nothing.
 */
export async function credentialOf(
  c: Context<AppEnv>,
  { password, token }: { password?: string | undefined; token?: string | undefined },
): Promise<OperatorCredential | null> {
  const expected = c.var.config.panicPassword;
  const isCorrect = expected !== null && password !== undefined && isSameSecret(password, expected);
  // The same call for all: the correct one of many guesses at once must not overtake the others.
  const { waitMs } = await limitsOf(scopeOf(c)).count('prefixAdmin', !isCorrect);
  if (waitMs > 0) return null;
  if (isCorrect) return { kind: 'password' };
  return token === undefined ? null : { kind: 'token', hash: tokenHash(token) };
}
