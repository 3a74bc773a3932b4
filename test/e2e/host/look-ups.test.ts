/**
 * Hashes that nobody has, looked up and pushed to: whoever makes up many of them must not fill the
 * disk.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import { comment } from '../support/speak.ts';
import { filesWith, pathsIn } from '../support/state-files.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const LOOK_UPS = 100;
const MADE_UP = 'feedfeedfeed';

const bed = useOwnTestBed({ env: { LIMIT_LOOKUPS: '3/1h' } });

/** A hash that nobody has, and that stands out in a file. */
const hashOf = (index: number): string => `feed${index.toString(16).padStart(4, '0')}`;

/** Each by a client of its own: how often one may look is not what this is about. */
async function lookUp(hash: string, index: number): Promise<number[]> {
  const headers = { Accept: 'application/json', 'CF-Connecting-IP': `192.0.2.${index}` };
  const reports = `${bed.service.url}/v1/moderation/report`;
  const answers = await Promise.all([
    fetch(`${reports}?hash=${hash}`, { headers }),
    fetch(`${bed.service.url}/api/pr-status/${hash}`, { headers }),
    fetch(`${bed.service.url}/v1/pr/${hash}`, { headers }),
  ]);
  for (const answer of answers) await answer.text();
  return answers.map(({ status }) => status);
}

async function report(hash: string, index: number): Promise<unknown> {
  const headers = { Accept: 'application/json', 'CF-Connecting-IP': `198.51.100.${index}` };
  const init = { method: 'POST', headers, body: new URLSearchParams({ hash }) };
  return (await fetch(`${bed.service.url}/v1/moderation/report`, init)).json();
}

/** Without the journals that come and go. */
const databases = () => new Set(pathsIn(bed.stateDir).filter((path) => !/-(?:wal|shm|journal)$/.test(path)));
const databasesOf = (className: string) => [...databases()].filter((path) => path.includes(className));

function openD1(): DatabaseSync {
  const path = pathsIn(bed.stateDir).find((file) => /^d1\/.*\.sqlite$/.test(file) && !/metadata/.test(file));
  return new DatabaseSync(join(bed.stateDir, path ?? ''));
}

function pseudonyms(): unknown {
  const database = openD1();
  const row = database.prepare('SELECT count(*) AS count FROM pseudonyms').get();
  database.close();
  return row?.['count'];
}

/** As if no pull request had been recorded since there is the list. */
function emptyList(): void {
  const database = openD1();
  database.exec(
    'PRAGMA busy_timeout = 5000; DELETE FROM hashes_by_repository; DELETE FROM works_by_repository',
  );
  database.close();
}

describe('made-up hashes', exhaustive, () => {
  it('that are looked up leave no file and no row', async () => {
    await lookUp(hashOf(0), 0);
    // Makes the objects that are asked for the metrics.
    await (await fetch(`${bed.service.url}/metrics`, { headers: { Accept: 'text/plain' } })).text();
    const before = databases();
    for (let index = 0; index < LOOK_UPS; index++) {
      expect(await lookUp(hashOf(index), index)).toEqual([200, 200, 404]);
    }
    expect(databases()).toEqual(before);
    expect(filesWith(bed.stateDir, 'feed00')).toEqual([]);
  });

  it('of comments that are too long, or on no thread, leave no file and no row', async () => {
    const upstream = await bed.createUpstream();
    const before = databasesOf('Identity');
    for (let number = 71; number < 76; number++) {
      const missing = await comment(bed, bed.person(), `${upstream.fullName}/issues/${number}`, 'Hi');
      expect([missing.status, missing.body['error']]).toEqual([
        400,
        'failed to create comment: 404 Not Found',
      ]);
    }
    // A wrong number is no fault of the account, of which the operator would have to know.
    await expect.poll(() => bed.logLines.join('\n')).toContain('the code host refused what was posted');
    expect(bed.logLines.join('\n')).not.toContain('refused the bot account');
    const long = await comment(bed, bed.person(), `${upstream.fullName}/issues/71`, 'x'.repeat(65_530));
    expect([long.status, long.body['error']]).toEqual([
      400,
      expect.stringMatching(/^body must have at most/),
    ]);
    expect(databasesOf('Identity')).toEqual(before);
    expect(pseudonyms()).toBe(0);
  });

  it('that are reported leave no file and no row, and count like others', async () => {
    const before = databasesOf('Identity');
    for (let index = 1; index <= LOOK_UPS; index++) await report(hashOf(index), index);
    expect(await report(hashOf(1), 101)).toEqual({ hash: hashOf(1), reports: 2, state: 'registered' });
    expect(await report(hashOf(1), 102)).toEqual({ hash: hashOf(1), reports: 3, state: 'flagged' });
    expect(databasesOf('Identity')).toEqual(before);
    expect(filesWith(bed.stateDir, 'feed00')).toEqual([]);
  });

  it('that a push, a preview or a withdrawal names leave no pull request behind', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const option = `pr-hash=${MADE_UP}`;
    const before = databasesOf('PullRequest');
    const preview = await clone.push('-o', option, '-o', 'preview', 'origin', 'HEAD');
    expect(preview.stderr).toContain('This push would open a pull request');
    const withdrawal = await clone.push('-o', option, 'origin', ':main');
    await expectRefused(bed, upstream, withdrawal, 'the pr-key is missing');
    expect(databasesOf('PullRequest')).toEqual(before);
    // A push opens one with a hash of its own.
    const pushed = await clone.push('-o', option, 'origin', 'HEAD');
    expect(remoteLines(pushed).join('\n')).toContain('has that pr-hash');
    await expectAccepted(bed, { upstream, clone }, pushed);
    expect(databasesOf('PullRequest')).toHaveLength(before.length + 1);
    expect(filesWith(bed.stateDir, MADE_UP)).toEqual([]);
  });
});

it(
  'a pull request that is older than the list of hashes is updated, listed by that, and withdrawn',
  exhaustive,
  async () => {
    const contribution = await contribute(bed);
    const { upstream, clone } = contribution;
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    const page = async () => (await fetch(`${bed.service.url}/v1/pr/${banner.prHash}`)).status;
    await expect.poll(page).toBe(200);
    emptyList();
    expect(await page()).toBe(404);

    await clone.commit();
    const option = `pr-hash=${banner.prHash}`;
    const updated = await expectAccepted(bed, contribution, await clone.push('-o', option, 'origin', 'HEAD'));
    expect(updated.banner.prHash).toBe(banner.prHash);
    // The update has taken none of the five that a client may open.
    for (const index of [2, 3, 4, 5]) {
      await clone.commit();
      const opened = await clone.push('origin', `HEAD:other-${index}`);
      expect(opened.code, opened.stderr).toBe(0);
    }
    emptyList();
    const key = `pr-key=${banner.prKey}`;
    const withdrawn = await clone.push('-o', option, '-o', key, 'origin', ':main');
    expect(withdrawn.code, withdrawn.stderr).toBe(0);
    const states = (await bed.host.pulls(upstream)).map(({ state }) => state);
    expect(states.toSorted()).toEqual(['closed', 'open', 'open', 'open', 'open']);
  },
);
