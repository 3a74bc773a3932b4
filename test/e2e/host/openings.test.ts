/**
 * Openings of the bot at a host that limits it: what is opened waits, and what undoes it never
 * does.
 */
import { expect, it } from 'vitest';
import { Operator, OPERATOR } from '../support/operator.ts';
import { comment, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: { ...OPERATOR, LIMIT_OPENINGS: '2/1h' } });

it(
  'a third issue is refused, a comment is taken, and a rollback closes all at once',
  exhaustive,
  async () => {
    const { fullName } = await bed.createUpstream();
    const open = () =>
      speak(bed, bed.person(), `/v1/gh/${fullName}/issues/anonymous`, { title: 'Issue', body: 'Words' });
    const opened = await Promise.all([open(), open()]);
    expect(opened.map(({ status }) => status)).toEqual([200, 200]);
    const refused = await open();
    expect(refused.status).toBe(429);
    expect(refused.body['error']).toMatch(/ limits this service, .*try again in about an hour$/);
    expect((await comment(bed, bed.person(), `${fullName}/issues/1`, 'Words')).status).toBe(200);
    expect((await new Operator(bed).rollBack({ issues: true })).body).toMatchObject({ closed: 2, failed: 0 });
  },
);
