/** The open issues on the page of a repository: what they cost, and when they cannot be read. */
import { expect, it } from 'vitest';
import { FormClient } from '../support/form-client.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

const page = (path: string) => new FormClient(bed.service.url, bed.person()).get(path);

/** How often the host was asked for its list of issues. */
const lists = () => bed.host.requests.filter(({ path }) => /\/issues\?/.test(path)).length;

const issuesIn = (html: string): string[] => {
  const card = /id="issues"[^]*?<\/section>/.exec(html)?.[0] ?? '';
  return [...card.matchAll(/reply\?to=\d+">([^]*?)<\/a>/g)].map(([, text = '']) => text);
};

it('are listed with state and date, the newest first, for one call, and lead to a reply', async () => {
  const upstream = await bed.createUpstream();
  const { maintainer } = bed.sandbox;
  for (const title of ['It is slow', '<b>\u202Egnorw</b>', 'עברית'])
    maintainer.openIssue(upstream.owner, upstream.name, title, 'Very.');
  const path = `/v1/gh/${upstream.fullName}`;
  const before = lists();
  const { html } = await page(path);
  expect(issuesIn(html)).toEqual([
    '#3 <bdi>עברית</bdi>',
    '#2 <bdi>&lt;b&gt;[U+202E]gnorw&lt;/b&gt;</bdi>',
    '#1 <bdi>It is slow</bdi>',
  ]);
  expect(html).toMatch(/href="\/v1\/gh\/[^"]*\/reply\?to=1"/);
  expect(html).toMatch(/<time datetime="\d{4}-\d\d-\d\d">/);
  expect(issuesIn((await page(path)).html)).toHaveLength(3);
  expect(lists() - before).toBe(1);
});

it('are not read of a repository that is missing, and not shown where nobody may reply', async () => {
  const before = lists();
  expect((await page('/v1/gh/octo/nowhere')).status).toBe(404);
  const upstream = await bed.createUpstream();
  await upstream.grow({ files: { '.gitveil.yml': 'accept: [pull_requests]\n' } });
  const { html } = await page(`/v1/gh/${upstream.fullName}`);
  expect(html).not.toContain('Its open issues');
  expect(html).toContain('git push ');
  const closed = await bed.createUpstream();
  await closed.grow({ files: { '.gitveil.yml': 'accept: [issues]\n' } });
  const other = await page(`/v1/gh/${closed.fullName}`);
  expect(other.html).not.toMatch(/git (?:push|clone) /);
  expect(other.html).toContain('>Report an issue</a>');
  expect(other.html).not.toContain('>Change a file</a>');
  // Those of the last alone, which takes issues.
  expect(lists() - before).toBe(1);
});

it('of a host that does not answer are said to be unreadable, and the page leads on', async () => {
  const upstream = await bed.createUpstream();
  bed.sandbox.faults.inject({ path: /\/issues$/, answer: { status: 502 } });
  const { status, html, headers } = await page(`/v1/gh/${upstream.fullName}`);
  expect([status, headers.get('Cache-Control')]).toEqual([200, 'no-store']);
  expect(html).toMatch(/Its open issues[^]*The list cannot be read at the moment\./);
  expect(html).toContain('>Report an issue</a>');
});

it('of ten thousand are twenty on the page', exhaustive, async () => {
  const upstream = await bed.createUpstream();
  for (let count = 0; count < 10_000; count++)
    bed.sandbox.maintainer.openIssue(upstream.owner, upstream.name, `Issue ${count}`, 'x'.repeat(1_000));
  const issues = issuesIn((await page(`/v1/gh/${upstream.fullName}`)).html);
  expect(issues).toHaveLength(20);
  expect(issues[0]).toBe('#10000 <bdi>Issue 9999</bdi>');
});
