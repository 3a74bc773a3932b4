/**
 * The order of a push: nothing is written at the code host before the last byte has come and the whole push was judged,
 * and the date of its commits tells when that was, and not how long the person's line took.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseCommit } from '../../../src/git/objects/commit.ts';
import { commitContent, oidNumber } from '../../support/objects.ts';
import { buildPack, oidOf } from '../../support/pack-builder.ts';
import { contribute, expectAccepted, expectRefused, type Contribution } from '../support/contribution.ts';
import { RawConnection } from '../support/raw-http.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, readPushAnswer, RECEIVE_PACK, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

const MEBIBYTE = 1024 * 1024;
const REF = 'refs/heads/fix';
/** Until a date that was taken too early would show. */
const SECONDS_PASS_MS = 2_100;

/** A new file that does not shrink. */
async function withLargeFile(bytes: number): Promise<Contribution & { readonly body: Buffer }> {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  const newId = await clone.commit({ files: { 'large.bin': randomBytes(bytes) } });
  const pack = await packOf(clone, ['HEAD', '^origin/main'], '--thin', '--delta-base-offset');
  return { ...contribution, body: pushBody({ commands: [{ newId, ref: REF }], pack }) };
}

async function beginSending({ upstream, person }: Contribution, body: Buffer): Promise<RawConnection> {
  const connection = await RawConnection.open(bed.service.url);
  connection.sendHead(`/v1/gh/${upstream.fullName}/git-receive-pack`, person, {
    'Content-Type': RECEIVE_PACK,
    'Content-Length': String(body.length),
  });
  return connection;
}

/** What was written at the host for a repository: nothing that a visitor would cause. */
function writes({ upstream }: Pick<Contribution, 'upstream'>): string[] {
  return bed.host.requests
    .filter(({ method, path }) => path.includes(`/${upstream.name}`) && method !== 'GET')
    .filter(({ path }) => !path.endsWith('/git-upload-pack'))
    .map(({ method, path }) => `${method} ${path}`);
}

const seconds = (): number => Math.floor(Date.now() / 1000);

describe('a push', () => {
  it('writes nothing at the host before its last byte has come, and is dated by it', async () => {
    const push = await withLargeFile(3 * MEBIBYTE);
    const connection = await beginSending(push, push.body);
    for (const part of [0, 1, 2]) {
      connection.send(push.body.subarray(part * MEBIBYTE, (part + 1) * MEBIBYTE));
      await wait(SECONDS_PASS_MS / 3);
    }
    expect(writes(push)).toEqual([]);
    const lastByteAt = seconds();
    connection.send(push.body.subarray(3 * MEBIBYTE));
    const answer = await connection.answer();
    connection.vanish();
    expect(readPushAnswer(answer!).report).toEqual(['unpack ok', `ok ${REF}`]);
    const [pushed] = await bed.host.pushes(push.upstream);
    const dates = pushed!.objects
      .filter(({ type }) => type === 'commit')
      .map(({ content }) => parseCommit(content).committedAt);
    expect(dates).toHaveLength(1);
    expect(dates[0]).toBeGreaterThanOrEqual(lastByteAt);
    expect(writes(push).length).toBeGreaterThan(0);
  });

  it('that is cut in the middle leaves nothing, and is dated by the next one', exhaustive, async () => {
    const push = await withLargeFile(3 * MEBIBYTE);
    const connection = await beginSending(push, push.body);
    connection.send(push.body.subarray(0, 2 * MEBIBYTE));
    await wait(SECONDS_PASS_MS);
    connection.vanish();
    const againAt = seconds();
    const { commits } = await expectAccepted(bed, push, await push.clone.push());
    for (const { committer } of commits) {
      expect(Number(/ (\d+) \+0000$/.exec(committer)![1])).toBeGreaterThanOrEqual(againAt);
    }
    expect(await bed.host.pulls(push.upstream)).toHaveLength(1);
  });

  it.each([
    ['small', 1024],
    ['large', 3 * MEBIBYTE],
  ])(
    'that is refused by its verdict has written nothing at the host: a %s one',

    async (_, bytes) => {
      const contribution = await contribute(bed);
      const { clone, upstream, person } = contribution;
      await clone.commit({
        files: { 'a.txt': `by ${person.authorName}\n`, 'large.bin': randomBytes(bytes) },
      });
      await expectRefused(bed, upstream, await clone.push(), 'your name would become public');
      expect(writes(contribution)).toEqual([]);
      expect(bed.host.forkPath(upstream)).toBeNull();
    },
  );

  it('whose name is hidden by a delta has written nothing at the host', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream, person } = contribution;
    const [first, ...others] = person.authorName.split(' ');
    const lines = Array.from({ length: 300 }, (_, n) => `line ${n} of the file\n`);
    await upstream.grow({
      files: { 'people.txt': [...lines, `${first} Somebody Else\n`, ...lines].join('') },
    });
    await clone.git('pull', '--quiet', '--rebase', 'origin', 'main');
    const changed = [...lines, `${first} ${others.join(' ')}\n`, ...lines].join('');
    await clone.commit({ files: { 'people.txt': changed } });
    await expectRefused(bed, upstream, await clone.push(), 'your name would become public');
    expect(writes(contribution)).toEqual([]);
  });
});

describe('pushes that the host refuses', exhaustive, () => {
  it('make ten forks of one client in an hour, and no more', async () => {
    const person = bed.person();
    const upstreams = await Promise.all(Array.from({ length: 11 }, () => bed.createUpstream({ commits: 1 })));
    const reasons: (string | undefined)[] = [];
    for (const upstream of upstreams) {
      // A commit without its tree: only the host can tell.
      const commit = commitContent({ tree: oidNumber(7), parents: [await upstream.tip()] });
      const body = pushBody({
        commands: [{ newId: oidOf('commit', commit), ref: REF }],
        pack: buildPack([{ type: 'commit', content: commit }]).bytes,
      });
      const { errors, progress } = readPushAnswer(await sendPush(upstream.url, person, body));
      reasons.push(errors[0]);
      if (reasons.length === 11)
        expect(progress.join('\n')).toMatch(/Try again in about an hour, or push to one/);
    }
    expect(reasons.slice(0, 10)).toEqual(
      Array.from({ length: 10 }, () => 'push rejected: the code host refused the commits'),
    );
    expect(reasons[10]).toBe('push rejected: too many forks');
    expect(upstreams.map((upstream) => bed.host.forkPath(upstream) !== null)).toEqual(
      Array.from({ length: 11 }, (_, index) => index < 10),
    );
  });
});
