/**
 * Serves /v1/delayed/<name>, the page of a delayed push, to whoever knows its random name, which
 * the push's answer has shown once.
 */
import { type Context, Hono } from 'hono';
import type { DelayedView } from '../../durable/delayed-pushes/delayed-push.ts';
import { releaseOne } from '../../durable/delayed-pushes/release-due.ts';
import type { AppEnv } from '../../env.ts';
import { delayedPushesOf } from '../../objects.ts';
import {
  DELAYED_ACTIONS,
  type DelayedAction,
  delayedPage,
  delayedPath,
  delayedText,
} from '../../pages/delayed-page.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { prKeyOf } from '../../secret/keyed-hash.ts';
import { removeDelayed } from '../../service/publish-delayed.ts';
import { isCrossSite, readSmallForm } from '../request/payload.ts';
import { lookUp } from '../request/limits.ts';
import { shownOrigin } from '../request/public-origin.ts';
import { answerRefused, explained, type Refused } from '../request/refused.ts';
import { prefersPage } from '../request/repository.ts';
import { answerPage } from './answer-page.ts';
import { scopeOf } from '../request/scope.ts';

const NOT_KEPT = { 'Cache-Control': 'no-store', Vary: 'Accept' };

const UNKNOWN = explained(
  404,
  'No such delayed push',
  'Copy the whole address from the answer to the push. A page is here as long as its push waits, and two weeks more. If the push does not show among your pull requests either, push it again.',
);
const BUTTON = 'Open the page of the delayed push, and press its button there.';
const CROSS_SITE = explained(403, 'This form came from another site', BUTTON);
const NO_FORM = explained(400, 'This is not a form of this page', BUTTON);

const PROBLEMS = {
  busy: 'The service is at work on it, so nothing was done. Reload this page in a minute.',
  review: 'The operator looks at it before it is published, so nothing was done. You can give it up.',
  unknown: 'It does not wait any more, so nothing was done.',
} as const;
const NOT_REMOVED =
  'You wanted to give it up, but what is at the code host already could not be removed. Press “Give up” again in a minute. Nothing more of it will be published.';
const REMOVED =
  'You have given it up. If it had opened a pull request, that is closed, and its branch removed. If it was to update one, look there whether its commits have arrived.';

export const delayedPageRoutes = new Hono<AppEnv>();

delayedPageRoutes.get('/v1/delayed/:name', async (c) => {
  const found = await delayedPush(c);
  return found instanceof Response ? found : show(c, found, null);
});

delayedPageRoutes.post('/v1/delayed/:name', async (c) => {
  if (isCrossSite(c.req.raw)) return refuse(c, CROSS_SITE);
  const pressed = (await readSmallForm(c))?.get('action');
  const action = DELAYED_ACTIONS.find((known) => known === pressed);
  if (action === undefined) return refuse(c, NO_FORM);
  const found = await delayedPush(c);
  if (found instanceof Response) return found;
  const { name } = found;
  const problem = await act(c, name, action);
  if (problem === null) return c.redirect(delayedPath(name), 303);
  return show(c, (await delayedPushesOf(c.env).view(name)) ?? found, problem);
});

/** Does what a button says. Gives why nothing was done; null if it was done. */
async function act(c: Context<AppEnv>, name: string, action: DelayedAction): Promise<string | null> {
  const objects = delayedPushesOf(c.env);
  if (action === 'publish') {
    const lease = await objects.publishNow(name);
    if (typeof lease === 'string') return PROBLEMS[lease];
    c.executionCtx.waitUntil(releaseOne(c.env, c.var.config, lease, Date.now()));
    return null;
  }
  const end = await objects.giveUp(name);
  if (typeof end === 'string') return end === 'done' ? null : PROBLEMS[end];
  const isRemoved = await removeDelayed(scopeOf(c), end, { state: 'given-up', said: [REMOVED] });
  return isRemoved ? null : NOT_REMOVED;
}

async function delayedPush(c: Context<AppEnv>): Promise<DelayedView | Response> {
  const name = c.req.param('name') ?? '';
  const isName = /^[0-9a-f]{32}$/.test(name);
  const found = await lookUp(c, async () => (isName ? delayedPushesOf(c.env).view(name) : null));
  return found ?? refuse(c, UNKNOWN);
}

async function show(c: Context<AppEnv>, view: DelayedView, problem: string | null): Promise<Response> {
  const { published } = view;
  const { config } = c.var;
  const prKey = published?.isKeyShown
    ? prKeyOf(await serviceSecret(c.env, config.identitySecret), published.prHash)
    : null;
  const shown = { view, prKey, origin: shownOrigin(c.req.raw, config), problem };
  const status = problem === null ? 200 : 409;
  return prefersPage(c)
    ? answerPage(c, delayedPage(shown), status, NOT_KEPT)
    : c.text(delayedText(shown), status, NOT_KEPT);
}

function refuse(c: Context<AppEnv>, refusal: Refused): Response | Promise<Response> {
  const headers = { ...NOT_KEPT, ...refusal.headers };
  return answerRefused(c, { ...refusal, headers }, prefersPage(c) ? 'page' : 'text');
}
