/** A GitHub App that maintainers install: it writes there, and nobody does when it is removed. */
import { beforeAll, describe, expect, it } from 'vitest';
import { APP_GONE } from '../../../sandbox/known-answers.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { FormClient } from '../support/form-client.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { type Banner, remoteLines } from '../support/push-output.ts';
import { comment, commentsOn, report, speak } from '../support/speak.ts';
import { TEST_HEADER } from '../support/tripwire.ts';
import { topicTexts } from '../support/topic.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';

const SLUG = 'veil-app';
const APP = `${SLUG}[bot]`;
const PERMISSIONS = { pull_requests: 'write', issues: 'write', contents: 'read', metadata: 'read' } as const;
const DOUBTED = /says that the App of this service is not installed there any more/;
const STOPPED = /accepts nothing from this service\. Its maintainers have said stop on/;

const bed = useOwnTestBed({ env: OPERATOR });
const operator = new Operator(bed);

beforeAll(async () => {
  bed.sandbox.apps.register({ slug: SLUG, permissions: PERMISSIONS });
  await restart();
});

/** Starts the service, which remembers no installation then. */
async function restart(env: Readonly<Record<string, string>> = {}): Promise<void> {
  const { id, key } = bed.sandbox.apps.app!;
  await bed.restart(undefined, { GITHUB_APP_ID: String(id), GITHUB_APP_KEY: key, ...env });
}

let owners = 0;

/** A repository in which the App is installed, and a person with a clone. */
async function invited() {
  const owner = `owner${++owners}`;
  const contribution = await contribute(bed, { owner });
  bed.sandbox.apps.install(owner, null);
  return { ...contribution, owner };
}

/** A pull request in such a repository. */
async function opened() {
  const contribution = await invited();
  await contribution.clone.commit();
  const pushed = await contribution.clone.push();
  const accepted = await expectAccepted(bed, contribution, pushed, { author: APP });
  return { ...contribution, ...accepted, number: accepted.pull.number };
}

/** Names a pull request with its key, and what is to become of it. */
function optionsOf({ prHash, prKey }: Banner, what: string): string[] {
  return [what, `pr-hash=${prHash}`, `pr-key=${prKey}`].flatMap((option) => ['-o', option]);
}

const on = ({ owner, name }: Upstream, number: number) => ({ owner, repo: name, number });

async function authorsOn({ fullName }: Upstream, number: number): Promise<string[]> {
  const path = `/repos/${fullName}/issues/${number}/comments`;
  const comments = await bed.host.call<{ user: { login: string } }[]>('GET', path);
  return comments.map(({ user }) => user.login);
}

function issueIn({ fullName }: Upstream) {
  const issue = { title: 'It breaks', body: 'Here is how.' };
  return speak(bed, bed.person(), `/v1/gh/${fullName}/issues/anonymous`, issue);
}

describe('where the App is installed', () => {
  it('it opens the pull request, is named as its author, and changes and withdraws it', async () => {
    const { banner, clone, upstream } = await opened();
    expect(banner.author).toBe(APP);
    await clone.commit();
    await clone.push(...optionsOf(banner, 'title=Another title'));
    expect(await bed.host.pulls(upstream)).toMatchObject([{ title: 'Another title', author: APP }]);
    expect(await clone.push(...optionsOf(banner, 'withdraw'))).toMatchObject({ code: 0 });
    expect(await bed.host.pulls(upstream)).toMatchObject([{ state: 'closed' }]);
  });

  it('it changes what it has opened after the repository was renamed', exhaustive, async () => {
    const { banner, clone, upstream } = await opened();
    const renamed = bed.renameUpstream(upstream, `${upstream.name}-moved`);
    await restart();
    expect((await operator.rollBack()).body).toMatchObject({ failed: 0 });
    expect(await bed.host.pulls(renamed)).toMatchObject([{ state: 'closed', author: APP }]);
    expect(banner.author).toBe(APP);
    expect(await clone.push(...optionsOf(banner, 'withdraw'))).toMatchObject({ code: 0 });
  });

  it('pages mark what it has written as that of a contributor', async () => {
    const { upstream } = await invited();
    const { number } = (await issueIn(upstream)).body;
    const thread = `${upstream.fullName}/issues/${String(number)}`;
    const { body } = await comment(bed, bed.person(), thread, 'Me, too.');
    const reply = `/v1/gh/${upstream.fullName}/reply?to=${String(number)}`;
    const { html } = await new FormClient(bed.service.url, bed.person()).get(reply);
    const authors = [...html.matchAll(/<strong><bdi>([^<]*)<\/bdi>/g)].map(([, author]) => author);
    expect(authors).toEqual(['The contributor', `anon-${String(body['hash'])}`]);
    expect(html).toContain('Me, too.</pre');
  });

  it('it opens issues and comments, and a rollback removes them', exhaustive, async () => {
    const { upstream } = await invited();
    const { number } = (await issueIn(upstream)).body;
    const thread = `${upstream.fullName}/issues/${String(number)}`;
    expect((await comment(bed, bed.person(), thread, 'Me, too.')).status).toBe(200);
    const { user } = await bed.host.call<{ user: { login: string } }>('GET', `/repos/${thread}`);
    expect([user.login, ...(await authorsOn(upstream, Number(number)))]).toEqual([APP, APP]);
    const { body } = await operator.rollBack({ comments: true, issues: true });
    expect(body).toMatchObject({ failed: 0 });
    expect(await commentsOn(bed, thread)).toEqual([]);
  });

  it('the page shows whose comments it has posted', exhaustive, async () => {
    const { banner, upstream, number } = await opened();
    const thread = `${upstream.fullName}/issues/${number}`;
    const { body } = await comment(bed, bed.person(), thread, 'Me, too.');
    const page = await (await fetch(`${bed.service.url}/v1/pr/${banner.prHash}`)).text();
    expect(page).toMatch(new RegExp(`  anon-${String(body['hash'])}\n  Me, too\\.\n`));
    expect(page).not.toContain(APP);
  });

  it('maintainers stop it by its name, and close what it has opened', exhaustive, async () => {
    const { upstream, owner, number, clone } = await opened();
    const { name: repo } = upstream;
    // The host notifies the account only of what mentions it.
    const text = `@${SLUG} stop\n@${SLUG} close all\n\nSee @${bed.sandbox.botLogin}`;
    bed.sandbox.maintainer.comment({ owner, repo, number }, text);
    await bed.service.runScheduled();
    await expect.poll(() => bed.host.pulls(upstream)).toMatchObject([{ state: 'closed' }]);
    await clone.commit();
    expect(remoteLines(await clone.push('origin', 'HEAD:more')).join('\n')).toMatch(STOPPED);
  });
});

