/**
 * Serves /admin/delayed and below, where the operator sees all pushes that wait, with everything
 * that would leave, and publishes or discards them.
 */
import { type Context, Hono } from 'hono';
import { hostWithKey, recordName } from '../../config/hosts.ts';
import { bytesOf, type DelayedPush, type SeenPush } from '../../durable/delayed-pushes/delayed-push.ts';
import { DISCARD_REASONS, type DiscardReason } from '../../durable/delayed-pushes/endings.ts';
import { difference } from '../../edit/lines.ts';
import { REVIEW_PATH } from '../../notify/alert.ts';
import type { AppEnv } from '../../env.ts';
import type { FormFields } from '../request/form-fields.ts';
import { readsOf } from '../../upstream/tree-reader.ts';
import { HostError } from '../../words/host-error.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { within } from '../../isolate/within.ts';
import { delayedPushesOf } from '../../objects.ts';
import {
  type DecisionResult,
  type ReviewedPush,
  REVIEW_DOOR,
  type ReviewList,
  reviewListPage,
  reviewOnePage,
  seenIn,
} from '../../pages/delayed-review-page.ts';
import { type Changes, changesOf, MAX_PACK_BYTES } from '../../edit/changes.ts';
import { type TextLimits, textsLeaving } from '../../pages/leaving-texts.ts';
import type { PushHost } from '../../push/push-host.ts';
import { storedPack } from '../../push/receive/receive.ts';
import { pushHost } from '../../service/open-push.ts';
import { removeDelayed } from '../../service/publish-delayed.ts';
import { openStored, type StoredPush } from '../../service/stored-push.ts';
import { memoryFor } from '../../service/scope.ts';
import { answerRefused, explained } from '../request/refused.ts';
import { atDoor, isOpen, noForm, show, showDoor } from './operator-door.ts';
import { hostScopeOf, scopeOf } from '../request/scope.ts';

const PAGE_SIZE = 20;
/** The time limit of requests for folders and files of upstream. */
const HOST_TIMEOUT_MS = 10_000;
/** How long to wait for the bot's name, without which the page can be shown, too. */
const LOGIN_PATIENCE_MS = 3_000;

/**
 * Bounds of what is shown of a push: in the list, and on its own page. `mostBytes`: of its texts.
 */
const BRIEF = { mostMessages: 5, longest: 2_000, mostBytes: 256 * 1024 } as const;
const FULL = { mostMessages: 200, longest: 65_536, mostBytes: 4 * 1024 * 1024 } as const;

const NOT_WAITING = explained(
  404,
  'No such push waits',
  'It was published or discarded, or its author has given it up. Look at /admin/delayed.',
);

export const delayedReview = new Hono<AppEnv>();

delayedReview.get(REVIEW_PATH, async (c) => {
  if (!(await isOpen(c))) return showDoor(c, REVIEW_DOOR);
  const page = Number(/^[1-9]\d{0,4}$/.exec(c.req.query('page') ?? '')?.[0] ?? 1);
  return showList(c, page, null, null);
});

delayedReview.get(`${REVIEW_PATH}/:name`, async (c) => {
  if (!(await isOpen(c))) return showDoor(c, REVIEW_DOOR);
  const listed = await delayedPushesOf(c.env).listed(c.req.param('name'));
  if (listed === null) return answerRefused(c, NOT_WAITING, 'page');
  const memory = memoryFor(scopeOf(c));
  try {
    const { push, opened } = await look(c, listed, FULL, memory, new Map());
    const changes = opened === null ? 'This cannot be shown.' : await changesIn(c, listed, opened, memory);
    return await show(c, reviewOnePage(push, changes));
  } finally {
    memory.end();
  }
});

delayedReview.post(REVIEW_PATH, (c) => atDoor(c, REVIEW_DOOR, (fields) => decide(c, fields)));

async function decide(c: Context<AppEnv>, fields: FormFields): Promise<Response> {
  const [what, reason] = [fields.get('decision'), fields.get('reason') ?? ''];
  const isReason = Object.hasOwn(DISCARD_REASONS, reason);
  if (what !== 'publish' && !(what === 'discard' && isReason))
    return answerRefused(c, noForm(REVIEW_DOOR), 'page');
  const chosen = [...fields].flatMap(([name, value]) =>
    name.startsWith('push-') ? (seenIn(value) ?? []) : [],
  );
  if (chosen.length === 0) return showList(c, 1, null, 'Choose at least one push.');
  const act = (seen: SeenPush): Promise<boolean> =>
    what === 'publish' ? delayedPushesOf(c.env).approve(seen) : discard(c, seen, reason as DiscardReason);
  let done = 0;
  // One after the other: each may set the code host of this request.
  for (const seen of chosen) done += Number(await act(seen));
  c.var.logger.warn('delayed pushes were reviewed', { outcome: what, objects: done });
  return showList(c, 1, { what, done, late: chosen.length - done }, null);
}

