/** The service with a hosted database: what it writes there, what it shows of it, and that it lives on without it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pullRequestCountBadge } from '../../src/badges/badge.ts';
import { contribute, expectAccepted } from './support/contribution.ts';
import { HostedDatabase, PUBLIC_KEY } from './support/postgrest.ts';
import { comment, speak } from './support/speak.ts';
import { useTestBed } from './support/test-bed.ts';

let database: HostedDatabase;
const env: Record<string, string> = { DB_KEY: PUBLIC_KEY };
beforeAll(async () => {
  database = await HostedDatabase.start();
  env['DB_URL'] = database.url;
});
const bed = useTestBed({ env });
afterAll(() => database.stop());

async function rows<T>(sql: string): Promise<T[]> {
  return (await database.pg.query<T>(sql)).rows;
}

const urls = async (): Promise<string[]> =>
  (await rows<{ pr_url: string }>('select pr_url from pull_requests order by id')).map((row) => row.pr_url);

async function get(path: string): Promise<unknown> {
  return (await fetch(`${bed.service.url}${path}`)).json();
}

describe('with a hosted database', () => {
  it('pull requests and karma are kept there, and nothing about persons', async () => {
    const contribution = await contribute(bed);
    const { upstream, person, clone } = contribution;
    await clone.commit();
    const { pull } = await expectAccepted(bed, contribution, await clone.push());
    expect(await urls()).toEqual([pull.url]);
    const [row] = await rows<{ created_at: Date }>('select created_at from pull_requests');
    const createdAt = row?.created_at.toISOString();
    expect(await get('/api/stats')).toEqual({ total_prs: 1, last_updated: createdAt });
    expect(await get('/api/recent-prs')).toEqual({
      prs: [{ id: 1, owner: 'octo', repo: upstream.name, pr_url: pull.url, created_at: createdAt }],
      total: 1,
    });
    // As badge-maker draws it by its own measure, which is not in the bundle.
    const badge = await fetch(`${bed.service.url}/badge/OCTO/${upstream.name}`);
    expect(await badge.text()).toBe(pullRequestCountBadge(1));

    database.trouble = 'refuse';
    await clone.commit();
    const second = await expectAccepted(bed, contribution, await clone.push());
    const issue = await speak(bed, person, `/v1/gh/${upstream.fullName}/issues/anonymous`, {
      title: 'It breaks',
      body: 'Here is how.',
    });
    const thread = `${upstream.fullName}/issues/${String(issue.body['number'])}`;
    const said = await comment(bed, person, thread, 'More of it.');
    expect(said).toMatchObject({ status: 200, body: { karma: 1 } });
    expect(await get('/api/stats')).toMatchObject({ total_prs: 1 });

    database.trouble = null;
    await expect.poll(urls).toEqual([pull.url, second.pull.url]);
    await expect.poll(() => rows('select * from karma')).toEqual([{ hash: said.body['hash'], karma: 1 }]);
    expect(bed.tripwire.secrets.search.search(Buffer.from(database.requests.join('\n')))).toEqual([]);
    // Method, address, names and values in turn, body.
    const fieldNames = database.requests.map((request) => {
      const [method, , ...lines] = request.split('\n');
      return [method, ...lines.slice(0, -1).filter((_, at) => at % 2 === 0)].join(' ');
    });
    expect(new Set(fieldNames)).toEqual(
      new Set([
        'GET Host Authorization apikey Accept-Encoding',
        'POST Host Authorization apikey Content-Type Accept-Encoding Content-Length',
      ]),
    );
  });
});
