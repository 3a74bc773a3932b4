/**
 * The forms of issues and replies, with whatever people and programs may send: each posts once, and
 * nothing is lost.
 */
import { describe, expect, it } from 'vitest';
import { LIKELY, PROVEN } from '../../support/made-up-credentials.ts';
import { type FormAnswer, FormClient, savedIn, typedIn } from '../support/form-client.ts';
import { OPERATOR } from '../support/operator.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: OPERATOR });
const APPEAL = '/v1/moderation/appeal';

const clientOf = (): FormClient => new FormClient(bed.service.url, bed.person());
const issuePath = ({ fullName }: Upstream): string => `/v1/gh/${fullName}/new-issue`;
const replyPath = ({ fullName }: Upstream): string => `/v1/gh/${fullName}/reply`;

/** The token and the pseudonym in the page about what was posted. */
const identityIn = ({ html }: FormAnswer): (string | undefined)[] => [
  /^[A-Z2-7]{16}$/.exec(savedIn(html, 'Token'))?.[0],
  /^anon-[0-9a-f]{8}$/.exec(savedIn(html, 'You'))?.[0],
];
const linkIn = ({ html }: FormAnswer): string | undefined =>
  /At the code host: <a href="([^"]+)"/.exec(html)?.[1];

const listed = <T>(upstream: Upstream, of: string): Promise<T[]> =>
  bed.host.call<T[]>('GET', `/repos/${upstream.fullName}/${of}`);
const issuesOf = (upstream: Upstream) => listed<{ title: string; html_url: string }>(upstream, 'issues');
const commentsOf = (upstream: Upstream) => listed<{ body: string }>(upstream, 'issues/1/comments');

async function issueForm(upstream: Upstream, client = clientOf()) {
  const { fields } = await client.get(issuePath(upstream));
  const typed = { ...fields, title: 'Does not start', body: 'It says no.', step: 'post' };
  return { typed, send: (more = {}) => client.post(issuePath(upstream), { ...typed, ...more }) };
}

async function replyForm(upstream: Upstream, client = clientOf()) {
  await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Slow' });
  const { fields } = await client.get(`${replyPath(upstream)}?to=1`);
  const typed = { ...fields, body: 'For me, too.', user_token: '', step: 'post' };
  return { typed, send: (more = {}) => client.post(replyPath(upstream), { ...typed, ...more }) };
}

describe('an issue', () => {
  it(
    'that is sent twice is opened once, at once and later, and is shown with its pseudonym each time',
    exhaustive,
    async () => {
      const upstream = await bed.createUpstream();
      const form = await issueForm(upstream);
      const answers = [...(await Promise.all([form.send(), form.send()])), await form.send()];
      expect(answers.map(({ heading }) => heading)).toEqual(answers.map(() => 'Your issue is open'));
      const [issue, ...others] = await issuesOf(upstream);
      expect(others).toEqual([]);
      expect(answers.map(linkIn)).toEqual(answers.map(() => issue?.html_url));
      const [identity] = answers.map(identityIn);
      expect(identity).toEqual([expect.any(String), expect.any(String)]);
      expect(answers.map(identityIn)).toEqual(answers.map(() => identity));
      // The token is the author's: it posts under the same pseudonym.
      const [first] = answers as [FormAnswer];
      const client = clientOf();
      const reply = { ...first.fields, user_token: identity?.[0] ?? '', body: 'Solved.', step: 'post' };
      const replied = await client.post(replyPath(upstream), reply);
      expect(identityIn(replied)).toEqual(identity);
    },
  );

  it('with another text is another one, under another pseudonym', async () => {
    const upstream = await bed.createUpstream();
    const form = await issueForm(upstream);
    const answers = [await form.send(), await form.send({ title: 'Does not stop' })];
    expect((await issuesOf(upstream)).map(({ title }) => title).toSorted()).toEqual([
      'Does not start',
      'Does not stop',
    ]);
    expect(new Set(answers.flatMap(identityIn)).size).toBe(4);
  });

  it('that the host has refused can be sent again', async () => {
    const upstream = await bed.createUpstream();
    const form = await issueForm(upstream);
    bed.sandbox.faults.inject({ method: 'POST', path: /\/issues$/, answer: { status: 410 } });
    expect((await form.send()).problem).toMatch(/failed to create issue: 410/i);
    expect((await form.send()).heading).toBe('Your issue is open');
    expect(await issuesOf(upstream)).toHaveLength(1);
  });

  it('whose answer was lost is not opened again until someone has looked', async () => {
    const upstream = await bed.createUpstream();
    const form = await issueForm(upstream);
    bed.sandbox.faults.inject({
      method: 'POST',
      path: /\/issues$/,
      cut: { during: 'answer', afterBytes: 0 },
    });
    const lost = await form.send();
    expect([lost.status, lost.problem]).toEqual([502, expect.stringMatching(/may exist; look there/)]);
    const again = await form.send();
    expect([again.status, again.problem]).toEqual([409, expect.stringMatching(/sent before/)]);
    expect(typedIn(again.html, 'body')).toBe('It says no.');
    expect(await issuesOf(upstream)).toHaveLength(1);
    // The page that says so is a new form.
    for (const { fields } of [lost, again]) {
      expect((await form.send({ token: fields['token'] ?? '' })).heading).toBe('Your issue is open');
    }
    expect(await issuesOf(upstream)).toHaveLength(3);
  });
});

