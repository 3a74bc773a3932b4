/**
 * Noise of the bot account: the most of it that reaches a repository that wants little, and the
 * people who are mentioned.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { FormClient } from '../support/form-client.ts';
import type { Person } from '../support/person.ts';
import { remoteLines } from '../support/push-output.ts';
import { comment, commentsOn, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({
  env: { LIMIT_TARGET: '10/1h', LIMIT_THREAD: '20/1h', LIMIT_COMMENTS: '10000/1h' },
});

const PEOPLE = 'mentions more than 5 people or teams; leave some out, or write them in backticks';
const OTHERS =
  'refers to more than 5 issues, pull requests or commits of other repositories; leave some out, or write them in backticks';

const times = (count: number, one: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join(' ');
const SIX = times(6, (n) => `@someone${n}`);

const openIssue = (person: Person, { fullName }: { readonly fullName: string }, more: object = {}) =>
  speak(bed, person, `/v1/gh/${fullName}/issues/anonymous`, { title: 'Slow', body: 'It is.', ...more });

const issuesOf = ({ fullName }: Upstream) =>
  bed.host.call<object[]>('GET', `/repos/${fullName}/issues?per_page=100`);

/** The host's own. */
const openThread = ({ fullName }: Upstream) =>
  bed.host.call('POST', `/repos/${fullName}/issues`, { title: 'To talk on' });

const persons = (count: number): Person[] => Array.from({ length: count }, () => bed.person());

describe('a repository', exhaustive, () => {
  it('that wants fewer gets fewer: pull requests and issues together, and comments on each thread', async () => {
    const { upstream, clone } = await contribute(bed);
    await upstream.grow({ files: { '.gitveil.yml': 'limit: 5/1h\n' } });
    await clone.commit();
    const { banner } = await expectAccepted(bed, { upstream, clone }, await clone.push());
    const statuses = [];
    for (const each of persons(5)) statuses.push((await openIssue(each, upstream)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    const person = bed.person();
    const { body } = await openIssue(person, upstream);
    expect(body['error']).toMatch(
      /at most 5 in 1h there for all people together, as the \.gitveil\.yml for it says; try again in about/,
    );
    const said = [];
    for (let count = 0; count < 6; count++) {
      said.push((await comment(bed, person, `${upstream.fullName}/issues/2`, 'Hi')).status);
    }
    expect(said).toEqual([200, 200, 200, 200, 200, 429]);
    // An update opens nothing.
    await clone.commit();
    const updated = await clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:topic');
    expect(updated.code, updated.stderr).toBe(0);
  });
});

describe('a text', exhaustive, () => {
  it('with 4,000 mentions or 1,000 links is refused, as a comment, as an issue, and in forms', async () => {
    const upstream = await bed.createUpstream();
    await openThread(upstream);
    const person = bed.person();
    const people = times(4_000, (n) => `@someone${n}`);
    const links = times(1_000, (n) => `${bed.sandbox.url}/other/repo/issues/${n}`);
    const said = [];
    for (const body of [people, links]) {
      said.push(await comment(bed, person, `${upstream.fullName}/issues/1`, body));
      said.push(await openIssue(person, upstream, { body }));
    }
    said.push(await openIssue(person, upstream, { title: SIX }));
    expect(said.map(({ status, body }) => `${status} ${String(body['error'])}`)).toEqual([
      `400 body ${PEOPLE}`,
      `400 body ${PEOPLE}`,
      `400 body ${OTHERS}`,
      `400 body ${OTHERS}`,
      `400 title ${PEOPLE}`,
    ]);
    const client = new FormClient(bed.service.url, person);
    for (const [path, form] of [
      ['new-issue', 'new-issue'],
      ['reply', 'reply?to=1'],
    ]) {
      const { fields } = await client.get(`/v1/gh/${upstream.fullName}/${form}`);
      const typed = { ...fields, title: 'Slow', body: people, user_token: '', step: 'post' };
      const { status, problem } = await client.post(`/v1/gh/${upstream.fullName}/${path}`, typed);
      expect([status, problem]).toEqual([400, `Body ${PEOPLE}.`]);
    }
    expect(await issuesOf(upstream)).toHaveLength(1);
    expect(await commentsOn(bed, `${upstream.fullName}/issues/1`)).toEqual([]);
  });
});

describe('a push', exhaustive, () => {
  const MESSAGE = `Mend it\n\nThanks to ${SIX}.\n`;

  it('whose message mentions six people is refused, with the ways out; one of them works', async () => {
    const contribution = await contribute(bed);
    const { upstream, clone } = contribution;
    await clone.commit({ message: MESSAGE });
    const reason = 'the pull request would disturb too many people';
    const lines = await expectRefused(bed, upstream, await clone.push(), reason);
    expect(lines).toContain(`Its description ${PEOPLE}.`);
    expect(lines).toContain('-o title=... or -o description=...');
    const pushed = await clone.push('-o', 'description=Thanks to all.', 'origin', 'HEAD:topic');
    const { pull, commits } = await expectAccepted(bed, contribution, pushed);
    expect(pull.body).toBe('Thanks to all.');
    expect(commits.at(-1)?.message.toString()).toBe(MESSAGE);
    expect(remoteLines(pushed).join('\n')).toMatch(/These mention many people, .*:\n {2}Mend it$/m);
  });

  it('is only warned of an earlier message, also as an update', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit({ message: MESSAGE });
    await clone.commit({ message: 'Mend more\n' });
    const pushed = await clone.push();
    const { banner, pull } = await expectAccepted(bed, contribution, pushed);
    const warning = /These mention many people, .*:\n {2}Mend it$/m;
    expect(remoteLines(pushed).join('\n')).toMatch(warning);
    expect(pull.title).toBe('Mend more');
    await clone.commit({ message: MESSAGE });
    const updated = await clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:topic');
    expect(updated.code, updated.stderr).toBe(0);
    expect(remoteLines(updated).join('\n')).toMatch(warning);
  });
});
