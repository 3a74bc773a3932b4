/** Serves /admin, where the operator sees what needs attention, and can send a test alert. */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { Trouble } from '../../notify/trouble.ts';
import { OPERATOR_PATH } from '../../notify/alert.ts';
import { within } from '../../isolate/within.ts';
import { delayedPushesOf, feedOf, guardOf } from '../../objects.ts';
import { OPERATOR_DOOR, operatorHomePage, type StoppedRepository } from '../../pages/operator-page.ts';
import { suspensionOf } from '../../service/suspension.ts';
import { answerRefused } from '../request/refused.ts';
import { testAlert } from './admin.ts';
import { atDoor, isOpen, noForm, show, showDoor } from './operator-door.ts';

/** How long to wait for what is not about alerts. */
const LISTS_PATIENCE_MS = 3_000;

/** Bounds the list of stopped repositories of a host. */
const MOST_STOPPED = 100;

export const operatorPageRoutes = new Hono<AppEnv>();

operatorPageRoutes.get(OPERATOR_PATH, async (c) =>
  (await isOpen(c)) ? home(c) : showDoor(c, OPERATOR_DOOR),
);

operatorPageRoutes.post(OPERATOR_PATH, (c) =>
  atDoor(c, OPERATOR_DOOR, async (fields) => {
    if (fields.get('step') !== 'test-alert') return answerRefused(c, noForm(OPERATOR_DOOR), 'page');
    const outcome = await testAlert(c);
    return home(c, outcome === 'nobody' ? {} : { tested: outcome });
  }),
);

/** Answers null if there is no answer now. */
function soon<T>(asked: Promise<T>): Promise<T | null> {
  return within(LISTS_PATIENCE_MS, asked).catch(() => null);
}

async function home(c: Context<AppEnv>, test: { tested?: Trouble | null } = {}): Promise<Response> {
  const { notifyAdminTopic, notifyAdminUrl, hosts } = c.var.config;
  const server = notifyAdminTopic === null ? null : notifyAdminUrl;
  const [alerts, guard, delayed, stopped] = await Promise.all([
    guardOf(c.env).alertState(),
    soon(suspensionOf(c.env)),
    soon(delayedPushesOf(c.env).counts()),
    soon(stoppedRepositories(c)),
  ]);
  return show(c, operatorHomePage({ alerts, guard, delayed, hosts, server, stopped, ...test }));
}

/** Lists the repositories whose maintainers have said stop, of each host the newest. */
async function stoppedRepositories(c: Context<AppEnv>): Promise<readonly StoppedRepository[]> {
  const { hosts } = c.var.config;
  const lists = hosts.map(async ({ key, url }) => {
    const stopped = await feedOf(c.env, key).stopped(MOST_STOPPED);
    return stopped.map(({ name, at }) => ({ name, at, url: `${url}/${name}` }));
  });
  return (await Promise.all(lists)).flat();
}
