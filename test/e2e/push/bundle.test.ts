/** A bundle that is posted becomes what a push of the same commits would. */
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted } from '../support/contribution.ts';
import { postTo } from '../support/door.ts';
import { useTestBed } from '../support/test-bed.ts';

const bed = useTestBed();
const JSON_ANSWER = { Accept: 'application/json' };

/** Answers the bytes of a bundle. */
function bundleOf(
  { clone, person }: Pick<Contribution, 'clone' | 'person'>,
  ...args: string[]
): Promise<Buffer> {
  return person.mustGit(clone.path, ['bundle', 'create', '-', ...args]);
}

function post(
  { person, upstream }: Contribution,
  body: Uint8Array,
  ...more: [options?: string, headers?: object]
) {
  const [options, headers = {}] = more;
  return postTo(bed, person, upstream, 'bundle', body, options, headers as Record<string, string>);
}

it('opens a pull request, and tells what a push tells', async () => {
  const contribution = await contribute(bed);
  await contribution.clone.commit({ message: 'One\n' });
  await contribution.clone.commit({ message: 'Two\n\nText.\n' });
  const answered = await post(contribution, await bundleOf(contribution, 'origin/main..HEAD'));
  expect(answered.status, answered.text).toBe(200);
  const { pull, banner } = await expectAccepted(bed, contribution, answered.pushed);
  expect(pull).toMatchObject({ title: 'Two', body: 'Text.', base: 'main' });
  expect(banner.prKey).toMatch(/^[0-9a-f]{32}$/);
});

it('updates and withdraws it with the key in a header, and answers in JSON', async () => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit({ message: 'One\n' });
  const send = async (options: string, headers: object = {}) => {
    const bundle = options.startsWith('withdraw')
      ? Buffer.alloc(0)
      : await bundleOf(contribution, '--branches', '--not', '--remotes');
    const { status, text } = await post(contribution, bundle, options, { ...JSON_ANSWER, ...headers });
    return { ...(JSON.parse(text) as Record<string, string | number>), status } as Record<
      string,
      string | number
    >;
  };
  const first = await send('base=main');
  const pull = await bed.host.onlyPull(contribution.upstream);
  expect(first).toMatchObject({ status: 200, state: 'opened', pr_url: pull.url, findings: [] });
  expect(first['page']).toContain(`/v1/pr/${first['pr_hash']}`);
  await clone.commit({ message: 'Two\n' });
  const key = { 'X-PR-Key': first['pr_key'] };
  const again = await send(`pr-hash=${first['pr_hash']}&title=A+new%20one`, key);
  expect(again).toMatchObject({ status: 200, state: 'updated', pr_hash: first['pr_hash'], pr_key: null });
  expect(await bed.host.onlyPull(contribution.upstream)).toMatchObject({ title: 'A new one', state: 'open' });
  expect(await send(`withdraw&pr-hash=${first['pr_hash']}`)).toMatchObject({ status: 400, state: 'refused' });
  expect(await send(`withdraw&pr-hash=${first['pr_hash']}`, key)).toMatchObject({
    status: 200,
    state: 'withdrawn',
  });
  expect(await bed.host.onlyPull(contribution.upstream)).toMatchObject({ state: 'closed' });
});

describe('a bundle', () => {
  it('with several refs has one of them taken, and the others named', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit();
    await clone.git('tag', 'v9');
    await clone.git('branch', 'topic');
    const bundle = await bundleOf(contribution, 'topic', 'v9', '--not', '--remotes');
    const answered = await post(contribution, bundle);
    expect(answered.text).toContain('Left out: refs/tags/v9 (tags are not accepted');
    await expectAccepted(bed, contribution, answered.pushed);
  });

  it('of a tag alone is refused', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    await contribution.clone.git('tag', 'v9');
    const answered = await post(contribution, await bundleOf(contribution, 'v9', '--not', '--remotes'));
    expect(answered).toMatchObject({ status: 400, text: expect.stringContaining('Left out: refs/tags/v9') });
    expect(await bed.host.pulls(contribution.upstream)).toEqual([]);
  });

  it('is previewed, and refused, as a push is', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream, person } = contribution;
    await clone.commit({ message: `By ${person.authorName}\n` });
    const bundle = await bundleOf(contribution, 'origin/main..HEAD');
    const preview = await post(contribution, bundle, 'preview&publish-names');
    expect(preview).toMatchObject({
      status: 200,
      text: expect.stringContaining('would open a pull request'),
    });
    const json = await post(contribution, bundle, 'preview&publish-names', JSON_ANSWER);
    expect(JSON.parse(json.text)).toMatchObject({
      state: 'previewed',
      findings: expect.arrayContaining([expect.objectContaining({ severity: 'warn', code: 'names' })]),
    });
    const refused = await post(contribution, bundle, '', JSON_ANSWER);
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text)).toMatchObject({
      state: 'refused',
      findings: [{ severity: 'refuse', code: 'names' }],
    });
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });
});

