/** Pushes that wait until the operator has seen them, with `REVIEW`. */
import { describe, expect, it } from 'vitest';
import { contribute } from '../support/contribution.ts';
import { postTo } from '../support/door.ts';
import { delayed, delayedAs, pageOf, pass, published, publishedAs } from '../support/delayed.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { Reviewer } from '../support/review.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: { ...OPERATOR, REVIEW: 'all' } });

it('a patch is refused, and the code host is not asked for its files', async () => {
  const { clone, upstream, person } = await contribute(bed);
  await clone.commit();
  const patch = await person.mustGit(clone.path, ['format-patch', '--stdout', 'origin/main']);
  const reads = () => bed.host.requestsFor(upstream, 'POST', /\/git-upload-pack$/).length;
  const before = reads();
  const answered = await postTo(bed, person, upstream, 'patch', patch, 'delay=0s');
  expect(answered).toMatchObject({
    status: 400,
    text: expect.stringContaining('Push it, or send a bundle.'),
  });
  expect(answered.text).toContain('reviews it before it is published');
  expect(reads()).toBe(before);
});

async function reviewer(): Promise<Reviewer> {
  const operator = new Reviewer(bed);
  await operator.open();
  return operator;
}

const isPublic = async (upstream: Pick<Upstream, 'fullName'>) => (await bed.host.pulls(upstream)).length > 0;

describe('a push that waits for the operator', () => {
  it(
    'is shown as it would be public, without a word of its author, and published once it is approved',
    exhaustive,
    async () => {
      const contribution = await contribute(bed);
      const { clone, upstream, person } = contribution;
      await upstream.grow({
        files: { 'docs/guide.md': 'one\ntwo\nthree\n', 'old.txt': 'gone\n', 'same.txt': 'as is\n' },
      });
      await clone.git('pull', '--quiet', 'origin', 'main');
      await clone.commit({
        files: {
          'docs/guide.md': 'one\n2 \u202eowt\nthree\n',
          'docs/new/page.md': 'fresh <b>\n',
          'old.txt': null,
          'picture.bin': new Uint8Array([0, 1, 2]),
        },
        message: 'Number the guide\n\nBecause <words> are long.\n',
      });
      const name = delayedAs(await clone.push('origin', 'HEAD:topic'));
      await pass(bed);
      expect(await isPublic(upstream)).toBe(false);
      expect(await pageOf(bed, name)).toContain('The operator of this service looks at it');

      const operator = await reviewer();
      const list = await operator.get();
      expect(list.html).toContain(upstream.fullName);
      expect(list.html).toContain('Number the guide');
      expect(list.html).toContain('Because &lt;words&gt; are long.');
      expect(list.html).toContain(`/admin/delayed/${name}`);
      const { html } = await operator.get(`/admin/delayed/${name}`);
      expect(html).toContain('Changed: <code>docs/guide.md</code>');
      expect(html).toContain('2 [U+202E]owt');
      expect(html).toContain('New: <code>docs/new/page.md</code>');
      expect(html).toContain('fresh &lt;b&gt;');
      expect(html).toContain('Removed: <code>old.txt</code>');
      expect(html).toContain('It is not text.');
      expect(html).not.toContain('same.txt');
      expect(html).toContain(bed.sandbox.botLogin);
      for (const page of [list.html, html]) {
        expect(page).not.toContain(person.word);
        expect(page).not.toContain(person.address);
      }
      const answer = await operator.decide('publish', name);
      expect(answer.html).toContain('1 push: published within minutes, or at the chosen time.');
      await expect.poll(async () => (await pass(bed), isPublic(upstream))).toBe(true);
      expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'Number the guide', state: 'open' });
      expect((await operator.get(`/admin/delayed/${name}`)).status).toBe(404);
    },
  );

  it('is discarded if one of two operators says so, whoever is faster', exhaustive, async () => {
    const { upstream, name } = await delayed(bed, {}, []);
    const [first, second] = [await reviewer(), await reviewer()];
    const seen = await first.seen(name);
    const late = '1 push: nothing was done.';
    await Promise.all([
      first.post({ decision: 'publish', 'push-0': seen }),
      second.post({ decision: 'discard', reason: 'spam', 'push-0': seen }),
    ]);
    expect((await first.post({ decision: 'publish', 'push-0': seen })).html).toContain(late);
    await pass(bed);
    expect(await pageOf(bed, name)).toMatch(/^200 Discarded\n/);
    expect(await isPublic(upstream)).toBe(false);
  });

  it('waits also as an update, which is shown with the pull request that it is for', exhaustive, async () => {
    const { upstream, clone, name } = await delayed(bed, {}, []);
    const operator = await reviewer();
    await operator.decide('publish', name);
    const { prHash } = publishedAs(await published(bed, name));
    const before = await bed.host.onlyPull(upstream);
    await clone.commit({ message: 'More\n' });
    const update = delayedAs(await clone.push('-o', `pr-hash=${prHash}`, 'origin', 'HEAD:topic'));
    const { html } = await operator.get(`/admin/delayed/${update}`);
    expect(html).toContain(prHash);
    expect(html).toContain('Title and description of the pull request stay as they are.');
    await operator.decide('publish', update);
    await expect
      .poll(async () => (await pass(bed), (await bed.host.onlyPull(upstream)).headSha))
      .not.toBe(before.headSha);
  });

  it('asks the code host for nothing new while it is looked at', async () => {
    const { clone, upstream, name } = await delayed(bed, {}, []);
    const objects = (await clone.git('rev-list', '--objects', 'HEAD', '--not', 'origin/main'))
      .split('\n')
      .map((line) => line.slice(0, 40))
      .filter(Boolean);
    const operator = await reviewer();
    await operator.get(`/admin/delayed/${name}`);
    expect(objects.length).toBeGreaterThan(1);
    const bodies = bed.sandbox.captured.map(({ path, body }) => `${path} ${body.toString('latin1')}`);
    expect(objects.filter((oid) => bodies.some((body) => body.includes(oid)))).toEqual([]);
    expect(await isPublic(upstream)).toBe(false);
  });

  it('is told to the operator once an hour, with a token that opens the page once', async () => {
    for (let push = 0; push < 2; push++) await delayed(bed, {}, []);
    const alerts = async () =>
      (await new Operator(bed).alerts()).filter(({ title }) => title === 'Pushes wait for you');
    await expect.poll(alerts).toHaveLength(1);
    const [alert] = await alerts();
    expect(alert?.click).toBe(`${bed.service.url}/admin/delayed`);
    const [button] = alert?.actions ?? [];
    expect(button?.action).toBe('view');
    const { pathname, search } = new URL(button?.url ?? '');
    const operator = new Reviewer(bed);
    const token = new URLSearchParams(search).get('token') ?? '';
    // A link is followed by machines, too.
    for (let time = 0; time < 3; time++) {
      const door = await operator.get(pathname + search);
      expect(door.fields).toEqual({ token });
      expect(door.headers.has('Set-Cookie')).toBe(false);
    }
    await operator.open({ token });
    expect((await operator.get()).html).toContain('first those that wait for you');
    expect(await new Reviewer(bed).open({ token })).toBe(401);
  });
});