/**
 * Discards a push. Answers false if it does not wait any more, is being published, or could not be
 * removed from the host.
 */
async function discard(c: Context<AppEnv>, seen: SeenPush, reason: DiscardReason): Promise<boolean> {
  const end = await delayedPushesOf(c.env).discard(seen, reason);
  if (typeof end === 'string') return end === 'done';
  const said = [
    'The operator of this service has removed what was published of it.',
    DISCARD_REASONS[reason],
  ];
  return removeDelayed(scopeOf(c), end, { state: 'discarded', said });
}

async function showList(
  c: Context<AppEnv>,
  page: number,
  decided: DecisionResult | null,
  problem: ReviewList['problem'],
): Promise<Response> {
  const { pushes, waiting } = await delayedPushesOf(c.env).list((page - 1) * PAGE_SIZE, PAGE_SIZE);
  const shown: ReviewedPush[] = [];
  const logins: Logins = new Map();
  // One after the other: each may take some memory.
  for (const listed of pushes) {
    const memory = memoryFor(scopeOf(c));
    try {
      shown.push((await look(c, listed, BRIEF, memory, logins)).push);
    } finally {
      memory.end();
    }
  }
  const list = reviewListPage({ pushes: shown, waiting, page, pageSize: PAGE_SIZE, decided, problem });
  return show(c, list, problem === null ? 200 : 400);
}

/** A push that was read, and the host to read the rest from. */
type Opened = { readonly stored: StoredPush; readonly host: PushHost };
/** The bot's logins by the host's key, so that a silent host is waited for only once a request. */
type Logins = Map<string, Promise<string>>;

/**
 * Reads a push to show it. If it cannot be read, its `problem` says why, and `opened` is null.
 * @param memory counts what is read.
 */
async function look(
  c: Context<AppEnv>,
  listed: DelayedPush,
  limits: TextLimits & { readonly mostBytes: number },
  memory: MemoryHold,
  logins: Logins,
): Promise<{ readonly push: ReviewedPush; readonly opened: Opened | null }> {
  const config = hostWithKey(c.var.config, listed.host);
  const unread = (problem: string) => {
    const push = { listed, author: c.var.config.anonEmail, repository: null, texts: null, problem };
    return { push, opened: null };
  };
  if (config === undefined) return unread('This service does not know its code host any more. Discard it.');
  if (bytesOf(listed) - listed.entryBytes > limits.mostBytes)
    return unread('Its texts are too long to be shown here.');
  const host = pushHost(hostScopeOf(c, config), { memory, timeoutMs: HOST_TIMEOUT_MS });
  // The operator must see what waits, also while the bot's name does not come.
  const asked =
    logins.get(config.key) ?? within(LOGIN_PATIENCE_MS, host.botLogin(true)).catch(() => 'the bot');
  logins.set(config.key, asked);
  try {
    const [stored, login] = await Promise.all([openStored(c.env, listed, memory), asked]);
    if (stored === null) return unread('Its key is not here yet. Reload this page in a minute.');
    const texts = textsLeaving(stored.kept, limits);
    const author = `${login} <${c.var.config.anonEmail}>`;
    const repository = recordName(config, texts.repository);
    return { push: { listed, author, repository, texts, problem: null }, opened: { stored, host } };
  } catch (error) {
    c.var.logger.warn('a delayed push could not be read', { error });
    return unread('It cannot be read now. Reload this page in a minute.');
  }
}

/** Reads the changes; a text says why they cannot be shown. */
async function changesIn(
  c: Context<AppEnv>,
  listed: DelayedPush,
  { stored, host }: Opened,
  memory: MemoryHold,
): Promise<Changes | string> {
  if (listed.entryBytes > MAX_PACK_BYTES)
    return `Its files are ${listed.entryBytes.toLocaleString('en')} bytes, compressed. That is too much to be shown here: nobody has seen them.`;
  try {
    const pack = storedPack(await stored.entries(), 0);
    const { target, work } = stored.kept;
    return await changesOf(
      { commits: work.commits, boundary: work.boundary, pack },
      readsOf(host.transport, target),
      memory,
      difference,
    );
  } catch (error) {
    c.var.logger.warn('the changes of a delayed push could not be read', { error });
    return error instanceof HostError
      ? `It cannot be shown now. ${error.publicMessage} Reload this page in a minute.`
      : 'Its files or upstream’s cannot be read. If it is published, the code host may refuse it.';
  }
}