describe('what the App has written, although its answer was lost,', exhaustive, () => {
  const lost = { during: 'answer', afterBytes: 0 } as const;

  it('is found again: a pull request, which it goes on to change', async () => {
    const contribution = await invited();
    const { clone, upstream } = contribution;
    await clone.commit();
    bed.sandbox.faults.inject({ method: 'POST', path: /\/pulls$/, cut: lost });
    const { banner } = await expectAccepted(bed, contribution, await clone.push(), { author: APP });
    expect(banner.author).toBe(APP);
    await clone.commit();
    await clone.push(...optionsOf(banner, 'title=Another title'));
    expect(await bed.host.pulls(upstream)).toMatchObject([{ title: 'Another title' }]);
  });

  it('is found again: a comment, which moderation removes', async () => {
    const { upstream } = await invited();
    const thread = `${upstream.fullName}/issues/${String((await issueIn(upstream)).body['number'])}`;
    bed.sandbox.faults.inject({ method: 'POST', path: /\/comments$/, cut: lost });
    const { status, body } = await comment(bed, bed.person(), thread, 'Buy!');
    expect([status, await commentsOn(bed, thread)]).toEqual([200, [expect.stringMatching(/^Buy!/)]]);
    for (let reports = 0; reports < 6; reports++) await report(bed, bed.person(), body['hash']);
    await expect.poll(() => commentsOn(bed, thread)).toEqual([]);
  });
});

describe('where it is not', () => {
  it(
    'the account writes, and goes on to change what it has written once the App is installed',
    exhaustive,
    async () => {
      const owner = `owner${++owners}`;
      const contribution = await contribute(bed, { owner });
      const { clone, upstream } = contribution;
      await clone.commit();
      const { banner } = await expectAccepted(bed, contribution, await clone.push());
      expect(banner.author).toBe(bed.sandbox.botLogin);
      bed.sandbox.apps.install(owner, null);
      await clone.commit();
      await clone.push(...optionsOf(banner, 'title=Another title'));
      expect(await bed.host.pulls(upstream)).toMatchObject([
        { title: 'Another title', author: bed.sandbox.botLogin },
      ]);
    },
  );

  it('the account writes if maintainers have not granted a permission', exhaustive, async () => {
    for (let time = 0; time < 2; time++) {
      const owner = `owner${++owners}`;
      const contribution = await contribute(bed, { owner });
      bed.sandbox.apps.install(owner, null, { metadata: 'read', issues: 'write' });
      await contribution.clone.commit();
      await expectAccepted(bed, contribution, await contribution.clone.push());
    }
    // The operator is told, once, and nobody else is.
    const words = /^\S+ has not granted the App all permissions/;
    const told = async () => (await operator.alerts()).filter(({ message }) => words.test(message ?? ''));
    await expect.poll(told).toHaveLength(1);
    const line = / the App lacks a permission, so the bot account writes in its place hostName=\S+$/;
    expect(bed.logLines.filter((text) => line.test(text))).toHaveLength(1);
    const { html } = await new FormClient(bed.service.url, bed.person()).get('/');
    expect(html).not.toMatch(/all permissions|The operator has been told/);
  });

  it(
    'the account writes if the host refuses the App, and the operator is told, once',
    exhaustive,
    async () => {
      await restart();
      const { upstream } = await contribute(bed, { owner: `owner${++owners}` });
      const path = new RegExp(`/${upstream.fullName}/installation$`);
      bed.sandbox.faults.inject({ method: 'GET', path, answer: APP_GONE, times: 50 });
      for (let time = 0; time < 2; time++) expect((await issueIn(upstream)).status).toBe(200);
      const words = /^\S+ refuses the App: its key is not valid any more/;
      const told = async () => (await operator.alerts()).filter(({ message }) => words.test(message ?? ''));
      await expect.poll(told).toHaveLength(1);
    },
  );

  it('pages lead maintainers to the App, until it is installed or removed', async () => {
    const owner = `owner${++owners}`;
    const { upstream } = await contribute(bed, { owner });
    await bed.service.runScheduled();
    const page = async (path: string) => new FormClient(bed.service.url, bed.person()).get(path);
    const address = `${bed.sandbox.url}/apps/${SLUG}`;
    const link = `<a href="${address}" rel="noreferrer">`;
    expect((await page('/maintainers')).html).toContain(link);
    expect((await page(`/v1/gh/${upstream.fullName}`)).html).toContain(link);
    expect((await fetch(address, { headers: { [TEST_HEADER]: '1' } })).status).toBe(200);
    bed.sandbox.apps.install(owner, null);
    expect((await issueIn(upstream)).status).toBe(200);
    expect((await page(`/v1/gh/${upstream.fullName}`)).html).not.toContain(link);
  });
});

