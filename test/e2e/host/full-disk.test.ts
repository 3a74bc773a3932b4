/**
 * The service when its disk is full, and after it was freed: grants, words, and the panic switch.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { FormClient } from '../support/form-client.ts';
import { type FullDisk, FULL_DISKS, READ_ONLY_DISKS } from '../support/full-disk.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { comment, commentsOn, report, speak } from '../support/speak.ts';
import { TestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const ISSUES_ALLOWED = 20;
const SUSPENDED = 'service temporarily suspended';
const CANNOT_WRITE = 'the service cannot write at the moment';
const NOT_POSTED = {
  status: 503,
  code: 'unavailable',
  body: { error: `${CANNOT_WRITE}; nothing was posted: try again later` },
};

/** Nothing else can write to it until what this returns is called. */
function lockFileOf({ options }: FullDisk, object: string): () => void {
  const folder = join(options.stateDir, 'do', `gitveil-${object}`);
  const name = readdirSync(folder).find((file) => /^[0-9a-f]{64}\.sqlite$/.test(file)) as string;
  const database = new DatabaseSync(join(folder, name));
  database.exec('BEGIN IMMEDIATE');
  return () => database.close();
}

describe.each(FULL_DISKS)('on a full disk %s', (_name, makeDisk) => {
  let disk: FullDisk;
  let bed: TestBed;
  let operator: Operator;

  beforeAll(async () => {
    disk = makeDisk();
    bed = await TestBed.start({
      ...disk.options,
      env: { ...OPERATOR, ALERT_ADDRESS: 'hidden', LIMIT_TARGET: `${ISSUES_ALLOWED}/1h` },
    });
    operator = new Operator(bed);
  });

  afterAll(async () => {
    try {
      await bed.verify();
    } finally {
      await bed.stop();
      disk.remove();
    }
  });

  /** Frees it in any case, for the next test. */
  async function whileFull(work: () => Promise<void>): Promise<void> {
    disk.fill(bed);
    try {
      await work();
    } finally {
      disk.free(bed);
    }
  }

  const openIssue = (upstream: Upstream, address = bed.person().address) =>
    speak(
      bed,
      bed.person(),
      `/v1/gh/${upstream.fullName}/issues/anonymous`,
      { title: 'Hello', body: 'Is it me?' },
      { 'CF-Connecting-IP': address },
    );

  const isPanic = async () => (await fetch(`${bed.service.url}/api/status`)).json();

  it('no more issues are opened than are allowed and recorded, and a rollback closes each', async () => {
    const upstream = await bed.createUpstream({ commits: 1 });
    expect((await openIssue(upstream)).status).toBe(200);
    await whileFull(async () => {
      for (let round = 0; round < 10; round++) {
        const addresses = Array.from({ length: 10 }, (_, index) => `192.0.2.${10 * round + index}`);
        const answers = await Promise.all(addresses.map((address) => openIssue(upstream, address)));
        for (const answer of answers) {
          if (answer.status === 503) expect(answer).toEqual(NOT_POSTED);
          else expect([200, 429]).toContain(answer.status);
        }
      }
    });
    const opened = bed.host.requestsFor(upstream, 'POST', /\/issues$/).length;
    expect(opened).toBeLessThanOrEqual(ISSUES_ALLOWED);
    expect((await operator.rollBack({ issues: true })).body).toMatchObject({ closed: opened, failed: 0 });
  });

  it('no comment is posted, whether its author is new or known, and each is told why', async () => {
    const upstream = await bed.createUpstream({ commits: 1 });
    const author = bed.person();
    const { body: issue } = await openIssue(upstream);
    const thread = `${upstream.fullName}/issues/${String(issue['number'])}`;
    const known = await comment(bed, author, thread, 'One.');
    await whileFull(async () => {
      for (let time = 0; time < 3; time++) {
        expect(await comment(bed, bed.person(), thread, 'Two.')).toEqual(NOT_POSTED);
        expect(await comment(bed, author, thread, 'Two.', known.body['user_token'])).toEqual(NOT_POSTED);
      }
    });
    expect(await commentsOn(bed, thread)).toHaveLength(1);
    expect(await comment(bed, author, thread, 'Two.', known.body['user_token'])).toMatchObject({
      status: 200,
      body: { karma: 2 },
    });
    expect((await comment(bed, bed.person(), thread, 'Three.')).status).toBe(200);
  });

  it('no push opens or updates a pull request, and both do when it was freed', exhaustive, async () => {
    const first = await contribute(bed);
    await first.clone.commit();
    const opened = await expectAccepted(bed, first, await first.clone.push());
    await first.clone.commit();
    const update = () => first.clone.push('-o', `pr-hash=${opened.banner.prHash}`);
    const [second, large] = [await contribute(bed), await contribute(bed)];
    await second.clone.commit();
    await whileFull(async () => {
      const lines = await expectRefused(bed, second.upstream, await second.clone.push(), CANNOT_WRITE);
      expect(lines).toContain('Nothing was changed. Push again later.');
      const later = await second.clone.push('-o', 'delay=1h');
      await expectRefused(bed, second.upstream, later, CANNOT_WRITE);
      await large.clone.commit({ files: { 'large.bin': randomBytes(3_000_000) } });
      await expectRefused(bed, large.upstream, await large.clone.push(), CANNOT_WRITE);
      const updated = await update();
      expect([updated.code, updated.stderr]).toEqual([1, expect.stringContaining(CANNOT_WRITE)]);
    });
    expect((await bed.host.onlyPull(first.upstream)).headSha).toBe(opened.pull.headSha);
    await expectAccepted(bed, second, await second.clone.push());
    await expectAccepted(bed, first, await update());
  });

  it(
    'clones, fetches and pages work, and what must be stored is refused with the reason',
    exhaustive,
    async () => {
      const { upstream, clone, person } = await contribute(bed);
      const { body: issue } = await openIssue(upstream);
      await upstream.grow({ count: 1 });
      await whileFull(async () => {
        await clone.git('fetch', 'origin');
        expect(await clone.git('rev-parse', 'origin/main')).toBe(await upstream.tip());
        expect((await fetch(`${bed.service.url}/health`)).status).toBe(200);
        expect(await report(bed, bed.person(), issue['hash'])).toMatchObject({
          status: 503,
          body: { error: `${CANNOT_WRITE}; try again later` },
        });
        const { status, html } = await new FormClient(bed.service.url, person).post('/v1/moderation/report', {
          hash: String(issue['hash']),
        });
        expect([status, html]).toEqual([
          503,
          expect.stringContaining('The service cannot write at the moment'),
        ]);
        expect(await operator.rollBack()).toMatchObject({
          status: 503,
          body: { error: `${CANNOT_WRITE}; try again later` },
        });
      });
      expect((await report(bed, bed.person(), issue['hash'])).body).toMatchObject({ reports: 1 });
    },
  );

  it(
    'no issue and no pull request is opened while the guard alone could not track it',
    exhaustive,
    async () => {
      const { upstream, clone } = await contribute(bed);
      await clone.commit();
      const unlock = lockFileOf(disk, 'Guard');
      try {
        expect(await openIssue(upstream)).toEqual(NOT_POSTED);
        await expectRefused(bed, upstream, await clone.push(), CANNOT_WRITE);
      } finally {
        unlock();
      }
      expect(bed.host.requestsFor(upstream, 'POST', /\/issues$/)).toEqual([]);
      const { body: issue } = await openIssue(upstream);
      expect((await clone.push()).code).toBe(0);
      const { url } = await bed.host.onlyPull(upstream);
      const closed = (await operator.rollBack({ issues: true })).body['closed_urls'];
      expect(closed).toEqual(expect.arrayContaining([issue['issue_url'], url]));
    },
  );

  it('panic works, says that it was not stored, and is stored once there is room', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    // The first request makes the secret by which clients are counted.
    await clone.git('ls-remote', 'origin');
    await whileFull(async () => {
      expect(await operator.setPanic(true)).toEqual({
        status: 200,
        body: { panic_mode: true, state: 'activated' },
        isPanicStored: 'no',
      });
      expect(await isPanic()).toEqual({ panic_mode: true });
      await expectRefused(bed, upstream, await clone.push(), SUSPENDED);
    });
    await expectRefused(bed, upstream, await clone.push(), SUSPENDED);
    await bed.service.runScheduled();
    await bed.restart();
    expect(await isPanic()).toEqual({ panic_mode: true });
    expect(await operator.setPanic(false)).toMatchObject({ status: 200, isPanicStored: 'yes' });
    expect(await isPanic()).toEqual({ panic_mode: false });
  });
});