describe('a reply', () => {
  it.each([
    ['at once', { body: 'For me, too.' }],
    ['after a preview', { step: 'preview' }],
  ])('that is sent twice %s is posted once', exhaustive, async (_, more) => {
    const upstream = await bed.createUpstream();
    const form = await replyForm(upstream);
    const previewed = 'step' in more ? (await form.send(more)).fields : {};
    const send = () => form.send(previewed);
    const answers = [...(await Promise.all([send(), send()])), await send()];
    expect(answers.map(({ heading }) => heading)).toEqual(answers.map(() => 'Your reply is posted'));
    expect(await commentsOf(upstream)).toHaveLength(1);
    const [identity] = answers.map(identityIn);
    expect(answers.map(identityIn)).toEqual(answers.map(() => identity));
    if (previewed['user_token'] !== undefined) expect(identity?.[0]).toBe(previewed['user_token']);
    await form.send({ body: 'Still.' });
    expect(await commentsOf(upstream)).toHaveLength(2);
  });

  it('with the same words on another thread is another one', async () => {
    const upstream = await bed.createUpstream();
    const form = await replyForm(upstream);
    await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Slower' });
    const answers = [await form.send(), await form.send({ number: '2' })];
    expect(new Set(answers.map(linkIn)).size).toBe(2);
  });
});

describe('before it is posted, a text', () => {
  const TELLING = 'By Zoe Quist, in /home/zquist/work; write to zq@quist.example';

  it('is searched as a push is: for the own name, home folders and addresses; and is posted as it is', async () => {
    const upstream = await bed.createUpstream();
    const form = await issueForm(upstream);
    const own = { own_name: 'Zoe Quist <zq@quist.example>', body: TELLING };
    const preview = await form.send({ ...own, title: 'zoe-quist was here', step: 'preview' });
    for (const words of [
      'Your name or address would become public:',
      '  title: zoe-quist was here',
      '  body: By Zoe Quist, in /home/zquist/work',
      'Paths of home folders become public. Check whether they name you:',
      'The service searched for zq@quist.example and Zoe Quist.',
    ]) {
      expect(preview.html).toContain(words);
    }
    expect(preview.problem).toContain('An e-mail address becomes public: zq@quist.example.');
    expect(preview.fields['own_name']).toContain('Zoe Quist');
    const posted = await form.send({ ...preview.fields, step: 'post' });
    expect(posted.heading).toBe('Your issue is open');
    const issue = await bed.host.call('GET', `/repos/${upstream.fullName}/issues/1`);
    expect(issue).toMatchObject({ body: expect.stringContaining(TELLING) as string });
  });

  it('is told of the credentials in it', async () => {
    const form = await replyForm(await bed.createUpstream());
    const body = `My token is ${PROVEN['of GitHub']?.()}, and ${LIKELY['in an address']?.()}`;
    const { html } = await form.send({ body, step: 'preview' });
    for (const words of [
      'A credential would become public:',
      'body: a token of GitHub',
      'a password in an address',
    ])
      expect(html).toContain(words);
  });

  it('is told of characters by which a site that has filled it in could know its visitor again', async () => {
    const form = await issueForm(await bed.createUpstream());
    const typed = { title: 'Slow\u200b', body: 'It is\u2063 slow 👩‍👩‍👧.', step: 'preview' };
    const { html } = await form.send(typed);
    expect(html).toContain('It has characters that nobody sees: [U+200B], [U+2063].');
    expect((await form.send({ ...typed, title: 'Slow', body: 'It is slow.' })).html).not.toContain(
      'nobody sees',
    );
  });

  it('is told of without a name, too', async () => {
    const upstream = await bed.createUpstream();
    const form = await replyForm(upstream);
    const preview = await form.send({ body: TELLING, step: 'preview' });
    expect(preview.html).toContain('You gave no name, so nothing was searched for. Check the text yourself.');
    expect(preview.html).toContain('  body: /home/zquist');
    expect(preview.problem).toContain('zq@quist.example');
    const edited = await form.send({ ...preview.fields, step: 'edit' });
    expect(typedIn(edited.html, 'body')).toBe(TELLING);
  });

  it.each(['\u0000', '山'.repeat(300)])('is shown whatever the name is: %j', async (own_name) => {
    const upstream = await bed.createUpstream();
    const form = await issueForm(upstream);
    const preview = await form.send({ own_name, body: TELLING, step: 'preview' });
    expect([preview.status, preview.heading]).toEqual([200, 'Preview of the issue']);
  });

  it('sent as JSON is neither refused nor altered', async () => {
    const upstream = await bed.createUpstream();
    const response = await fetch(`${bed.service.url}/v1/gh/${upstream.fullName}/issues/anonymous`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ title: 'Zoe Quist', body: TELLING, own_name: 'Zoe Quist' }),
    });
    expect(response.status).toBe(200);
    const issue = await bed.host.call('GET', `/repos/${upstream.fullName}/issues/1`);
    expect(issue).toMatchObject({
      title: 'Zoe Quist',
      body: expect.stringContaining(`${TELLING}\n\n---`) as string,
    });
  });
});

