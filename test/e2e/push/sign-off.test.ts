/**
 * `-o sign-off`: commits that projects with a Developer Certificate of Origin take, from a
 * pseudonym.
 */
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectRefused } from '../support/contribution.ts';
import { dcoProblems } from '../support/dco-app.ts';
import { FormClient, savedIn, typedIn } from '../support/form-client.ts';
import { type CommitParts, readHistory } from '../support/objects.ts';
import type { GitRun } from '../support/person.ts';
import { bannerOf, remoteLines, withoutSecrets } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();
const LINE = 'Signed-off-by: gitveil-bot <anonymous@gitveil.invalid>';
const BOB = 'Signed-off-by: Bob Example <bob@example.org>';

/** Signs off as `git commit --signoff` does: with the committer. */
const ownLine = ({ person }: Contribution) =>
  `Signed-off-by: ${person.committerName} <${person.committerEmail}>`;

/** The commits of the pull request as they reached the host. */
async function sent({ upstream }: Contribution, pushed: GitRun): Promise<CommitParts[]> {
  expect(pushed.code, pushed.stderr).toBe(0);
  return readHistory(bed.host.forkPath(upstream) as string, '^main', bannerOf(pushed).branch);
}

const messagesOf = (commits: readonly CommitParts[]) => commits.map(({ message }) => message.toString());

describe('-o sign-off', () => {
  it('ends every commit with the sign-off of its author, which the DCO app passes', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit({ message: 'One\n' });
    await clone.commit({ message: 'Two\n\nWhy.\n\nReviewed-by: Bob Example <bob@example.org>\n' });
    await clone.commit({ message: `Three\n\n${BOB}\n`, args: ['--signoff'] });
    await clone.git('switch', '--quiet', '-c', 'side', 'HEAD~2');
    await clone.commit({ message: `Four\r\n\r\nWith CRLF.\r\n` });
    await clone.git('switch', '--quiet', '-');
    await clone.git('merge', '--quiet', '--no-ff', '-m', 'Bring both together', 'side');
    await clone.commit({ message: new Uint8Array(Buffer.from('Five, without a line feed')) });
    await clone.commit({ message: `Six\n\nWhy.\n\n${LINE}\n` });
    const pushed = await clone.push('-o', 'sign-off', 'origin', 'HEAD:topic');
    const commits = await sent(contribution, pushed);
    expect(dcoProblems(commits)).toEqual([]);
    expect(messagesOf(commits).toSorted()).toEqual([
      `Bring both together\n\n${LINE}\n`,
      `Five, without a line feed\n\n${LINE}\n`,
      `Four\r\n\r\nWith CRLF.\r\n\n${LINE}\n`,
      `One\n\n${LINE}\n`,
      `Six\n\nWhy.\n\n${LINE}\n`,
      `Three\n\n${BOB}\n${LINE}\n`,
      `Two\n\nWhy.\n\nReviewed-by: Bob Example <bob@example.org>\n${LINE}\n`,
    ]);
    const told = remoteLines(pushed);
    const about = told.filter((line) => line.includes('Developer Certificate of Origin'));
    expect(about).toEqual([
      'This push signs off every commit as gitveil-bot <anonymous@gitveil.invalid> (Developer Certificate of Origin 1.1).',
    ]);
    expect(told.join('\n')).toContain('They name:\n  Reviewed-by: Bob');
    expect(told.join('\n')).not.toContain(`  ${LINE}`);
    expect(bannerOf(pushed).command).toMatch(/^git push -o pr-hash=\w+ -o sign-off /);
  });

  it('is held by the update that the banner prints, and again in a retry', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit({ message: 'One\n', args: ['--signoff'] });
    const first = await clone.push('-o', 'sign-off', 'origin', 'HEAD:topic');
    const [one] = await sent(contribution, first);
    await clone.commit({ message: 'Two\n', args: ['--signoff'] });
    const [, ...words] = bannerOf(first).command.split(' ');
    const again = await clone.push(...words.slice(1));
    const commits = await sent(contribution, again);
    expect(dcoProblems(commits)).toEqual([]);
    expect(commits.map(({ oid }) => oid)[0]).toBe(one?.oid);
    const repeated = await clone.push('--force', ...words.slice(1));
    expect((await sent(contribution, repeated)).map(({ oid }) => oid)).toEqual(commits.map(({ oid }) => oid));
  });

  it('is named where the same commits are open already', exhaustive, async () => {
    const { clone } = await contribute(bed);
    await clone.commit({ message: 'One\n' });
    const push = (branch: string) => clone.push('-o', 'sign-off', 'origin', `HEAD:${branch}`);
    const { prHash } = bannerOf(await push('one'));
    await expect.poll(async () => (await fetch(`${bed.service.url}/v1/pr/${prHash}`)).status).toBe(200);
    const update = withoutSecrets(await push('two'))[3];
    expect(update).toContain(`git push -o pr-hash=${prHash} -o sign-off ${bed.service.url}`);
  });

  it('signs the one commit of a squashed push, and what its options say', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit({ message: 'One\n', args: ['--signoff'] });
    await clone.commit({ message: `Two\n\nWhy.\n\n${BOB}\n`, args: ['--signoff'] });
    const pushed = await clone.push('-o', 'squash', '-o', 'sign-off', 'origin', 'HEAD:topic');
    const commits = await sent(contribution, pushed);
    expect(messagesOf(commits)).toEqual([`Two\n\nWhy.\n\n${BOB}\n${LINE}\n`]);
    expect(dcoProblems(commits)).toEqual([]);
    const { prHash, prKey } = bannerOf(pushed);
    const options = ['-o', 'squash', '-o', 'sign-off', '-o', `pr-hash=${prHash}`, '-o', `pr-key=${prKey}`];
    const texts = ['-o', 'title=Both', '-o', 'description=Said otherwise.'];
    const retold = await clone.push(...options, ...texts, 'origin', 'HEAD:topic');
    expect(messagesOf(await sent(contribution, retold))).toEqual([`Both\n\nSaid otherwise.\n\n${LINE}\n`]);
    expect((await bed.host.onlyPull(upstream)).title).toBe('Both');
  });

  it('is shown by a preview', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit({ message: 'One\n', args: ['--signoff'] });
    const pushed = await clone.push('-o', 'preview', '-o', 'sign-off', 'origin', 'HEAD:topic');
    const lines = remoteLines(pushed);
    expect(lines.at(-1)).toBe('preview: nothing was published');
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(lines.filter((line) => line.includes('signs off every commit'))).toHaveLength(1);
    expect(lines).toContain(`    ${LINE}`);
    expect(lines.join('\n')).not.toContain('would be REFUSED');
  });
});

