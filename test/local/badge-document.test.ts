/**
 * The badges of docs/maintainers.md, as somebody copies them: the service serves each, and the page
 * that it leads to.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useTestBed } from '../e2e/support/test-bed.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bed = useTestBed();

const MAINTAINERS = readFileSync(join(import.meta.dirname, '../../docs/maintainers.md'), 'utf8');
const [, SECTION = ''] = /^## Badges\n(.*)/ms.exec(MAINTAINERS) ?? [];
/** One line in each. */
const BLOCKS = Array.from(SECTION.matchAll(/^```markdown\n(.*)\n```$/gm), ([, line = '']) => line);

it('there is a block to copy for each badge', () => {
  expect(BLOCKS.map((line) => /^\[!\[(.+?)\]/.exec(line)?.[1])).toEqual([
    'Anonymous PRs',
    'anonymous-friendly',
    'deployed',
    'Report without an account',
  ]);
});

it.each(BLOCKS)('%s shows a badge, and leads to a page', exhaustive, async (line) => {
  const { owner, name } = await bed.createUpstream();
  const filled = line
    .replaceAll('<service>', bed.service.url)
    .replaceAll('<owner>', owner)
    .replaceAll('<repo>', name);
  const [, badge = '', page = ''] = /^\[!\[.+?\]\((\S+)\)\]\((\S+)\)$/.exec(filled) ?? [];
  const image = await fetch(badge);
  expect([image.status, image.headers.get('Content-Type')]).toEqual([200, 'image/svg+xml']);
  expect(await image.text()).toMatch(/^<svg /);
  const shown = await fetch(page, { headers: { Accept: 'text/html' } });
  expect([shown.status, shown.headers.get('Content-Type')]).toEqual([
    200,
    expect.stringMatching(/^text\/html/),
  ]);
});

it('another host is named by its key in a badge', async () => {
  expect(SECTION).toContain('`/badge/<host>/<owner>/<repo>`');
  expect(SECTION).toContain('`?host=<host>&repo=<owner>/<repo>`');
  for (const path of ['/badge/gh/octo/hello', '/badges/anonymous-friendly.svg?host=gh&repo=octo/hello']) {
    expect((await fetch(bed.service.url + path)).headers.get('Content-Type')).toBe('image/svg+xml');
  }
});
