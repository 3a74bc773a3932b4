/**
 * Conversations on a thread, as its author reads them here: on the page of a pull request, and
 * before a reply.
 */
import { describe, expect, it } from 'vitest';
import { moved } from '../../../sandbox/known-answers.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { FormClient, savedIn } from '../support/form-client.ts';
import type { Person } from '../support/person.ts';
import { remoteLines } from '../support/push-output.ts';
import { type TestBed, useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

/** A pull request that is open, and on which a maintainer has written. */
async function discussed(on: TestBed = bed) {
  const contribution = await contribute(on);
  const { clone, upstream } = contribution;
  await clone.commit();
  const { banner, pull } = await expectAccepted(on, contribution, await clone.push());
  const name = { owner: upstream.owner, repo: upstream.name, number: pull.number };
  const path = `/v1/pr/${banner.prHash}`;
  const client = new FormClient(on.service.url, on.person());
  // The list of pages hears of it some milliseconds after the push.
  await expect.poll(async () => (await client.get(`${path}.atom`)).status).toBe(200);
  return { ...contribution, banner, pull, name, path, client };
}

/** Paths of the host's REST interface that were asked for meanwhile. */
async function callsDuring(action: () => Promise<unknown>, on: TestBed = bed): Promise<string[]> {
  const before = on.host.requests.length;
  await action();
  return on.host.requests
    .slice(before)
    .map(({ path }) => path)
    .filter((path) => path.startsWith('/api/v3/repos/'));
}

const page = (path: string, person: Person, on: TestBed = bed) =>
  new FormClient(on.service.url, person).get(path);

describe('the page of a pull request', () => {
  it('shows the title and what people wrote, as plain text, and asks the host once', async () => {
    const { name, path, pull, client, upstream } = await discussed();
    const { maintainer } = bed.sandbox;
    maintainer.comment(name, '<script>alert(1)</script> ![x](https://spy.test/x.png)', 'mona');
    const remark = { path: 'src/a.ts', body: 'Off \u202Eby\u001b one' };
    maintainer.review(name, 'CHANGES_REQUESTED', 'Please add a test.', 'hubot', [remark]);
    const { html } = await client.get(path);
    expect(html).toContain(`<h1><bdi>${pull.title}</bdi></h1>`);
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; ![x](https://spy.test/x.png)</pre');
    expect(html).toContain('Please add a test.</pre');
    expect(html).toContain('Off [U+202E]by\uFFFD one</pre');
    expect(html).toContain('src/a.ts');
    expect([...html.matchAll(/<strong><bdi>([^<]*)<\/bdi>/g)].map(([, author]) => author)).toEqual([
      'mona',
      'hubot',
      'hubot',
    ]);
    expect(html).not.toMatch(/href="[^"]*spy|<img|<script>alert/);
    expect(html).toContain(`href="/v1/gh/${upstream.fullName}/reply?to=${pull.number}"`);
    expect(await callsDuring(() => page(path, bed.person()))).toEqual([]);
    const text = await (await fetch(`${bed.service.url}${path}`)).text();
    expect(text).toContain('  Please add a test.\n');
  });

  it('is shown without the conversation while the host does not answer', exhaustive, async () => {
    const { path, client } = await discussed();
    bed.sandbox.faults.inject({ path: /\/issues\/\d+$/, answer: { status: 502 } });
    const { status, html, headers } = await client.get(path);
    expect([status, headers.get('Cache-Control')]).toEqual([200, 'no-store']);
    expect(html).toMatch(/does not answer now\. Reload this page in a minute\./);
    // The way on is there all the same.
    expect(html).toContain('>Reply</a>');
    expect(html).toContain('>Change a file</a>');
    expect((await client.get(path)).html).not.toContain('does not answer now');
  });
});

describe('what was read last', () => {
  it('is shown and recorded, before the feed has told of it', async () => {
    const { name, path, client } = await discussed();
    await bed.sandbox.maintainer.merge(name);
    expect((await client.get(path)).html).toMatch(/Merged[\s\S]*The maintainers have accepted it\./);
    expect((await client.get(`${path}.atom`)).html).toContain('#1: merged');
  });

  it('is a refusal if the host refuses for good, and is told as one', async () => {
    const { path, client } = await discussed();
    const answer = { status: 403, body: { message: 'Repository access blocked' } };
    bed.sandbox.faults.inject({ path: /\/issues\/\d+$/, answer });
    const { html } = await client.get(path);
    expect(html).toMatch(/refuses to show it to this service: Repository access blocked\./);
    expect(html).not.toContain('Reload this page in a minute');
  });

  it('is never another repository’s: a transferred issue says where it is now', async () => {
    const [upstream, other] = [await bed.createUpstream(), await bed.createUpstream()];
    const issue = { title: 'Slow', body: 'Very.' };
    await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, issue);
    await bed.host.call('POST', `/repos/${other.fullName}/issues`, {
      title: 'Elsewhere',
      body: 'Other words',
    });
    const location = `${bed.sandbox.apiUrl}/repos/${other.fullName}/issues/1`;
    const path = new RegExp(`/repos/${upstream.fullName}/issues/1$`);
    bed.sandbox.faults.inject({ method: 'GET', path, answer: moved(301, location) });
    const { status, html } = await page(`/v1/gh/${upstream.fullName}/reply?to=1`, bed.person());
    expect(status).toBe(404);
    expect(html).toContain(`was moved to ${bed.sandbox.url}/${other.fullName}/issues/1. Reply there.`);
    expect(html).not.toContain('Other words');
  });
});

