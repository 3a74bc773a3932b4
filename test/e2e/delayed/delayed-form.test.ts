/** The form of a change, with a time at which it becomes public. */
import { describe, expect, it } from 'vitest';
import { FormClient } from '../support/form-client.ts';
import { nameIn, pageOf, published } from '../support/delayed.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

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

describe('a change', () => {
  it('waits when it is to become public within some hours, also if it is sent twice', async () => {
    const { upstream, shown, open } = await preview();
    expect(shown.html).toMatch(/<option value="0s">\s*now/);
    const answers = await Promise.all([open('3h'), open('3h')]);
    const later = await open('3h');
    expect(later.heading, later.problem).toBe('Your change waits');
    const [name = '', ...others] = [...answers, later].map(({ html }) => nameIn(html));
    expect(others).toEqual([name, name]);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(await pageOf(bed, name)).toMatch(/^200 Delayed\n/);
    await published(bed, name);
    const again = await open('3h');
    expect(again.html).toContain((await bed.host.onlyPull(upstream)).url);
  });

  it('is published at once when that is chosen', exhaustive, async () => {
    const { upstream, open } = await preview();
    expect((await open('0s')).heading).toBe('Your pull request is open');
    await bed.host.onlyPull(upstream);
  });

  it('with a time that is none is shown again', exhaustive, async () => {
    const { open } = await preview();
    const answer = await open('soon');
    expect(answer.problem).toMatch(/Delay must be a duration from 1m to 7d/);
  });
});
