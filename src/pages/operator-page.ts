/**
 * The page /admin, which shows what needs attention, whether alerts arrive, and who has said stop,
 * and the page that opens the operator's pages.
 * They work without script.
 * Proved by test/routes/moderation/operator-page.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import { OPERATOR_PATH, REVIEW_PATH } from '../notify/alert.ts';
import { type Trouble, troubleWords } from '../notify/trouble.ts';
import { attentionCard, type Attention } from './attention.ts';
import { field, hidden, problemNotice, shownValue, stepButtons } from './forms/parts.ts';
import {
  card,
  countOf,
  dotted,
  factList,
  type Html,
  isoTime,
  listCard,
  type Page,
  safeUrl,
  timeElement,
  unlistedPage,
  visibleText,
} from './layout.ts';

/** A page that opens with the password or with a token. */
export interface OperatorDoor {
  readonly path: string;
  readonly title: string;
  readonly description: string;
}

export const OPERATOR_DOOR: OperatorDoor = {
  path: OPERATOR_PATH,
  title: 'Operator',
  description: 'For the operator of this service.',
};

export function operatorPage(
  { title, description }: Omit<OperatorDoor, 'path'>,
  width: 'narrow' | 'wide',
  content: Html,
): Page {
  const framed = unlistedPage(title, description, content, width);
  return { ...framed, cookies: 'One cookie, for these pages and ten minutes' };
}

/**
 * @param token that of an alert; null if the address had none.
 * @param hasPassword whether the service has one.
 */
export function doorPage(
  door: OperatorDoor,
  token: string | null,
  hasPassword: boolean,
  problem: string | null,
): Page {
  const account = shownValue('password-holder', 'Account', 'operator', 'username');
  const label = 'PANIC_PASSWORD of this service';
  const password = html`${account} ${field('password', label, '', { secret: 'stored' })}`;
  const form = html`<form method="post" action="${door.path}" class="card">
    ${token === null ? password : hidden({ token })}
    <div class="buttons"><button type="submit">Open</button></div>
  </form>`;
  const noWay = html`<div class="notice">
    <p>This service has no PANIC_PASSWORD. Use the button of an alert.</p>
  </div>`;
  return operatorPage(
    door,
    'narrow',
    html`<h1>${door.title}</h1>
      <p class="lead">For the operator. It stays open for ten minutes.</p>
      ${problemNotice(problem)} ${token !== null || hasPassword ? form : noWay}`,
  );
}

interface OperatorView extends Attention {
  /** Why a test alert was not taken; null if it was; undefined if none was sent. */
  readonly tested?: Trouble | null;
  /** The stopped repositories; null: they are not known now. */
  readonly stopped: readonly StoppedRepository[] | null;
}

/** A repository whose maintainers have said stop. */
export interface StoppedRepository {
  readonly name: string;
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export function operatorHomePage(view: OperatorView): Page {
  return operatorPage(
    OPERATOR_DOOR,
    'narrow',
    html`<h1>Operator</h1>
      ${view.tested === undefined || view.server === null ? '' : testNotice(view.server, view.tested)}
      ${attentionCard(view)} ${card('alerts', 'Alerts', alerts(view))}
      ${card('delayed', 'Delayed pushes', html`<p><a href="${REVIEW_PATH}">See what waits</a></p>`)}
      ${stoppedList(view.stopped)}`,
  );
}

function stoppedList(stopped: OperatorView['stopped']): Html {
  const items = (stopped ?? []).map(
    ({ name, url, at }) =>
      html`<li><a href="${safeUrl(url)}">${visibleText(name)}</a> ${timeElement(isoTime(at / 1000))}</li>`,
  );
  return listCard(
    'stopped',
    'Stopped by their maintainers',
    items,
    stopped ? 'None.' : 'Not known now. Open the page again in a minute.',
  );
}

function testNotice(server: string, trouble: Trouble | null): Html {
  if (trouble !== null)
    return html`${problemNotice(`The test alert was not taken. ${troubleWords(server, trouble)}`)}`;
  const { host } = new URL(server);
  return html`<div class="notice" role="status">
    <p>
      ${host} has taken the test alert. If it does not reach you, subscribe to the topic of
      NOTIFY_ADMIN_TOPIC.
    </p>
  </div>`;
}

function alerts({ server, alerts: { waiting, trouble } }: OperatorView): Html {
  if (server === null) return html`<p class="soft">There is no topic for them.</p>`;
  const state =
    trouble === null ? dotted('good', 'No alert has failed') : dotted('bad', 'Alerts do not arrive');
  const since = trouble === null ? null : timeElement(isoTime(trouble.since / 1000));
  return html`${factList({ State: state, Since: since, Waiting: waiting === 0 ? null : countOf(waiting, 'alert') })}
    <form method="post" action="${OPERATOR_PATH}">
      ${stepButtons({ 'test-alert': 'Send a test alert' })}
    </form>`;
}