describe('while a client’s requests to the host are used up', exhaustive, () => {
  const few = useOwnTestBed({ env: { LIMIT_CALLS: '6/1h' } });

  it('the page says so, to that client alone', async () => {
    const one = await discussed(few);
    const other = await discussed(few);
    const person = few.person();
    expect((await page(one.path, person, few)).html).toContain('The oldest first');
    const refused = await page(other.path, person, few);
    expect(refused.status).toBe(200);
    expect(refused.html).toMatch(/Too many requests to the code host from your network: [^<]*try again in/);
    expect((await page(other.path, few.person(), few)).html).toContain('The oldest first');
  });
});

/** The authors of texts on a page, with the words that mark them. */
const seenIn = (html: string) =>
  [...html.matchAll(/<bdi>([^<]*)<\/bdi><\/strong>\s*(?:<span class="tag small">(\w+)<)?/g)].map(
    ([, author, tag]) => [author, tag],
  );

describe('the reply form', () => {
  it('shows the thread that is answered', async () => {
    const upstream = await bed.createUpstream();
    await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Slow <b>', body: 'Very.' });
    bed.sandbox.maintainer.comment({ owner: upstream.owner, repo: upstream.name, number: 1 }, 'How slow?');
    const { html } = await page(`/v1/gh/${upstream.fullName}/reply?to=1`, bed.person());
    expect(html).toMatch(/<strong>Slow &lt;b&gt;<\/strong><\/bdi>\s*<span class="soft">Open<\/span>/);
    expect(html.indexOf('Very.</pre')).toBeLessThan(html.indexOf('How slow?</pre'));
    expect(html.indexOf('How slow?</pre')).toBeLessThan(html.indexOf('<textarea'));
  });

  it('marks what this service has posted, and what the same person has; a footer of others counts for nothing', async () => {
    const upstream = await bed.createUpstream();
    await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Slow' });
    const client = new FormClient(bed.service.url, bed.person());
    const form = `/v1/gh/${upstream.fullName}/reply`;
    // What was read is kept for a minute, but not past one's own reply.
    const { fields } = await client.get(`${form}?to=1`);
    const done = await client.post(form, { ...fields, body: 'For me, too.', user_token: '', step: 'post' });
    const [own, token] = [savedIn(done.html, 'You'), savedIn(done.html, 'Token')];
    const footer = `\n\n---\n${own} · karma (9) · [report](https://veil.test/)`;
    bed.sandbox.maintainer.comment(
      { owner: upstream.owner, repo: upstream.name, number: 1 },
      `Me, too.${footer}`,
      'mona',
    );
    const stranger = await page(`${form}?to=1`, bed.person());
    expect(seenIn(stranger.html)).toEqual([
      [own, 'anonymous'],
      ['mona', undefined],
    ]);
    expect(stranger.html).toContain('For me, too.</pre');
    const again = await client.post(form, { ...done.fields, user_token: token, step: 'edit' });
    expect(seenIn(again.html)[0]).toEqual([own, 'you']);
  });

  it('asks the host for nobody whose browser another site makes load it', async () => {
    const upstream = await bed.createUpstream();
    await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Slow' });
    const client = new FormClient(bed.service.url, bed.person());
    const home = `/v1/gh/${upstream.fullName}`;
    const load = (path: string, what: string, more = {}) =>
      client.send('GET', path, null, { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': what, ...more });
    const paths = [home, `${home}/reply?to=1`, `${home}/new-issue`, `${home}/change?path=a.txt`];
    const before = bed.host.requests.length;
    for (const what of ['image', 'empty', 'iframe'])
      for (const path of paths) expect((await load(path, what)).fields).toEqual({});
    // Chromium loads ahead of a click if a page says so, as if somebody had typed the address.
    for (const path of [...paths, '/v1/pr/0123456789ab']) {
      const asTyped = { 'Sec-Fetch-Site': 'none', 'Sec-Purpose': 'prefetch;prerender' };
      const ahead = await load(path, 'document', asTyped);
      expect([ahead.status, ahead.headers.get('Cache-Control')]).toEqual([503, 'no-store']);
    }
    expect(bed.host.requests.slice(before)).toEqual([]);
    // Somebody follows a link.
    expect((await load(`${home}/reply?to=1`, 'document')).fields).toMatchObject({ number: '1' });
  });

  it('offers the newest open threads, and says before anything is chosen if none takes a reply', async () => {
    const upstream = await bed.createUpstream();
    for (let count = 1; count <= 22; count++)
      await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: `Slow <${count}>` });
    const { html } = await page(`/v1/gh/${upstream.fullName}/reply`, bed.person());
    const offered = [...html.matchAll(/reply\?to=(\d+)">#\d+ <bdi>([^<]*)</g)].map(([, to, title]) => [
      to,
      title,
    ]);
    const newest = Array.from({ length: 20 }, (_, at) => [`${22 - at}`, `Slow &lt;${22 - at}&gt;`]);
    expect(offered).toEqual(newest);
    const silent = await bed.createUpstream();
    bed.sandbox.faults.inject({ path: new RegExp(`/${silent.fullName}/issues$`), answer: { status: 502 } });
    const unlisted = await page(`/v1/gh/${silent.fullName}/reply`, bed.person());
    expect(unlisted.html).toContain('The list cannot be read now. Write the number above.');
    expect(unlisted.html).toContain('name="to"');
    const closed = await bed.createUpstream();
    await closed.grow({ files: { '.gitveil.yml': 'accept: [issues]\n' } });
    const refused = await page(`/v1/gh/${closed.fullName}/reply`, bed.person());
    expect(refused.problem).not.toBe('');
    expect(refused.html).not.toContain('name="to"');
  });

  it('says before anybody types that the thread does not exist, or is locked', async () => {
    const upstream = await bed.createUpstream();
    const form = `/v1/gh/${upstream.fullName}/reply`;
    const missing = await page(`${form}?to=7`, bed.person());
    expect([missing.status, missing.headers.get('Content-Type')]).toEqual([404, 'text/html; charset=UTF-8']);
    expect(missing.html).toContain(`${upstream.fullName} has no issue or pull request #7`);
    expect(missing.html).toContain('name="to"');
    expect(missing.html).not.toContain('<textarea');
    await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Heated' });
    bed.sandbox.maintainer.lock({ owner: upstream.owner, repo: upstream.name, number: 1 });
    const locked = await page(`${form}?to=1`, bed.person());
    expect(locked.problem).toMatch(/^This thread is locked/);
  });

  it('still works while the host does not show the thread', async () => {
    const upstream = await bed.createUpstream();
    await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Slow' });
    bed.sandbox.faults.inject({ path: /\/issues\/1$/, answer: { status: 502 } });
    const { status, html } = await page(`/v1/gh/${upstream.fullName}/reply?to=1`, bed.person());
    expect(status).toBe(200);
    expect(html).toContain('does not answer now');
    expect(html).toContain('<textarea');
  });

  it('follows an issue that was opened here', async () => {
    const upstream = await bed.createUpstream();
    const client = new FormClient(bed.service.url, bed.person());
    const form = await client.get(`/v1/gh/${upstream.fullName}/new-issue`);
    const path = `/v1/gh/${upstream.fullName}/new-issue`;
    const done = await client.post(path, { ...form.fields, title: 'Slow', body: 'Very.', step: 'post' });
    expect(done.heading).toBe('Your issue is open');
    expect(done.html).toMatch(/value="edit"\s*>\s*Reply to this issue\s*<\/button>/);
    const reply = await client.post(`/v1/gh/${upstream.fullName}/reply`, { ...done.fields, step: 'edit' });
    expect([reply.status, reply.heading]).toEqual([200, 'Reply to #1']);
    expect(reply.html).toContain('<strong>Slow</strong>');
  });
});