describe('the search for names', () => {
  it('still refuses what stands elsewhere, also beside another name in a sign-off', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream, person } = contribution;
    const mixed = `Signed-off-by: Bob Example for ${person.committerName} <bob@example.org>`;
    for (const text of [mixed, `Helped-by: ${person.authorName}`, `It was ${person.authorEmail}.`]) {
      await clone.commit({ message: `Fix it\n\n${text}\n`, args: ['--signoff'] });
      const pushed = await clone.push('-o', 'sign-off', 'origin', 'HEAD:topic');
      const lines = await expectRefused(bed, upstream, pushed, 'your name would become public');
      expect(lines).toContain(`  message of "Fix it": ${text}`);
      expect(lines.join('\n')).not.toContain('add: -o sign-off');
      await clone.git('reset', '--quiet', '--hard', 'HEAD~');
    }
  });

  it('names -o sign-off where it refuses a sign-off of one’s own, and only there', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit({ message: 'Fix it\n', args: ['--signoff'] });
    const way = 'To sign off as the bot instead, which replaces your own sign-offs, add: -o sign-off';
    for (const options of [[], ['-o', 'preview']]) {
      const lines = remoteLines(await clone.push(...options, 'origin', 'HEAD:topic'));
      expect(await bed.host.pulls(upstream)).toEqual([]);
      expect(lines).toContain(`  message of "Fix it": ${ownLine(contribution)}`);
      expect(lines).toContain(way);
    }
    await clone.commit({ message: `As ${contribution.person.authorName} said\n` });
    await clone.git('reset', '--quiet', '--soft', 'HEAD~2');
    await clone.commit({ message: `As ${contribution.person.authorName} said\n` });
    const lines = await expectRefused(bed, upstream, await clone.push(), 'your name would become public');
    expect(lines).not.toContain(way);
  });
});

async function required(): Promise<Contribution> {
  const contribution = await contribute(bed);
  await contribution.upstream.grow({ files: { '.gitveil.yml': 'sign_off: required\n', 'a.txt': 'one\n' } });
  return contribution;
}