it.each(READ_ONLY_DISKS)(
  'on a read-only disk nothing is created, fetches go on, and panic works',
  exhaustive,
  async (makeDisk) => {
    const disk = makeDisk();
    const bed = await TestBed.start({ stateDir: disk.stateDir, env: OPERATOR });
    try {
      const operator = new Operator(bed);
      const contribution = await contribute(bed);
      const { upstream, clone, person } = contribution;
      await clone.commit();
      const issues = `/v1/gh/${upstream.fullName}/issues/anonymous`;
      const openIssue = () => speak(bed, person, issues, { title: 'Hello', body: 'Is it me?' });
      expect((await openIssue()).status).toBe(200);
      await bed.restart(() => disk.turn('ro'));
      expect(await openIssue()).toEqual(NOT_POSTED);
      expect(await comment(bed, bed.person(), `${upstream.fullName}/issues/1`, 'Yes.')).toEqual(NOT_POSTED);
      await expectRefused(bed, upstream, await clone.push(), CANNOT_WRITE);
      await clone.git('fetch', 'origin');
      expect(await operator.setPanic(true)).toMatchObject({ status: 200, isPanicStored: 'no' });
      await expectRefused(bed, upstream, await clone.push(), SUSPENDED);
      await bed.restart(() => disk.turn('rw'));
      await expectAccepted(bed, contribution, await clone.push());
      await bed.verify();
    } finally {
      await bed.stop();
      disk.remove();
    }
  },
);
