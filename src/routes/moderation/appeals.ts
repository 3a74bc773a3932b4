/**
 * Serves /v1/moderation/appeal, as JSON and as a form: the author of a flagged or blocked pseudonym
 * proves with the token that it is theirs, and tells the operator why the reports were wrong. The
 * operator gets the pseudonym and the text, and nothing else of the request.
 * Proved by test/routes/pardons.test.ts.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { hostWithKey, MAIN_HOST, recordName } from '../../config/hosts.ts';
import type { Standing } from '../../durable/identity/moderation.ts';
import type { AppEnv } from '../../env.ts';
import { type FormFields, withPlainLineEnds } from '../request/form-fields.ts';
import { APPEAL_PATH, appealClosedPage, appealedPage, appealFormPage } from '../../pages/report-page.ts';
import { parseName } from '../../host/kinds.ts';
import { INVALID_NAME } from '../../words/repository-name.ts';
import { identityHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { identityOf } from '../../objects.ts';
import { mayBeListed } from '../../stats/recorded-hashes.ts';
import { answerForm, newToken, receiveForm, SEND_AGAIN, type SentForm } from '../forms/form.ts';
import {
  answerRefused,
  explained,
  explanationOf,
  invalidField,
  NOT_KEPT,
  type Refused,
  refused,
  retryAfter,
} from '../request/refused.ts';
import { limitsOf } from '../../service/limits.ts';
import { knownOver, refusedUntil } from '../request/limits.ts';
import { characters } from '../../text/footer.ts';
import { answer, asJson, described, error } from '../description.ts';
import { checkPayload, isBlankText, isForm, publicText, readJsonObject } from '../request/payload.ts';
import { MAX_TOKEN_CHARACTERS } from '../threads/comments.ts';
import { standingAnswer } from './moderation.ts';
import { scopeOf } from '../request/scope.ts';

const ERRORS = {
  unknownHost: 'thread must be on a code host of this service: such as gh/owner/repo#number',
  nothing: 'this pseudonym is neither flagged nor blocked',
  tooOften: 'only one appeal a day is allowed for a pseudonym, and yours was already delivered',
  tooMany: 'your network has sent too many reports and appeals; try again later',
  nobody: 'appeals cannot be delivered: the operator has not set NOTIFY_ADMIN_TOPIC',
  busy: 'the appeal could not be delivered; try again in an hour',
};

/** The longest text that fits into one notification, in scripts of three bytes a letter, too. */
const MAX_APPEAL_CHARACTERS = 700;
/** Matches `owner/repo#number`, with or without the key of a code host in front. */
const THREAD_PATTERN = /^(?:[^/#\s]+\/){1,2}[^/#\s]+#[1-9]\d{0,14}$/;

const appealRequest = z
  .object({
    thread: z
      .string()
      .regex(THREAD_PATTERN, { error: 'thread must be owner/repo#number or host/owner/repo#number' })
      .meta({
        description:
          'Where the pseudonym commented. The host is written as in the path of the comment; without one, it is gh.',
        examples: ['octo/hello#7', 'cb/octo/hello#7'],
      }),
    user_token: publicText('user_token')
      .min(1)
      .max(MAX_TOKEN_CHARACTERS)
      .describe('The token of the comments: it shows that the pseudonym is yours.'),
    text: publicText('text')
      .refine((text) => characters(text) <= MAX_APPEAL_CHARACTERS, {
        error: `text must have at most ${MAX_APPEAL_CHARACTERS} characters`,
      })
      .refine((text) => !/(?!\s)\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(text), {
        error: 'text must not contain control characters',
      })
      .describe('What the operator reads, more than white space. Do not write anything that identifies you.'),
  })
  .describe('Why the reports were wrong.');

export const appealAnswer = standingAnswer.describe('The operator is told of the appeal.');

export const appeals = new Hono<AppEnv>();

appeals.get(APPEAL_PATH, async (c) => {
  const fields = new Map([['thread', c.req.query('thread') ?? '']]);
  const nobody = c.var.config.notifyAdminTopic === null ? refused(503, ERRORS.nobody) : null;
  const closed = nobody ?? (await knownOver(c, 'reports'));
  if (closed !== null) return answerForm(c, appealClosedPage(explanationOf(closed)));
  return showForm(c, fields, await newToken(c, APPEAL_PATH), null);
});
appeals.post(APPEAL_PATH, (c, next) => {
  if (!isForm(c)) return next();
  // 32 KB fit three short fields of which every character is escaped.
  return receiveForm(c, APPEAL_PATH, { maxBytes: 32 * 1024 }, (sent) => answerAppeal(c, sent));
});

appeals.post(
  APPEAL_PATH,
  described(takeAppeal, {
    operationId: 'sendAppeal',
    summary: 'Appeal against reports',
    description:
      'The operator gets the text and the pseudonym, once a day at most; nothing else of the request. They may pardon the pseudonym, or not. A browser gets a form at the same path.',
    tag: 'Reports',
    json: appealRequest,
    responses: {
      200: answer('The operator is told.', asJson(appealAnswer)),
      400: error(
        'The request is not valid.',
        ['invalid payload', 'invalid-payload'],
        ['text is required', 'invalid-field'],
        [ERRORS.unknownHost, 'invalid-field'],
        INVALID_NAME,
      ),
      403: error('A page of another site must not send this.'),
      409: error('There is nothing to appeal against.', ERRORS.nothing),
      429: error('Too often. Retry-After says how long to wait.', ERRORS.tooOften, ERRORS.tooMany),
      503: error('The operator cannot be told.', ERRORS.nobody, ERRORS.busy),
    },
  }),
);

async function takeAppeal(c: Context<AppEnv>): Promise<Response> {
  const payload = await readJsonObject(c);
  if (payload.kind === 'refused') return answerRefused(c, payload);
  const outcome = await decideAppeal(c, payload.fields);
  if (outcome.kind === 'refused') return answerRefused(c, outcome);
  const { hash, standing } = outcome;
  return c.json<z.infer<typeof appealAnswer>>({ hash, ...standing }, 200, NOT_KEPT);
}

/** @param fields those of the JSON endpoint; the form's are turned into these. */
async function decideAppeal(
  c: Context<AppEnv>,
  fields: Readonly<Record<string, unknown>>,
): Promise<{ readonly kind: 'taken'; readonly hash: string; readonly standing: Standing } | Refused> {
  const missing = Object.keys(appealRequest.shape).find((name) => isBlankText(fields[name]));
  if (missing !== undefined) return invalidField(`${missing} is required`);
  const checked = checkPayload(appealRequest, fields);
  if (checked.kind === 'refused') return checked;
  const { thread, user_token: userToken, text } = checked.fields;
  const [number = '', repo = '', owner = '', hostKey = MAIN_HOST] = thread.split(/[/#]/).toReversed();
  const host = hostWithKey(c.var.config, hostKey);
  if (host === undefined) return invalidField(ERRORS.unknownHost);
  const repository = parseName(host.kind, owner, repo);
  if (repository === null) return refused(400, INVALID_NAME);
  if (c.var.config.notifyAdminTopic === null) return refused(503, ERRORS.nobody);

  const wait = await limitsOf(scopeOf(c)).count('reports');
  if (wait.waitMs > 0) return refusedUntil(wait, ERRORS.tooMany);
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const hash = identityHash(secret, `${recordName(host, repository)}#${number}`, userToken);
  if (!(await mayBeListed(c.env.DB, hash, c.var.logger))) return refused(409, ERRORS.nothing);
  const outcome = await identityOf(c.env, hash).appeal(text);
  switch (outcome.kind) {
    case 'taken':
      return { kind: 'taken', hash, standing: outcome.standing };
    case 'registered':
      return refused(409, ERRORS.nothing);
    case 'too-often':
      return refused(429, ERRORS.tooOften, { 'Retry-After': retryAfter(outcome.leftMs) });
    case 'busy':
      return refused(503, ERRORS.busy, { 'Retry-After': '3600' });
  }
}

async function answerAppeal(c: Context<AppEnv>, { fields, token, problem }: SentForm): Promise<Response> {
  if (token === null) return showForm(c, fields, await newToken(c, APPEAL_PATH), problem, 403);
  const { thread, userToken: user_token, text } = typed(fields);
  const outcome = await decideAppeal(c, { thread, user_token, text }).catch((cause: unknown) => {
    c.var.logger.error('an appeal failed', { error: cause });
    return explained(500, 'The service has a fault', `It was logged. ${SEND_AGAIN}`);
  });
  if (outcome.kind === 'taken') return answerForm(c, appealedPage(outcome.hash, outcome.standing));
  return showForm(c, fields, token.text, explanationOf(outcome), outcome.status, outcome.headers);
}

async function showForm(
  c: Context<AppEnv>,
  fields: FormFields,
  token: string,
  problem: string | null,
  ...answered: [status?: Parameters<typeof answerForm>[2], headers?: Readonly<Record<string, string>>]
): Promise<Response> {
  const form = { ...typed(fields), token, problem };
  return answerForm(c, appealFormPage(form, MAX_APPEAL_CHARACTERS), ...answered);
}

function typed(fields: FormFields) {
  return {
    thread: (fields.get('thread') ?? '').trim(),
    userToken: (fields.get('user_token') ?? '').trim(),
    text: withPlainLineEnds(fields.get('text') ?? ''),
  };
}