describe('a repository whose policy requires a sign-off', () => {
  it('takes no push without it, and names the option', async () => {
    const contribution = await required();
    const { clone, upstream } = contribution;
    await clone.commit();
    for (const options of [[], ['-o', 'preview']]) {
      const pushed = await clone.push(...options, 'origin', 'HEAD:topic');
      const lines = await expectRefused(bed, upstream, pushed, 'a sign-off is required');
      expect(lines).toContain(`${upstream.fullName} asks for one thing (.gitveil.yml):`);
      expect(lines.join('\n')).toMatch(/Push again with:\n {2}git push (?:-o preview )?-o sign-off /);
    }
    expect(bed.host.forkPath(upstream)).toBeNull();
    const commits = await sent(contribution, await clone.push('-o', 'sign-off', 'origin', 'HEAD:topic'));
    expect(dcoProblems(commits)).toEqual([]);
  });

  it('says so on the page of a pull request, whose command has the option', async () => {
    const { clone } = await required();
    await clone.commit();
    const { prHash } = bannerOf(await clone.push('-o', 'sign-off', 'origin', 'HEAD:topic'));
    const page = await fetch(`${bed.service.url}/v1/pr/${prHash}`);
    expect(await page.text()).toContain(`git push -o pr-hash=${prHash} -o sign-off http`);
  });

  it('says so on its page, whose command has the option', exhaustive, async () => {
    const { upstream } = await required();
    const page = await (await fetch(upstream.url, { headers: { Accept: 'text/html' } })).text();
    expect(page).toMatch(/<code>git push -o sign-off <span/);
    expect(page).toMatch(/Affirm the\s+<a href="https:\/\/developercertificate\.org\/">/);
    const closed = await bed.createUpstream();
    await closed.grow({ files: { '.gitveil.yml': 'sign_off: required\naccept: [issues]\n' } });
    const shut = await (await fetch(closed.url, { headers: { Accept: 'text/html' } })).text();
    expect(shut).not.toContain('-o sign-off');
    const other = await bed.createUpstream();
    const plain = await (await fetch(other.url, { headers: { Accept: 'text/html' } })).text();
    expect(plain).not.toContain('sign-off <span');
    expect(plain).toContain('git push <span');
  });

  it('takes a form whose box is ticked', exhaustive, async () => {
    const contribution = await required();
    const { upstream, person } = contribution;
    const client = new FormClient(bed.service.url, person);
    const path = `/v1/gh/${upstream.fullName}/change`;
    const form = await client.get(`${path}?path=a.txt`);
    expect(form.html).toMatch(/<input\s+type="checkbox"\s+id="sign_off"[^>]*\srequired\s*\/>/);
    const typed = { ...form.fields, text: 'two\n', title: 'Better', description: 'Why.' };
    const unsigned = await client.post(path, { ...typed, step: 'preview' });
    expect([unsigned.status, unsigned.problem]).toEqual([
      400,
      expect.stringMatching(/^A sign-off is required/),
    ]);
    const preview = await client.post(path, { ...typed, sign_off: 'yes', step: 'preview' });
    expect(preview.html).toContain('signs off every commit as');
    const done = await client.post(path, { ...preview.fields, step: 'open' });
    expect(done.heading, done.problem).toBe('Your pull request is open');
    const hash = savedIn(done.html, 'Hash');
    const history = () =>
      readHistory(bed.host.forkPath(upstream) as string, '^main', `anon-${hash}`).then(messagesOf);
    expect(await history()).toEqual([`Better\n\nWhy.\n\n${LINE}\n`]);
    // An update is affirmed anew.
    const again = await client.get(`${path}?path=a.txt&pr_hash=${hash}`);
    expect(typedIn(again.html, 'description')).toBe('Why.');
    expect(again.html).not.toMatch(/id="sign_off"[^>]*checked/);
    const changed = {
      ...again.fields,
      text: 'three\n',
      title: 'Better',
      description: 'Why.',
      sign_off: 'yes',
    };
    const updated = await client.post(path, { ...changed, step: 'open' });
    expect(updated.heading, updated.problem).toBe('Your pull request is updated');
    expect(await history()).toEqual([`Better\n\nWhy.\n\n${LINE}\n`]);
  });

  it('is one whose form has the box, to be ticked or not, without the policy', async () => {
    const { upstream, person } = await contribute(bed);
    await upstream.grow({ files: { 'a.txt': 'one\n' } });
    const client = new FormClient(bed.service.url, person);
    const form = await client.get(`/v1/gh/${upstream.fullName}/change?path=a.txt`);
    const [box = ''] = /<input\s+type="checkbox"[^>]*>/.exec(form.html) ?? [];
    expect(box).toContain('id="sign_off"');
    expect(box).not.toMatch(/\s(?:required|checked)/);
  });
});
