/** The form of a change, with a time at which it becomes public. */
import { describe, expect, it } from 'vitest';
import { FormClient } from './support/form-client.ts';
import { pageOf, pass } from './support/held.ts';
import { useTestBed } from './support/test-bed.ts';

const bed = useTestBed();

async function preview() {
  const upstream = await bed.createUpstream();
  await upstream.grow({ files: { 'a.txt': 'one\n' } });
  const client = new FormClient(bed.service.url, bed.person());
  const path = `/v1/gh/${upstream.fullName}/change`;
  const form = await client.get(`${path}?path=a.txt`);
  const typed = { ...form.fields, text: 'two\n', title: 'Say it better', description: '', step: 'preview' };
  const shown = await client.post(path, typed);
  expect(shown.heading, shown.problem).toBe('What becomes public');
  const open = (delay: string) => client.post(path, { ...shown.fields, step: 'open', delay });
  return { upstream, shown, open };
}

const hashIn = (html: string): string => /id="hash" value="([0-9a-f]{12})"/.exec(html)?.[1] ?? '';

describe('a change', () => {
  it('is held when it is to become public within some hours, also if it is sent twice', async () => {
    const { upstream, shown, open } = await preview();
    expect(shown.html).toMatch(/<option value="0s">\s*now/);
    const answers = await Promise.all([open('3h'), open('3h')]);
    const later = await open('3h');
    const [hash, ...others] = [...answers, later].map(({ html }) => hashIn(html));
    expect(later.heading, later.problem).toBe('Your change is held');
    expect(others).toEqual([hash, hash]);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(await pageOf(bed, hash as string)).toMatch(/^200 Held: /);
    await expect.poll(async () => (await pass(bed), (await bed.host.pulls(upstream)).length)).toBe(1);
    await expect.poll(() => pageOf(bed, hash as string)).toContain('/pull/');
    expect((await open('3h')).heading).toBe('Your pull request is open');
    await bed.host.onlyPull(upstream);
  });

  it('is published at once when that is chosen', async () => {
    const { upstream, open } = await preview();
    expect((await open('0s')).heading).toBe('Your pull request is open');
    await bed.host.onlyPull(upstream);
  });

  it('with a time that is none is shown again', async () => {
    const { open } = await preview();
    const answer = await open('soon');
    expect(answer.problem).toMatch(/Delay must be a duration from 1m to 7d/);
  });
});
