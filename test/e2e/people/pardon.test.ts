/** A person whom a crowd silences: the operator hears of it, hears the person, and lifts it. */
import { expect, it } from 'vitest';
import { Operator, OPERATOR } from '../support/operator.ts';
import { comment, commentsOn, report, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: OPERATOR });
const operator = new Operator(bed);

it(
  'is restored by the button of the alert, and once more by the password after an appeal',
  exhaustive,
  async () => {
    const upstream = await bed.createUpstream({ commits: 0 });
    const author = bed.person();
    const issues = `/v1/gh/${upstream.fullName}/issues/anonymous`;
    const { body: issue } = await speak(bed, author, issues, { title: 'A thread', body: 'to talk on' });
    const thread = `${upstream.fullName}/issues/1`;
    const token = issue['user_token'];
    for (const words of ['one', 'two']) await comment(bed, author, thread, words, token);
    const hash = issue['hash'] as string;
    const karmas = async () =>
      (await commentsOn(bed, thread)).map((text) => /karma \((\d+)\)/.exec(text)?.[1]);
    const alertTitles = async () => (await operator.alerts()).map(({ title }) => title);

    for (let count = 0; count < 3; count++) await report(bed, bed.person(), hash);
    await expect.poll(karmas).toEqual(['0', '0']);
    await expect.poll(alertTitles).toEqual([`anon-${hash} is flagged`]);
    const [flagged] = await operator.alerts();
    expect(flagged).toMatchObject({
      message: expect.stringContaining(`Comments left: 2, on ${upstream.fullName}.`) as string,
      click: `${bed.service.url}/v1/moderation/report?hash=${hash}`,
    });
    expect(await operator.press(flagged!, `Pardon anon-${hash}`)).toMatchObject({
      status: 200,
      body: { hash, state: 'registered', reports: 0, restoring: 2 },
    });
    expect((await operator.press(flagged!, `Pardon anon-${hash}`)).status).toBe(401);
    await expect.poll(karmas).toEqual(['1', '2']);

    for (let count = 0; count < 3; count++) await report(bed, bed.person(), hash);
    const appeal = { thread: `${upstream.fullName}#1`, user_token: token, text: 'I only asked.\n\nPlease.' };
    expect(await speak(bed, author, '/v1/moderation/appeal', appeal)).toEqual({
      status: 200,
      code: null,
      body: { hash, state: 'flagged', reports: 3 },
    });
    expect(await speak(bed, author, '/v1/moderation/appeal', appeal)).toMatchObject({ status: 429 });
    await expect.poll(alertTitles).toContain(`Appeal of anon-${hash}`);
    const heard = (await operator.alerts()).find(({ title }) => title === `Appeal of anon-${hash}`);
    expect(heard!.message).toContain(`anon-${hash} (flagged, 3 reports) writes: “I only asked. Please.”`);
    expect(JSON.stringify(heard)).not.toContain(author.address);
    const { body } = await operator.pardon(hash);
    const events = (body['log'] as { event: string }[]).map(({ event }) => event);
    expect(events).toEqual(['flagged', 'pardoned', 'flagged', 'appealed', 'pardoned']);
    expect(await comment(bed, author, thread, 'three', token)).toMatchObject({
      status: 200,
      body: { karma: 3 },
    });
  },
);
