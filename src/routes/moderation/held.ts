/**
 * /admin/held: the operator sees what waits for them before anybody else does, and publishes or discards it.
 *
 * It opens with PANIC_PASSWORD or with the token of an alert, and only by a POST: links are followed by machines, too.
 * That attempt counts in the limit of the operator's endpoints; once open, requests do not.
 */
import { type Context, Hono } from 'hono';
import { hostWithKey, recordName } from '../../config/hosts.ts';
import {
  DISCARD_REASONS,
  type DiscardReason,
  type HoldToReview,
  type SeenHold,
} from '../../durable/held-pushes/held-push-record.ts';
import { REVIEW_PATH } from '../../notify/alert.ts';
import type { AppEnv } from '../../env.ts';
import { type FormFields, parseFormFields } from '../../forms/form-fields.ts';
import { concatBytes } from '../../git/bytes.ts';
import { HostError } from '../../host-error.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { within } from '../../isolate/within.ts';
import { guardOf, heldPushesOf } from '../../objects.ts';
import {
  type Decided,
  type ReviewedPush,
  type ReviewList,
  reviewDoorPage,
  reviewListPage,
  reviewOnePage,
  seenIn,
} from '../../pages/held-review-page.ts';
import type { Page } from '../../pages/layout.ts';
import { type Changes, changesOf, MAX_PACK_BYTES } from '../../push/hold/changes.ts';
import type { HeldPush } from '../../push/hold/held-push.ts';
import { reviewedTexts, type TextLimits } from '../../push/hold/reviewed.ts';
import type { PushHost } from '../../push/push-host.ts';
import { BodyError } from '../../streams/body.ts';
import { bodyText } from '../../streams/request-body.ts';
import { pushHost } from '../git/push-host.ts';
import { readHeldBytes, readHeldPush, verdictBytesOf } from '../git/read-held.ts';
import { answerPage } from '../pages/answer-page.ts';
import { isCrossSite } from '../request/cross-site.ts';
import { memoryFor } from '../request/held-memory.ts';
import { answerRefused, explained } from '../request/refused.ts';
import { credentialOf, refuseTooOften } from './admin.ts';
import { beginReview, mayReview } from './review-session.ts';

const PAGE_SIZE = 20;
/** A password, or a page of check boxes. */
const MAX_BODY_BYTES = 8 * 1024;
const ACTION_TOKEN = /^[0-9a-f]{32}$/;
/** For folders and files of upstream. */
const HOST_TIMEOUT_MS = 10_000;

/** The page can do without the bot's name. */
const LOGIN_PATIENCE_MS = 3_000;

/** What is shown of a push in the list, and on its own page. @property mostBytes of what was judged. */
const BRIEF = { mostMessages: 5, longest: 2_000, mostBytes: 256 * 1024 } as const;
const FULL = { mostMessages: 50, longest: 65_536, mostBytes: 4 * 1024 * 1024 } as const;

const CROSS_SITE = explained(403, 'This form came from another site', 'Open /admin/held, and begin there.');
const NO_FORM = explained(
  400,
  'This is not a form of this page',
  'Open /admin/held, and send it from there.',
);
const NOT_WAITING = explained(
  404,
  'No such push waits for you',
  'Somebody else has decided already, or the author has given it up. Look at /admin/held.',
);
const NO_ACCESS = 'Neither the password nor the token is correct. A token works once, within ten minutes.';
const CLOSED = 'The ten minutes are over, and nothing was decided. Open it again.';

type Answer = Response | Promise<Response>;

export const heldReview = new Hono<AppEnv>();

heldReview.get(REVIEW_PATH, async (c) => {
  if (!(await mayReview(c))) return door(c, 200, null);
  const page = Number(/^[1-9]\d{0,4}$/.exec(c.req.query('page') ?? '')?.[0] ?? 1);
  return showList(c, page, null, null);
});

