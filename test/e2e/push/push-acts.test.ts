/**
 * The order of a push: nothing is written at the code host before the last byte has come and the
 * whole push was judged, and the date of its commits tells when that was, and not how long the
 * person's line took.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseCommit } from '../../../src/git/objects/commit.ts';
import { nextSecond } from '../shapes/updates.ts';
import { contribute, expectRefused, type Contribution } from '../support/contribution.ts';
import { RawConnection } from '../support/raw-http.ts';
import { useTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, RECEIVE_PACK } from '../support/wire.ts';
import { readReport } from '../../support/pkt-line.ts';

const bed = useTestBed();

const MEBIBYTE = 1024 * 1024;
const REF = 'refs/heads/fix';

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

/** Lists what was written at the host for a repository: nothing that a visitor would cause. */
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
    connection.send(push.body.subarray(0, 3 * MEBIBYTE));
    // A date that was taken too early would show.
    await nextSecond();
    expect(writes(push)).toEqual([]);
    const lastByteAt = seconds();
    connection.send(push.body.subarray(3 * MEBIBYTE));
    const answer = await connection.answer();
    connection.vanish();
    expect(readReport(answer!.body).report).toEqual(['unpack ok', `ok ${REF}`]);
    const [pushed] = await bed.host.pushes(push.upstream);
    const dates = pushed!.objects
      .filter(({ type }) => type === 'commit')
      .map(({ content }) => parseCommit(content).committedAt);
    expect(dates).toHaveLength(1);
    expect(dates[0]).toBeGreaterThanOrEqual(lastByteAt);
    expect(writes(push).length).toBeGreaterThan(0);
  });

  it.each([
    ['small', 1024],
    ['large', 3 * MEBIBYTE],
  ])('that is refused by its verdict has written nothing at the host: a %s one', async (_, bytes) => {
    const contribution = await contribute(bed);
    const { clone, upstream, person } = contribution;
    await clone.commit({
      files: { 'a.txt': `by ${person.authorName}\n`, 'large.bin': randomBytes(bytes) },
    });
    await expectRefused(bed, upstream, await clone.push(), 'your name would become public');
    expect(writes(contribution)).toEqual([]);
    expect(bed.host.forkPath(upstream)).toBeNull();
  });
});