it('is told what to do by curl, and options behind those that it has', async () => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit();
  const send = async (options: string, ...args: string[]) =>
    (await post(contribution, await bundleOf(contribution, ...args), options)).text;
  const opened = await send('', 'origin/main..HEAD');
  const hash = /PR hash: {2}(\w+)/.exec(opened)?.[1] ?? '';
  await clone.git('branch', 'old', 'origin/main');
  const nothing = await send(`pr-hash=${hash}`, 'old', '--not', 'old~1');
  expect(nothing).toContain(`curl -X POST -H 'X-PR-Key: <key>' `);
  expect(nothing).not.toContain('git push');
  await clone.git('checkout', '--quiet', '-b', 'topic', 'origin/main');
  await clone.commit();
  const two = await send('', 'main', 'topic', '--not', '--remotes');
  expect(two).toMatch(/^ {2}git bundle create - main --not --remotes \| curl --data-binary @- \S+\/bundle$/m);
  const faulty = await send('base=main&ai=no', 'origin/main..HEAD');
  expect(faulty).not.toContain('?ai');
});

it('with warnings is answered with them, and published with yes', async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit({ files: { '.DS_Store': 'x\n' } });
  const bundle = await bundleOf(contribution, 'origin/main..HEAD');
  const asked = await post(contribution, bundle);
  expect(asked.status, asked.text).toBe(409);
  const command = /^curl --data-binary '@<your file>' '(.+)'$/m.exec(asked.text)?.[1] ?? '';
  expect(new URL(command).search).toBe('?yes=leftovers');
  const { text } = await post(contribution, bundle, '', JSON_ANSWER);
  expect(JSON.parse(text)).toMatchObject({
    state: 'unconfirmed',
    findings: expect.arrayContaining([expect.objectContaining({ severity: 'warn', code: 'leftovers' })]),
  });
  expect(await bed.host.pulls(upstream)).toEqual([]);
  const answered = await post(contribution, bundle, 'yes=leftovers', JSON_ANSWER);
  expect(JSON.parse(answered.text)).toMatchObject({
    state: 'opened',
    findings: [{ severity: 'warn', code: 'leftovers' }],
  });
  expect(await bed.host.pulls(upstream)).toHaveLength(1);
});

it('sent again with its key is answered with the same pull request and its key', async () => {
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  const bundle = await bundleOf(contribution, 'origin/main..HEAD');
  const headers = { ...JSON_ANSWER, 'Idempotency-Key': 'a-key-that-is-random' };
  const send = async () => JSON.parse((await post(contribution, bundle, '', headers)).text) as object;
  const { lines: _, ...first } = (await send()) as { lines: unknown };
  expect(await send()).toMatchObject(first);
  expect(first).toMatchObject({ state: 'opened', pr_key: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(await bed.host.pulls(contribution.upstream)).toHaveLength(1);
  const short = await post(contribution, bundle, '', { 'Idempotency-Key': 'short' });
  expect(short).toMatchObject({ status: 400, text: expect.stringContaining('16 to 255 visible ASCII') });
});

it('with a key that somebody has guessed is not answered with that of the pull request', async () => {
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  const bundle = await bundleOf(contribution, 'origin/main..HEAD');
  const headers = { ...JSON_ANSWER, 'Idempotency-Key': 'a-key-that-is-guessed' };
  const first = await post(contribution, bundle, '', headers);
  const { pr_key: key } = JSON.parse(first.text) as { pr_key: string };
  const other = { ...contribution, person: bed.person() };
  const header = bundle.subarray(0, bundle.indexOf('PACK'));
  await other.clone.git('commit', '--allow-empty', '-m', 'Other');
  const foreign = await bundleOf(contribution, 'HEAD~1..HEAD');
  const forged = Buffer.concat([header, foreign.subarray(foreign.indexOf('PACK'))]);
  for (const answered of [
    await post(other, bundle, '', headers),
    await post(contribution, forged, '', headers),
  ]) {
    expect(answered.status, answered.text).not.toBe(200);
    expect(answered.text).not.toContain(key);
  }
});

describe('nobody can', () => {
  it.each([
    ['have a page of another site send one', '', { 'Sec-Fetch-Site': 'cross-site' }, 403, 'another site'],
    ['have one of a sibling site send one', '', { 'Sec-Fetch-Site': 'same-site' }, 403, 'another site'],
    ['give a foreign origin', '', { Origin: 'https://elsewhere.example' }, 403, 'another site'],
    ['put the key into the address', 'pr-key=0123', {}, 400, 'X-PR-Key'],
    ['send options that are not UTF-8', 'title=%ff', {}, 400, 'not UTF-8'],
    ['misspell an option', 'prevew', {}, 400, 'did you mean preview'],
    ['withdraw without the key', 'withdraw&pr-hash=0123456789ab', {}, 400, 'add the header X-PR-Key: <key>'],
  ])('%s', async (_, options, headers, status, words) => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    const answered = await post(
      contribution,
      await bundleOf(contribution, 'origin/main..HEAD'),
      options,
      headers,
    );
    expect(answered).toMatchObject({ status, text: expect.stringContaining(words) });
    expect(await bed.host.pulls(contribution.upstream)).toEqual([]);
  });
});
