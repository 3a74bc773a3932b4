/** Words of maintainers in a comment: stop, mute, welcome, close all. */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { delayedAs, pageOf } from '../support/delayed.ts';
import { remoteLines } from '../support/push-output.ts';
import type { GitRun } from '../support/person.ts';
import { comment, speak, type Answer } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { TEST_HEADER } from '../support/tripwire.ts';
import type { Upstream } from '../support/upstream.ts';

const bed = useOwnTestBed();

const STOPPED = /accepts nothing from this service\. Its maintainers have said stop on \d{4}-\d\d-\d\d\./;

/** The pull request that maintainers comment on. */
interface OnHost {
  readonly upstream: Upstream;
  readonly number: number;
}

const word = (text: string) => `@${bed.sandbox.botLogin} ${text}`;

/** Comments, and lets the service read it. Answers how many thumbs the comment got. */
async function say({ upstream, number }: OnHost, text: string, as?: string): Promise<number> {
  const { owner, name, fullName } = upstream;
  const id = bed.sandbox.maintainer.comment({ owner, repo: name, number }, text, as);
  await bed.service.runScheduled();
  const path = `/repos/${fullName}/issues/comments/${id}`;
  const { reactions } = await bed.host.call<{ reactions: { '+1': number } }>('GET', path);
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
  return { ...contribution, number, update, thread: `${upstream.fullName}/pulls/${number}` };
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

    expect(await say({ upstream, number }, word('welcome'))).toBe(1);
    expect((await update()).code).toBe(0);
  });
});

async function pageAt(path: string): Promise<string> {
  const headers = { Accept: 'text/html', [TEST_HEADER]: '1' };
  return (await fetch(bed.service.url + path, { headers })).text();
}
