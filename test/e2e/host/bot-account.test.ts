/**
 * The bot account: what the host still lets it do is shared fairly, and everybody sees what is
 * wrong with it.
 */
import { describe, expect, it } from 'vitest';
import { SUSPENDED_REST } from '../../../sandbox/known-answers.ts';
import { ALWAYS } from '../support/failing-host.ts';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { LIVE_METRICS, readMetrics } from '../support/metrics.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { comment, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: { ...OPERATOR, ...LIVE_METRICS, LIMIT_CREATIONS: '40/1h' } });

/** The lines of these series. */
async function metrics(name: RegExp): Promise<string[]> {
  const lines = (await readMetrics(bed.service)).split('\n');
  return lines.filter((line) => !line.startsWith('#') && name.test(line));
}

const creationsLeft = async () => Number((await metrics(/_creations_left\{/))[0]?.split(' ').at(-1));
const frontPage = async () => (await fetch(bed.service.url, { headers: { Accept: 'text/html' } })).text();
const alertTitles = async () => (await new Operator(bed).alerts()).map(({ title }) => title);

describe('when little is left of what the account may create', exhaustive, () => {
  it('whoever has had most is refused first, by every way to write, and others are served', async () => {
    const { upstream, person, clone } = await contribute(bed);
    const issues = `/v1/gh/${upstream.fullName}/issues/anonymous`;
    await speak(bed, person, issues, { title: 'Issue', body: 'Words' });
    // What creates nothing takes nothing: a comment on nothing, a preview, a push that fails.
    expect((await comment(bed, person, `${upstream.fullName}/issues/999`, 'Words')).status).toBe(400);
    await clone.commit();
    await clone.push('-o', 'preview', 'origin', 'HEAD');
    await clone.push('-o', 'base=nowhere', 'origin', 'HEAD');
    await expect.poll(creationsLeft).toBe(39);

    // Comments on all threads of a repository have half, without the tenth for people who have
    // taken part before.
    const say = () => comment(bed, person, `${upstream.fullName}/issues/1`, 'Words');
    for (let time = 0; time < 18; time++) expect((await say()).status).toBe(200);
    expect((await say()).body['error']).toBe(
      `too many comments for ${upstream.fullName}: this service posts at most 20 in 1h there for all people together; try again in about an hour`,
    );
    // In the last third of the account's hour, a repository that has had a fifth waits, though
    // nobody else has written.
    const open = () => speak(bed, person, issues, { title: 'Issue', body: 'Words' });
    for (let time = 0; time < 8; time++) expect((await open()).status).toBe(200);
    expect(await creationsLeft()).toBe(13);
    const refused = await open();
    expect(refused.status).toBe(429);
    expect(refused.body['error']).toMatch(/ limits this service, .*try again in about an hour$/);
    const lines = await expectRefused(
      bed,
      upstream,
      await clone.push('origin', 'HEAD'),
      'the bot account has little left',
    );
    expect(lines.join('\n')).toMatch(
      /repositories that have used less come first; try again in about an hour\./,
    );

    // Reading goes on for everybody, and other repositories are written to.
    await person.clone(upstream.url);
    const another = await bed.createUpstream();
    const other = await bed.person().copy(another);
    await other.commit();
    await expectAccepted(bed, { upstream: another, clone: other }, await other.push());
    // A pull request, and the fork for it.
    expect(await creationsLeft()).toBe(11);
  });

  it('shows what is left of the calls, too', async () => {
    // As its last answer says, for as long as that is news.
    expect((await comment(bed, bed.person(), 'octo/nothing/issues/1', 'Words')).status).toBe(400);
    const [left, limit] = await metrics(/_host_calls_/);
    expect(left).toMatch(/^gitveil_host_calls_left\{host="127\.0\.0\.1:\d+"\} 4\d{3}$/);
    expect(limit).toMatch(/^gitveil_host_calls_limit\{host="127\.0\.0\.1:\d+"\} 5000$/);
  });
});

describe('an account that the host refuses', exhaustive, () => {
  it('by Git alone is told to the operator, on the front page and in the metrics, until it is over', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const path = new RegExp(`/gitveil-bot/${upstream.name}\\.git/git-receive-pack$`);
    const answer = { status: 401, body: 'Invalid username or token.\n' };
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path, answer, times: ALWAYS, until });
    const pushing = clone.push();
    await expect.poll(() => bed.host.requestsFor(upstream, 'POST', path)).toHaveLength(1);
    // Later than what the push asks of the REST interface meanwhile.
    await bed.host.settle();
    goOn();
    expect((await pushing).code).toBe(1);
    bed.sandbox.faults.clear();
    await expect.poll(alertTitles).toEqual(['Something is wrong with the token']);
    const words = 'refuses the bot’s token';
    await expect.poll(frontPage).toContain(words);
    expect(await metrics(/^gitveil_bot_account_problem\{.*problem="rejected"\} 1$/)).toHaveLength(1);

    expect((await clone.push()).code).toBe(0);
    await expect.poll(frontPage).not.toContain(words);
    expect(await metrics(/^gitveil_bot_account_problem/)).toEqual([]);
  });

  it('because it is suspended is called what it is', async () => {
    const { clone } = await contribute(bed);
    await clone.commit();
    bed.sandbox.faults.inject({ method: 'POST', path: /\/forks$/, answer: SUSPENDED_REST });
    expect((await clone.push()).code).toBe(1);
    await expect
      .poll(alertTitles)
      .toEqual(['Something is wrong with the token', 'The bot account is suspended']);
    await expect.poll(frontPage).toContain('has suspended the bot’s account');
    expect(await metrics(/^gitveil_bot_account_problem\{.*problem="suspended"\} 1$/)).toHaveLength(1);
  });
});
