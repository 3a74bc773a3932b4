/** Words of maintainers in a comment: stop, mute, welcome, close all. */
import { describe, expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { delayedAs, pageOf, pass } from '../support/delayed.ts';
import { remoteLines } from '../support/push-output.ts';
import type { GitRun } from '../support/person.ts';
import { comment, speak, type Answer } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { TEST_HEADER } from '../support/tripwire.ts';
import { nextSecond } from '../shapes/updates.ts';
import type { Upstream } from '../support/upstream.ts';

const bed = useOwnTestBed();

const MUTED = /accepts nothing more from this service\. Its maintainers have said mute on \d{4}-\d\d-\d\d\./;
const STOPPED = /accepts nothing from this service\. Its maintainers have said stop on \d{4}-\d\d-\d\d\./;

/** The pull request that maintainers comment on. */
interface OnHost {
  readonly upstream: Upstream;
  readonly number: number;
}

const word = (text: string) => `@${bed.sandbox.botLogin} ${text}`;

interface Thumbed {
  readonly reactions: { readonly '+1': number };
}

/** Comments, and lets the service read it. Answers how many thumbs the comment got. */
async function say({ upstream, number }: OnHost, text: string, as?: string): Promise<number> {
  const { owner, name, fullName } = upstream;
  const id = bed.sandbox.maintainer.comment({ owner, repo: name, number }, text, as);
  await bed.service.runScheduled();
  const path = `/repos/${fullName}/issues/comments/${id}`;
  const { reactions } = await bed.host.call<Thumbed>('GET', path);
  return reactions['+1'];
}

const told = (run: GitRun) => remoteLines(run).join('\n');
const errorOf = ({ status, body }: Answer) => `${status} ${String(body['error'])}`;

/** A pull request, and how to update it. */
async function opened() {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit();
  const { banner, pull } = await expectAccepted(bed, contribution, await clone.push());
  const { number } = pull;
  const update = async () => {
    await clone.commit();
    return clone.push('-o', `pr-hash=${banner.prHash}`);
  };
  return {
    ...contribution,
    number,
    update,
    ...banner,
    thread: `${upstream.fullName}/pulls/${number}`,
  };
}

describe('stop', () => {
  it('refuses all that is new, discards what waits, and is taken back by welcome', async () => {
    const pull = await opened();
    const { upstream, clone, person, number, update, thread } = pull;
    await clone.commit();
    const waiting = delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:later'));
    expect(await say(pull, word('stop'))).toBe(1);

    expect(await pageOf(bed, waiting)).toMatch(/^200 Discarded\n/);
    expect(await pageOf(bed, waiting)).toMatch(STOPPED);
    expect(told(await clone.push('origin', 'HEAD:new'))).toMatch(STOPPED);
    expect(told(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:new'))).toMatch(STOPPED);
    expect(told(await update())).toMatch(STOPPED);
    expect(errorOf(await comment(bed, person, thread, 'Hello'))).toMatch(STOPPED);
    const issue = { title: 'Hello', body: 'World' };
    const issues = `/v1/gh/${upstream.fullName}/issues/anonymous`;
    expect(errorOf(await speak(bed, person, issues, issue))).toMatch(STOPPED);
    const page = await pageAt(`/v1/gh/${upstream.fullName}`);
    expect(page).toMatch(STOPPED);
    expect(await pageAt(`/v1/pr/${pull.prHash}`)).toMatch(STOPPED);

    expect(await say({ upstream, number }, word('welcome'))).toBe(1);
    expect((await update()).code).toBe(0);
  });

  it('lets the author withdraw', exhaustive, async () => {
    const pull = await opened();
    const { upstream, clone, prHash, prKey } = pull;
    expect(await say(pull, word('stop'))).toBe(1);
    const options = ['-o', 'withdraw', '-o', `pr-hash=${prHash}`, '-o', `pr-key=${prKey}`];
    expect(await clone.push(...options)).toMatchObject({ code: 0 });
    expect(await bed.host.pulls(upstream)).toMatchObject([{ state: 'closed' }]);
  });

  it(
    'refuses what waited elsewhere while the service did not hear it, once it is due',
    exhaustive,
    async () => {
      const pull = await opened();
      const { upstream, clone } = pull;
      await clone.commit();
      const waiting = delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:later'));
      const renamed = bed.renameUpstream(upstream, `${upstream.name}-moved`);
      expect(await say({ ...pull, upstream: renamed }, word('stop'))).toBe(1);
      await expect.poll(async () => (await pass(bed), pageOf(bed, waiting))).toMatch(STOPPED);
    },
  );
});

describe('other words', () => {
  it('mute closes one thread, and leaves the others open', exhaustive, async () => {
    const pull = await opened();
    const { upstream, clone, person, thread, update } = pull;
    bed.sandbox.maintainer.addCollaborator(upstream.owner, upstream.name, 'mona');
    expect(await say(pull, `Enough of this.\n\n${word('mute')}`, 'mona')).toBe(1);
    expect(told(await update())).toMatch(MUTED);
    const pages = [`/v1/pr/${pull.prHash}`, `/v1/gh/${upstream.fullName}/reply?to=${pull.number}`];
    for (const page of pages) expect(await pageAt(page)).toMatch(MUTED);
    expect(errorOf(await comment(bed, person, thread, 'Hello'))).toMatch(MUTED);
    expect(told(await clone.push('origin', 'HEAD:new'))).not.toMatch(MUTED);
    const number = bed.sandbox.maintainer.openIssue(upstream.owner, upstream.name, 'Other', 'Other');
    const other = `${upstream.fullName}/issues/${number}`;
    expect((await comment(bed, person, other, 'Hello')).status).toBe(200);
    // Who has muted it may take that back.
    expect(await say(pull, word('welcome'), 'mona')).toBe(1);
    expect((await comment(bed, person, thread, 'Hello')).status).toBe(200);
  });

  it('count in a review and in a remark on a line, too', exhaustive, async () => {
    const pull = await opened();
    const { upstream, number, update } = pull;
    const on = { owner: upstream.owner, repo: upstream.name, number };
    bed.sandbox.maintainer.review(on, 'COMMENTED', word('mute'));
    await bed.service.runScheduled();
    expect(told(await update())).toMatch(MUTED);
    const path = `/repos/${upstream.fullName}`;
    const { reactions } = await bed.host.call<Thumbed>('GET', `${path}/issues/${number}`);
    expect(reactions['+1']).toBe(1);
    const remarks = [{ path: 'a.txt', body: word('welcome') }];
    bed.sandbox.maintainer.review(on, 'COMMENTED', '', upstream.owner, remarks);
    await bed.service.runScheduled();
    const lines = await bed.host.call<Thumbed[]>('GET', `${path}/pulls/${number}/comments`);
    expect(lines).toMatchObject([{ reactions: { '+1': 1 } }]);
    expect((await update()).code).toBe(0);
  });

  it('close all closes what is open, and tells the author', exhaustive, async () => {
    const pull = await opened();
    const { upstream, person } = pull;
    const issue = { title: 'Hello', body: 'World' };
    await speak(bed, person, `/v1/gh/${upstream.fullName}/issues/anonymous`, issue);
    const theirs = bed.sandbox.maintainer.openIssue(upstream.owner, upstream.name, 'Other', 'Other');
    expect(await say(pull, `${word('stop')}\n${word('close all')}`)).toBe(1);
    const path = `/repos/${upstream.fullName}/issues?state=all`;
    const all = await bed.host.call<{ number: number; state: string }[]>('GET', path);
    const open = all.filter(({ state }) => state === 'open').map(({ number }) => number);
    expect([open, all.length]).toEqual([[theirs], 3]);
    expect(await pageAt(`/v1/pr/${pull.prHash}`)).toContain('Closed');
  });

  it('of nobody, of the bot, and of what is only quoted count for nothing', exhaustive, async () => {
    const pull = await opened();
    const { upstream, person, thread, update } = pull;
    const { owner, name: repo } = upstream;
    expect(await say(pull, word('stop'), 'eve')).toBe(0);
    expect(await say(pull, `> ${word('stop')}`)).toBe(0);
    expect(await say(pull, `\`\`\`\n${word('stop')}\n\`\`\``)).toBe(0);
    const id = bed.sandbox.maintainer.comment({ owner, repo, number: pull.number }, 'Thanks');
    await nextSecond();
    bed.sandbox.maintainer.editComment(owner, repo, id, word('stop'));
    expect((await comment(bed, person, thread, word('stop'))).status).toBe(200);
    expect(await say(pull, 'Hello')).toBe(0);
    expect((await update()).code).toBe(0);
  });

  it('are heard on an issue, and where the bot is mentioned for the first time', exhaustive, async () => {
    const { maintainer } = bed.sandbox;
    const upstream = await bed.createUpstream({ commits: 1 });
    const person = bed.person();
    const issue = { title: 'Hello', body: 'World' };
    const path = `/v1/gh/${upstream.fullName}/issues/anonymous`;
    const { body } = await speak(bed, person, path, issue);
    expect(await say({ upstream, number: Number(body['number']) }, word('stop'))).toBe(1);
    expect(errorOf(await speak(bed, person, path, issue))).toMatch(STOPPED);
    const number = maintainer.openIssue(upstream.owner, upstream.name, 'Other', 'Other');
    expect(await say({ upstream, number }, word('welcome'))).toBe(1);
    expect((await speak(bed, person, path, issue)).status).toBe(200);
  });

  it('follow a repository to its new name', exhaustive, async () => {
    const pull = await opened();
    const { clone, upstream, person } = pull;
    expect(await say(pull, word('stop'))).toBe(1);
    const renamed = bed.renameUpstream(upstream, `${upstream.name}-moved`);
    const issue = { title: 'Hello', body: 'World' };
    for (const { fullName } of [renamed, upstream]) {
      const path = `/v1/gh/${fullName}/issues/anonymous`;
      expect(errorOf(await speak(bed, person, path, issue))).toMatch(STOPPED);
    }
    expect(told(await clone.push('origin', 'HEAD:new'))).toMatch(STOPPED);
  });
});

async function pageAt(path: string): Promise<string> {
  const headers = { Accept: 'text/html', [TEST_HEADER]: '1' };
  return (await fetch(bed.service.url + path, { headers })).text();
}
