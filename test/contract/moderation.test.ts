/** Reports of a pseudonym and what they lead to (contract, 2.3, 2.4, 3.1, 4.4, 7, 8). */
import { beforeAll, describe, expect, it } from 'vitest';
import { useCodeHost } from './support/code-host.ts';
import { type Answer, CLIENT_HEADER, expectError, inTurns, send } from './support/http.ts';
import { BOT, type Comment } from './support/records.ts';
import { useService } from './support/service.ts';

const host = useCodeHost();
const service = useService(() => (port) => ({
  ...host.variables,
  SERVICE_URL: `http://127.0.0.1:${port}`,
  CLIENT_IP_HEADER: CLIENT_HEADER,
}));

let clients = 0;
/** Somebody with an address of their own, which no other one's /48 or /64 contains. */
const newClient = (): string => `198.51.${Math.floor(++clients / 250)}.${clients % 250}`;

interface Commented {
  readonly hash: string;
  readonly karma: number;
  readonly user_token: string;
}

function comment(body: string, user_token?: string): Promise<Answer> {
  const url = `${service.url}/v1/gh/octo/hello/issues/1/comments/anonymous`;
  return send(url, { json: { body, ...(user_token !== undefined && { user_token }) }, from: newClient() });
}

async function commented(body: string, user_token?: string): Promise<Commented> {
  const answer = await comment(body, user_token);
  expect(answer.status, answer.text).toBe(200);
  return answer.json as Commented;
}

/** The comments of a pseudonym that the host shows. */
const commentsOf = (hash: string): Comment[] =>
  host.repositories
    .get('octo/hello')
    ?.threads[0]?.comments.filter(({ body }) => body.includes(`anon-${hash}`)) ?? [];

const reportUrl = (hash: string): string => `${service.url}/v1/moderation/report?hash=${hash}`;

/** Opens the page and sends its form, as a browser does. */
async function report(hash: string, from: string): Promise<Answer> {
  const shown = await send(reportUrl(hash), { from, headers: { Accept: 'text/html' } });
  const [, attributes = '', fields = ''] =
    /<form([^>]*method="?post[^>]*)>(.*?)<\/form>/is.exec(shown.text) ?? [];
  const action = /action="([^"]*)"/.exec(attributes)?.[1] ?? '';
  const values = [...fields.matchAll(/<input[^>]*name="([^"]*)"[^>]*value="([^"]*)"/g)];
  const form = new URLSearchParams(values.map(([, name = '', value = '']) => [name, value]));
  return send(new URL(action.replaceAll('&amp;', '&'), reportUrl(hash)).href, {
    body: form.toString(),
    from,
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'text/html',
      Origin: service.url,
    },
  });
}

async function reportTimes(hash: string, times: number): Promise<void> {
  for (let count = 0; count < times; count++) expect((await report(hash, newClient())).status).toBe(200);
}

/** The words that a person reads on a page. */
const words = ({ text }: Answer): string =>
  text
    .replaceAll(/<(?:style|script)\b.*?<\/(?:style|script)>/gis, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

async function page(hash: string): Promise<string> {
  const answer = await send(reportUrl(hash), { from: newClient(), headers: { Accept: 'text/html' } });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^text\/html\b/);
  return words(answer);
}

beforeAll(async () => {
  await host.createRepository('octo', 'hello');
  const json = { title: 'a', body: 'b' };
  expect((await send(`${service.url}/v1/gh/octo/hello/issues/anonymous`, { json })).status).toBe(200);
});

describe('the report page', () => {
  it('shows count, state and policy, and a form', async () => {
    const { hash } = await commented('Reported by nobody.');
    const answer = await send(reportUrl(hash), { from: newClient(), headers: { Accept: 'text/html' } });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^text\/html\b/);
    expect(answer.text).toMatch(/<form[^>]*method="?post/i);
    expect(words(answer)).toContain(hash);
    expect(words(answer)).toMatch(/\b0\b.*\bregistered\b/i);
    // The policy: both thresholds, the cooldown and the window.
    for (const figure of [/\b3\b/, /\b6\b/, /\b6 hours\b/, /\b30 days\b/])
      expect(words(answer)).toMatch(figure);
  });

  it('says that a report was received, with hash, count and state', async () => {
    const { hash } = await commented('Reported once.');
    const received = await report(hash, newClient());
    expect(received.status).toBe(200);
    expect(words(received)).toMatch(/received/i);
    expect(words(received)).toContain(hash);
    expect(words(received)).toMatch(/\b1\b.*\bregistered\b/i);
  });

  it('takes one report from each address', async () => {
    const { hash } = await commented('Reported twice by one.');
    const reporter = newClient();
    for (let time = 0; time < 4; time++) await report(hash, reporter);
    expect(await page(hash)).toMatch(/\b1\b.*\bregistered\b/i);
  });

  it('takes thirty reports an hour from one address, of differing pseudonyms', async () => {
    const reporter = newClient();
    const answers = await inTurns(30, async (index) => report(`0000${1000 + index}`, reporter));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });
});

describe('a pseudonym', () => {
  it('with two reports goes on posting', async () => {
    const { hash, user_token } = await commented('One.');
    await reportTimes(hash, 2);
    expect(await page(hash)).toMatch(/\b2\b.*\bregistered\b/i);
    expect(await commented('Two.', user_token)).toMatchObject({ hash, karma: 2 });
  });

  it('with three reports is flagged: no comments, and karma 0 under those that are there', async () => {
    const { hash, user_token } = await commented('One.');
    await commented('Two.', user_token);
    await reportTimes(hash, 3);
    expect(await page(hash)).toMatch(/\b3\b.*\bflagged\b/i);
    expectError(await comment('Three.', user_token), 429, 'cooldown activo por reportes');
    await expect
      .poll(() => commentsOf(hash).map(({ body }) => body))
      .toEqual(
        ['One.', 'Two.'].map(
          (body) => `${body}\n\n---\nanon-${hash} · karma (0) · [report](${reportUrl(hash)})`,
        ),
      );
  });

  it('with six reports is blocked, and all its comments are deleted', async () => {
    const { hash, user_token } = await commented('One.');
    await commented('Two.', user_token);
    expect(commentsOf(hash).map(({ by }) => by)).toEqual([BOT, BOT]);
    await reportTimes(hash, 5);
    expect(await page(hash)).toMatch(/\b5\b.*\bflagged\b/i);
    expectError(await comment('Three.', user_token), 429, 'cooldown activo por reportes');
    await reportTimes(hash, 1);
    expect(await page(hash)).toMatch(/\b6\b.*\bblocked\b/i);
    expectError(await comment('Four.', user_token), 403, 'hash bloqueado por reportes');
    await expect.poll(() => commentsOf(hash)).toEqual([]);
  });

  it('is refused on its thread only', async () => {
    const { hash, user_token } = await commented('Here.');
    await reportTimes(hash, 3);
    const json = { title: 'another', body: 'thread' };
    const url = `${service.url}/v1/gh/octo/hello`;
    const created = await send(`${url}/issues/anonymous`, { json, from: newClient() });
    const { number } = created.json as { number: number };
    const answer = await send(`${url}/issues/${number}/comments/anonymous`, {
      json: { body: 'There.', user_token },
      from: newClient(),
    });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ karma: 1 });
  });
});