describe('once maintainers', () => {
  it(
    'have removed it, nothing new comes from anybody, and its author can still withdraw',
    exhaustive,
    async () => {
      const { upstream, owner, clone, banner } = await opened();
      bed.sandbox.apps.uninstall(owner);
      const issue = await issueIn(upstream);
      expect([issue.status, issue.body['error']]).toEqual([503, expect.stringMatching(DOUBTED)]);
      await clone.commit();
      expect(remoteLines(await clone.push('origin', 'HEAD:more')).join('\n')).toMatch(DOUBTED);
      expect(await bed.host.workBranches(upstream)).toHaveLength(1);
      // Ten minutes later the host says the same.
      await bed.service.runScheduled(Date.now() + 11 * 60_000);
      expect((await issueIn(upstream)).body['error']).toMatch(STOPPED);
      expect(remoteLines(await clone.push('origin', 'HEAD:more')).join('\n')).toMatch(STOPPED);
      // The branch is the account's, and a pull request ends with its branch.
      expect(await clone.push(...optionsOf(banner, 'withdraw'))).toMatchObject({ code: 0 });
      expect(await bed.host.pulls(upstream)).toMatchObject([{ state: 'closed' }]);
    },
  );

  it('have removed it and speak to the bot there, events elsewhere are still read', exhaustive, async () => {
    const there = await opened();
    const elsewhere = await contribute(bed);
    await elsewhere.clone.commit();
    const { banner, pull } = await expectAccepted(bed, elsewhere, await elsewhere.clone.push());
    const { maintainer, botLogin } = bed.sandbox;
    await bed.service.runScheduled();
    bed.sandbox.apps.uninstall(there.owner);
    maintainer.comment(on(there.upstream, there.number), `@${botLogin} stop`);
    await bed.service.runScheduled();
    maintainer.close(on(elsewhere.upstream, pull.number));
    await bed.service.runScheduled(Date.now() + 60_000);
    const told = async () => (await topicTexts(bed, banner.prHash)).join('\n');
    await expect.poll(told).toContain('was closed:');
  });

  it('have suspended it, nothing new comes, until they allow it again', exhaustive, async () => {
    const { upstream, owner, clone, banner, pull } = await opened();
    bed.sandbox.apps.setSuspended(owner, true);
    await clone.commit();
    for (const more of [
      ['origin', 'HEAD:more'],
      ['-o', `pr-hash=${banner.prHash}`],
    ]) {
      const refused = await clone.push(...more);
      expect(remoteLines(refused).join('\n')).toMatch(/suspended the App of this service/);
    }
    expect(await bed.host.workBranches(upstream)).toHaveLength(1);
    expect(await bed.host.pulls(upstream)).toMatchObject([{ headSha: pull.headSha }]);
    bed.sandbox.apps.setSuspended(owner, false);
    await restart();
    expect((await issueIn(upstream)).status).toBe(200);
  });
});

describe('an installation', () => {
  it('has limits of its own: what one has used up is left to others', exhaustive, async () => {
    await restart({ LIMIT_CREATIONS: '2/1h' });
    const [one, other] = [await invited(), await invited()];
    const statuses: number[] = [];
    for (const { upstream } of [one, one, one, other, other]) statuses.push((await issueIn(upstream)).status);
    expect(statuses).toEqual([200, 200, 429, 200, 200]);
  });

  it('that the host asks to wait does not make others wait', exhaustive, async () => {
    const [one, other] = [await invited(), await invited()];
    await restart();
    const path = new RegExp(`/repos/${one.upstream.fullName}/issues$`);
    const answer = { status: 429, headers: { 'Retry-After': '600' } };
    bed.sandbox.faults.inject({ method: 'POST', path, answer });
    expect((await issueIn(one.upstream)).status).toBe(503);
    expect((await issueIn(one.upstream)).status).toBe(503);
    expect((await issueIn(other.upstream)).status).toBe(200);
  });
});
