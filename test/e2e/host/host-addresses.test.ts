/**
 * Addresses of the code host with only its name replaced, links that fill in an issue, and a
 * repository's templates.
 */
import { describe, expect, it } from 'vitest';
import { type FormAnswer, FormClient, typedIn } from '../support/form-client.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();
const clientOf = (): FormClient => new FormClient(bed.service.url, bed.person());
/** The texts in the fields of the form. */
const shownIn = ({ html }: FormAnswer) =>
  Object.fromEntries(['title', 'body', 'labels'].map((name) => [name, typedIn(html, name)]));
const TEMPLATES = '.github/ISSUE_TEMPLATE';

describe('an address of the host', exhaustive, () => {
  it.each([
    ['/issues', ''],
    ['/issues?q=is%3Aopen', ''],
    ['/pulls', ''],
    ['/issues/7', '/reply?to=7'],
    ['/pull/2', '/reply?to=2'],
    ['/pull/2/files', '/reply?to=2'],
    ['/pulls/2', '/reply?to=2'],
    ['/issues/new', '/new-issue'],
    ['/issues/new/choose', '/new-issue'],
    [
      '/issues/new?title=It+fails&body=a%0Ab&labels=bug%2Cui',
      '/new-issue?title=It+fails&body=a%0Ab&labels=bug%2Cui',
    ],
    ['/blob/main/docs/a%20b.md', '/change?path=docs%2Fa+b.md'],
    ['/edit/main/README.md', '/change?path=README.md'],
    ['/tree/main/docs', '/change?path=docs'],
    ['/src/branch/main/docs/x.md', '/change?path=docs%2Fx.md'],
    ['/blob/main/%22%3E%3Cscript%3E', '/change?path=%22%3E%3Cscript%3E'],
  ])('%s leads to %s', async (path, form) => {
    const remote = '/v1/gh/octo/hello';
    const answer = await fetch(`${bed.service.url}${remote}${path}`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('Location')]).toEqual([302, remote + form]);
  });

  it.each([
    ['/v1/gh/octo/hello/issues/x', 404],
    ['/v1/gh/oc%00to/hello/issues', 400],
    ['/v1/zz/octo/hello/pulls', 404],
    ['/v1/gh/octo/hello/pull/0x2', 404],
    ['/v1/gh/octo/hello/blob/main', 404],
    ['/v1/gh/oc%00to/hello/issues/7', 400],
    ['/v1/zz/octo/hello/issues/7', 404],
  ])('%s leads nowhere', async (path, status) => {
    expect((await fetch(`${bed.service.url}${path}`, { redirect: 'manual' })).status).toBe(status);
  });
});

describe('a link that fills in an issue', exhaustive, () => {
  it('opens it with title, text and labels', async () => {
    const upstream = await bed.createUpstream();
    const client = clientOf();
    const form = await client.get(
      `/v1/gh/${upstream.fullName}/new-issue?title=It+fails&body=a%0D%0Ab&labels=bug,+none,,`,
    );
    expect(shownIn(form)).toEqual({ title: 'It fails', body: 'a\nb', labels: 'bug, none,,' });
    const preview = await client.post(`/v1/gh/${upstream.fullName}/new-issue`, {
      ...form.fields,
      ...shownIn(form),
      step: 'preview',
    });
    expect(preview.html).toContain('lets the bot set them: bug, none');
    const done = await client.post(`/v1/gh/${upstream.fullName}/new-issue`, {
      ...preview.fields,
      step: 'post',
    });
    expect(done.heading).toBe('Your issue is open');
    expect(await bed.host.call('GET', `/repos/${upstream.fullName}/issues/1`)).toMatchObject({
      title: 'It fails',
    });
  });

  it('shows whatever is in it as text', async () => {
    const upstream = await bed.createUpstream();
    const hostile = '"></textarea><script>alert(1)</script>\u202e\0';
    const query = new URLSearchParams({ title: hostile, body: hostile, labels: hostile, template: hostile });
    const form = await clientOf().get(`/v1/gh/${upstream.fullName}/new-issue?${query.toString()}`);
    expect(form.html).not.toContain('<script>alert');
    expect(form.problem).toContain('This template cannot be used here');
  });
});

describe('a template', exhaustive, () => {
  it('of the repository is offered, and fills in the form', async () => {
    const upstream = await bed.createUpstream();
    const bug = '---\nname: Bug\ntitle: "[Bug] "\nlabels: [bug, ui]\n---\n\n## Steps\n\n1.\n';
    await upstream.grow({
      files: {
        [`${TEMPLATES}/bug_report.md`]: bug.replaceAll('\n', '\r\n'),
        [`${TEMPLATES}/plain.md`]: '# Only text\n',
        [`${TEMPLATES}/form.yml`]: 'name: x\n',
        [`${TEMPLATES}/deep/x.md`]: 'x',
      },
    });
    const client = clientOf();
    const path = `/v1/gh/${upstream.fullName}/new-issue`;
    const { html } = await client.get(path);
    // The branch, its commit, all folders, and the templates. The policy: four of its own.
    expect(bed.host.requestsFor(upstream, 'POST', /git-upload-pack$/)).toHaveLength(4 + 4);
    const links = [...html.matchAll(/<a href="[^"]*\?template=([^"]*)"\s*>([^<]*)</g)].map(
      ([, ...link]) => link,
    );
    expect(links).toEqual([
      ['bug_report.md', 'Bug'],
      ['plain.md', 'plain'],
    ]);
    const filled = await client.get(`${path}?template=bug_report.md`);
    expect(shownIn(filled)).toEqual({ title: '[Bug] ', labels: 'bug, ui', body: '## Steps\n\n1.\n' });
    expect(shownIn(await client.get(`${path}?template=plain.md&title=Mine`))).toMatchObject({
      title: 'Mine',
      body: '# Only text\n',
    });
    for (const other of ['form.yml', 'deep/x.md', '../../README.md', 'none.md']) {
      const without = await client.get(`${path}?template=${encodeURIComponent(other)}`);
      expect([without.problem.slice(0, 40), shownIn(without)['body']]).toEqual([
        'This template cannot be used here: there',
        '',
      ]);
    }
    // It is remembered, as `.gitveil.yml` is; and of the account's calls it costs none.
    const before = bed.host.requests.length;
    await client.get(path);
    await client.get(`${path}?template=bug_report.md`);
    expect(bed.host.requests.slice(before)).toEqual([]);
  });

  it('that is too large, no text, or whose header is not, hides no other', async () => {
    const upstream = await bed.createUpstream();
    const aliases = `a: &a [x,x]\nb: &b [*a,*a]\ntitle: [*b,*b]`;
    await upstream.grow({
      files: {
        [`${TEMPLATES}/large.md`]: 'x'.repeat(1024 * 1024),
        [`${TEMPLATES}/odd.md`]: `---\ntitle: {a: 1}\nlabels: 7\n---\nOdd`,
        [`${TEMPLATES}/aliases.md`]: `---\n${aliases}\n---\nAliases`,
        [`${TEMPLATES}/open.md`]: `---\ntitle: x\n`,
      },
    });
    const client = clientOf();
    const fields = async (name: string) =>
      shownIn(await client.get(`/v1/gh/${upstream.fullName}/new-issue?template=${name}`));
    expect(await fields('large.md')).toMatchObject({ title: '', body: '' });
    expect(await fields('odd.md')).toMatchObject({ title: '', labels: '', body: 'Odd' });
    expect(await fields('aliases.md')).toMatchObject({ title: '', body: 'Aliases' });
    expect(await fields('open.md')).toMatchObject({ title: '', body: '---\ntitle: x\n' });
  });
});
