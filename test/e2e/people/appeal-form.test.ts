/**
 * Reports in a browser: which comments a pseudonym is reported for, and how its author appeals
 * without a program.
 */
import { expect, it } from 'vitest';
import { FormClient, typedIn } from '../support/form-client.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { comment, report, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const APPEAL = '/v1/moderation/appeal';

const bed = useOwnTestBed({ env: OPERATOR });
const operator = new Operator(bed);
const alerts = async () => (await operator.alerts()).map(({ message }) => message);

/** A pseudonym that three people have reported for two comments. */
async function silenced() {
  const upstream = await bed.createUpstream({ commits: 0 });
  const author = bed.person();
  const issues = `/v1/gh/${upstream.fullName}/issues/anonymous`;
  const { body: issue } = await speak(bed, author, issues, { title: 'A thread', body: 'to talk on' });
  const token = issue['user_token'] as string;
  const hash = issue['hash'] as string;
  const urls: string[] = [];
  for (const words of ['one', 'two']) {
    const { body } = await comment(bed, author, `${upstream.fullName}/issues/1`, words, token);
    urls.push(body['comment_url'] as string);
  }
  for (let count = 0; count < 3; count++) await report(bed, bed.person(), hash);
  return { upstream, token, hash, urls, client: new FormClient(bed.service.url, author) };
}

it('the page of a report leads to the comments, the newest first', exhaustive, async () => {
  const { hash, urls, client, upstream } = await silenced();
  const { html } = await client.get(`/v1/moderation/report?hash=${hash}`);
  const links = [...html.matchAll(/href="([^"]*#issuecomment-\d+)"/g)].map(([, link]) => link);
  expect(links).toEqual(urls.toReversed());
  expect(html).toContain(`on ${upstream.fullName}#1`);
  expect((await client.get('/v1/moderation/report?hash=00000000')).html).not.toContain('What it wrote');
});

it('whoever is silenced is led to the form, and the operator hears them once a day', async () => {
  const { token, hash, client, upstream } = await silenced();
  const reply = `/v1/gh/${upstream.fullName}/reply`;
  const form = await client.get(`${reply}?to=1`);
  const refused = await client.post(reply, {
    ...form.fields,
    body: 'three',
    user_token: token,
    step: 'post',
  });
  expect(refused.problem).toMatch(/^This pseudonym may not post now/);
  const link = /href="(\/v1\/moderation\/appeal\?thread=[^"]*)"/.exec(refused.html)?.[1] ?? '';
  const appeal = await client.get(link);
  expect(appeal.html).toContain(`value="${upstream.fullName}#1"`);
  expect(appeal.headers.get('Cache-Control')).toBe('no-store');
  const fields = { ...appeal.fields, thread: `${upstream.fullName}#1`, user_token: token };
  const words = 'I only asked.\n\nPlease <b>.';
  const sent = await client.post(APPEAL, { ...fields, text: words });
  expect([sent.status, sent.heading]).toEqual([200, 'Your appeal is sent']);
  expect(sent.html).toContain(`anon-${hash}`);
  const heard = expect.stringContaining(
    `anon-${hash} (flagged, 3 reports) writes: “I only asked. Please <b>.”`,
  );
  await expect.poll(alerts).toContainEqual(heard);
  const again = await client.post(APPEAL, { ...fields, text: words });
  expect([again.status, again.problem]).toEqual([
    429,
    'Only one appeal a day is allowed for a pseudonym, and yours was already delivered.',
  ]);
  expect(typedIn(again.html, 'text')).toBe(words);
});

it('a form that is empty, forged or of another site is refused, and nothing that was typed is lost', async () => {
  const client = new FormClient(bed.service.url, bed.person());
  const { fields } = await client.get(APPEAL);
  const typed = { thread: 'octo/hello#7', user_token: 'TOKEN', text: 'Please' };
  const answers: [Record<string, string>, number, RegExp][] = [
    [{ ...fields, ...typed, text: ' ' }, 400, /^Text is required\.$/],
    [{ ...fields, ...typed, thread: 'nowhere' }, 400, /^Thread must be owner\/repo#number/],
    [{ ...fields, ...typed }, 409, /^This pseudonym is neither flagged nor blocked\.$/],
    [{ ...typed, token: 'forged' }, 403, /^This service did not make this form/],
  ];
  for (const [sent, status, problem] of answers) {
    const answered = await client.post(APPEAL, sent);
    expect([answered.status, answered.problem]).toEqual([status, expect.stringMatching(problem)]);
    expect(typedIn(answered.html, 'text').trim()).toBe(sent['text']?.trim());
  }
  const elsewhere = { Origin: 'https://evil.test', 'Sec-Fetch-Site': 'cross-site' };
  expect((await client.post(APPEAL, { ...fields, ...typed }, elsewhere)).status).toBe(403);
});