heldReview.get(`${REVIEW_PATH}/:hash`, async (c) => {
  if (!(await mayReview(c))) return door(c, 200, null);
  const hold = await heldPushesOf(c.env).findToReview(c.req.param('hash'));
  if (hold === null) return answerRefused(c, NOT_WAITING, 'page');
  const memory = memoryFor(c);
  try {
    const { push, pushed, host, key } = await look(c, hold, FULL, new Map(), memory);
    const changes =
      pushed === null || host === null || key === null
        ? 'This cannot be shown.'
        : await changesIn(c, { hold, pushed, host, key }, memory);
    return await show(c, reviewOnePage(push, changes));
  } finally {
    memory.end();
  }
});

heldReview.post(REVIEW_PATH, async (c) => {
  if (isCrossSite(c.req.raw)) return answerRefused(c, CROSS_SITE, 'page');
  const fields = await readFields(c);
  if (fields === null) return answerRefused(c, NO_FORM, 'page');
  if (fields.has('password') || fields.has('token')) return open(c, fields);
  if (!(await mayReview(c))) return door(c, 401, CLOSED);
  return decide(c, fields);
});

async function open(c: Context<AppEnv>, fields: FormFields): Promise<Response> {
  const tooOften = await refuseTooOften(c, ['admin']);
  if (tooOften !== null) return answerRefused(c, tooOften, 'page');
  const credential = await credentialOf(c, { password: fields.get('password'), token: fields.get('token') });
  if (credential === null || !(await guardOf(c.env).mayReview(credential))) {
    const guessed = await refuseTooOften(c, []);
    return guessed === null ? door(c, 401, NO_ACCESS) : answerRefused(c, guessed, 'page');
  }
  await beginReview(c);
  c.var.logger.warn('held pushes were opened for review');
  return c.redirect(REVIEW_PATH, 303);
}

async function decide(c: Context<AppEnv>, fields: FormFields): Promise<Response> {
  const [what, reason] = [fields.get('decision'), fields.get('reason') ?? ''];
  const isValid = what === 'publish' || (what === 'discard' && isReason(reason));
  if (!isValid) return answerRefused(c, NO_FORM, 'page');
  const chosen = [...fields].flatMap(([name, value]) =>
    name.startsWith('push-') ? (seenIn(value) ?? []) : [],
  );
  if (chosen.length === 0) return showList(c, 1, null, 'Choose at least one push.');
  const held = heldPushesOf(c.env);
  const act = (seen: SeenHold): Promise<boolean> =>
    what === 'publish' ? held.approve(seen) : held.discard(seen, reason as DiscardReason);
  const done = (await Promise.all(chosen.map(act))).filter(Boolean).length;
  c.var.logger.warn('held pushes were reviewed', { outcome: what, objects: done });
  return showList(c, 1, { what, done, late: chosen.length - done }, null);
}

function isReason(text: string): text is DiscardReason {
  return Object.hasOwn(DISCARD_REASONS, text);
}

async function showList(
  c: Context<AppEnv>,
  page: number,
  decided: Decided | null,
  problem: ReviewList['problem'],
): Promise<Response> {
  const { holds, waiting } = await heldPushesOf(c.env).toReview((page - 1) * PAGE_SIZE, PAGE_SIZE);
  const pushes: ReviewedPush[] = [];
  const logins: Logins = new Map();
  // One after the other: each may take some memory.
  for (const hold of holds) {
    const memory = memoryFor(c);
    try {
      pushes.push((await look(c, hold, BRIEF, logins, memory)).push);
    } finally {
      memory.end();
    }
  }
  return show(
    c,
    reviewListPage({ pushes, waiting, page, pageSize: PAGE_SIZE, decided, problem }),
    problem === null ? 200 : 400,
  );
}

interface Look {
  readonly push: ReviewedPush;
  /** Null if its texts cannot be shown. */
  readonly pushed: HeldPush | null;
  readonly host: PushHost | null;
  readonly key: string | null;
}