describe('an update of a pull request', exhaustive, () => {
  it('says how many comments there are since the last push, and costs no call more', async () => {
    const { clone, name, banner } = await discussed();
    const update = async () => {
      await clone.commit();
      return clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD');
    };
    const news = async () =>
      remoteLines(await update()).filter((line) => line.includes('since your last push'));
    const without = await callsDuring(async () => expect(await news()).toEqual([]));
    const { maintainer } = bed.sandbox;
    maintainer.comment(name, 'Why?', 'mona');
    maintainer.review(name, 'COMMENTED', 'Really, why?', 'mona');
    maintainer.comment(name, 'A note of the bot itself', bed.sandbox.botLogin);
    await bed.service.runScheduled();

    const withNews = await callsDuring(async () =>
      expect(await news()).toEqual([expect.stringMatching(/^2 new comments since your last push: http/)]),
    );
    expect(withNews.length).toBeLessThanOrEqual(without.length);
    maintainer.comment(name, 'I see.', 'mona');
    await bed.service.runScheduled();
    const last = await update();
    expect(remoteLines(last)).toContainEqual(
      expect.stringMatching(/^1 new comment since your last push: http/),
    );
    expect(last.stderr.split('\n').filter((line) => line.startsWith('remote:')).length).toBeLessThanOrEqual(
      14,
    );
    expect(await news()).toEqual([]);
  });
});