/** As JSON under a type. */
const sendAs = (path: string, type: string, origin: string | null, { service } = bed) =>
  fetch(service.url + path, {
    method: 'POST',
    headers: { 'Content-Type': type, ...(origin !== null && { Origin: origin }) },
    body: JSON.stringify({ title: 'T', body: 'Thanks!' }),
  });

describe('a page of another site', () => {
  it('posts for its readers only what their browsers ask for leave to send', async () => {
    const upstream = await bed.createUpstream();
    await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Slow' });
    expect((await sendAs(APPEAL, 'text/plain', 'https://evil.test')).status).toBe(403);
    const paths = ['issues/anonymous', 'issues/1/comments/anonymous', 'pulls/1/comments/anonymous'];
    // The third one is too many for pages of other sites.
    const answers = [200, 200, 429];
    for (const path of paths.map((end) => `/v1/gh/${upstream.fullName}/${end}`)) {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'text/plain; application/json',
      ]) {
        const refused = await sendAs(path, type, 'https://evil.test');
        expect([refused.status, await refused.json()]).toEqual([
          403,
          { error: 'a page of another site must send this as application/json' },
        ]);
      }
      const posted = await sendAs(path, 'application/json', 'https://front-end.test');
      expect(posted.status).toBe(answers.shift());
      expect((await sendAs(path, 'application/x-www-form-urlencoded', null)).status, 'curl -d').toBe(200);
    }
  });
});

describe('ALLOWED_ORIGINS', () => {
  const limited = useOwnTestBed({ env: { ALLOWED_ORIGINS: 'https://front-end.test' } });

  it('names the sites whose pages may post', async () => {
    const upstream = await limited.createUpstream();
    const send = async (path: string, type: string, origin: string | null) => {
      const response = await sendAs(path, type, origin, limited);
      const answer: { error?: string } = await response.json();
      return [response.status, answer.error];
    };
    const json = 'application/json';
    const issues = `/v1/gh/${upstream.fullName}/issues/anonymous`;
    for (const path of [issues, `/v1/gh/${upstream.fullName}/issues/1/comments/anonymous`, APPEAL]) {
      for (const origin of ['https://evil.test', 'https://front-end.test.evil.test', 'null']) {
        expect(await send(path, json, origin)).toEqual([403, 'a page of this site may not post here']);
      }
    }
    expect((await send(issues, json, 'https://front-end.test'))[0]).toBe(200);
    expect((await send(issues, 'text/plain', 'https://front-end.test'))[0]).toBe(403);
    expect((await send(issues, json, limited.service.url))[0]).toBe(200);
    expect((await send(issues, json, null))[0], 'a program').toBe(200);
  });
});

describe('every field of a report and of an appeal', () => {
  const ODD = [
    undefined,
    null,
    1,
    true,
    [],
    ['a'],
    {},
    '',
    ' ',
    '\0',
    '\ud800',
    '\u202eabc',
    'x'.repeat(9_000),
  ];

  it.each([
    ['report', { hash: '01234567' }],
    ['appeal', { thread: 'octo/hello#1', user_token: 'U', text: 'Please' }],
  ])('of %s is refused in words if it is of another type, missing or odd', async (end, whole) => {
    for (const name of Object.keys(whole)) {
      for (const value of ODD) {
        const response = await fetch(`${bed.service.url}/v1/moderation/${end}`, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            Accept: 'application/json',
            ...bed.person().headers,
          },
          body: JSON.stringify({ ...whole, [name]: value }),
        });
        const answer: { error?: string } = await response.json();
        // Any text may be a token, if of nobody who was reported.
        const status = name === 'user_token' && value === '\u202eabc' ? 409 : 400;
        expect([response.status, answer.error], `${name}: ${JSON.stringify(value)}`).toEqual([
          status,
          expect.stringMatching(/^\w+ /),
        ]);
      }
    }
  });
});