/** Reads a push. What cannot be read is told. @param memory where it is counted. */
async function look(
  c: Context<AppEnv>,
  hold: HoldToReview,
  limits: TextLimits & { readonly mostBytes: number },
  logins: Logins,
  memory: MemoryHold,
): Promise<Look> {
  const config = hostWithKey(c.var.config, hold.host);
  const unread = (problem: string): Look => ({
    push: { hold, author: c.var.config.anonEmail, repository: null, texts: null, problem },
    pushed: null,
    host: null,
    key: null,
  });
  if (config === undefined) return unread('This service does not know its code host any more. Discard it.');
  if (verdictBytesOf(hold) > limits.mostBytes) {
    return unread('Its texts are too long to be shown here.');
  }
  c.set('host', config);
  const host = pushHost(c, { memory, timeoutMs: HOST_TIMEOUT_MS });
  try {
    const [key, login] = await Promise.all([c.env.HELD_KEYS.get(hold.spool.attempt), loginAt(host, logins)]);
    if (key === null) return unread('Its key is not here yet. Reload this page in a minute.');
    const pushed = await readHeldPush(c.env, hold, key, memory);
    const texts = reviewedTexts(pushed.push, limits);
    const author = `${login} <${c.var.config.anonEmail}>`;
    const repository = recordName(config, texts.repository);
    return { push: { hold, author, repository, texts, problem: null }, pushed, host, key };
  } catch (error) {
    c.var.logger.warn('a held push could not be read', { error });
    return unread('It cannot be read now. Reload this page in a minute.');
  }
}

/** Of the bot, by the key of the code host: an unreachable one is asked once. */
type Logins = Map<string, Promise<string>>;

function loginAt(host: PushHost, logins: Logins): Promise<string> {
  const known = logins.get(host.hostKey);
  if (known !== undefined) return known;
  const asked = within(LOGIN_PATIENCE_MS, host.botLogin()).catch(() => 'the bot');
  logins.set(host.hostKey, asked);
  return asked;
}

/** Why they cannot be shown, as a text. */
async function changesIn(
  c: Context<AppEnv>,
  {
    hold,
    pushed,
    host,
    key,
  }: {
    readonly hold: HoldToReview;
    readonly pushed: HeldPush;
    readonly host: PushHost;
    readonly key: string;
  },
  memory: MemoryHold,
): Promise<Changes | string> {
  const { entryBytes } = hold;
  if (entryBytes > MAX_PACK_BYTES) {
    return `Its files are ${entryBytes.toLocaleString('en')} bytes, compressed. That is too much to be shown here.`;
  }
  try {
    await memory.share().set(entryBytes);
    const pieces: Uint8Array[] = [];
    for await (const piece of readHeldBytes(c.env, hold, key, memory, 0, entryBytes))
      pieces.push(piece.slice());
    const bytes = concatBytes(pieces);
    const pack = {
      read: async function* (start: number) {
        yield bytes.subarray(start);
      },
      byteLength: entryBytes,
      maxReads: Infinity,
    };
    const { repository, commits, ground } = pushed.push;
    return await changesOf(
      { commits, ground, pack },
      (request, maxBytes) => host.transport.readObjects(repository, request, maxBytes),
      memory,
    );
  } catch (error) {
    c.var.logger.warn('the changes of a held push could not be read', { error });
    return error instanceof HostError
      ? `It cannot be shown now. ${error.publicMessage} Reload this page in a minute.`
      : 'Its files or upstream’s cannot be read. If it is published, the code host may refuse it.';
  }
}

/** Null: this is no form of the page. @throws BodyError if it does not arrive completely. */
async function readFields(c: Context<AppEnv>): Promise<FormFields | null> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(c.req.header('Content-Type') ?? '')) return null;
  try {
    const limits = { maxBytes: MAX_BODY_BYTES, timeoutMs: c.var.config.readTimeoutMs };
    return parseFormFields(await bodyText(c.req.raw, limits));
  } catch (error) {
    if (error instanceof BodyError && error.code === 'too-large') return null;
    throw error;
  }
}

/** The form that opens the page. */
function door(c: Context<AppEnv>, status: 200 | 401, problem: string | null): Answer {
  const token = c.req.method === 'POST' ? '' : (c.req.query('token') ?? '');
  const hasPassword = c.var.config.panicPassword !== null;
  return show(c, reviewDoorPage(ACTION_TOKEN.test(token) ? token : null, hasPassword, problem), status);
}

function show(c: Context<AppEnv>, page: Page, status: 200 | 400 | 401 = 200): Answer {
  return answerPage(c, page, status, { 'Cache-Control': 'no-store' });
}
