/**
 * Bodies that stop half-way, clients that vanish, framing that is wrong: answered when READ_TIMEOUT
 * is over, nothing stays on the host, and meanwhile and afterwards others are served. Which pace is
 * too slow: test/streams/body.test.ts.
 */
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildPack } from '../../support/pack-builder.ts';
import { type RawAnswer, RawConnection } from '../support/raw-http.ts';
import {
  expectInBandRefusal,
  expectNothingMade,
  expectStillServing,
  makeSoundPush,
  REF,
  type SoundPush,
} from '../support/sound-push.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, RECEIVE_PACK, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { pkt, readReport } from '../../support/pkt-line.ts';

const bed = useOwnTestBed({ env: { READ_TIMEOUT: '2s', WRITE_TIMEOUT: '1s' } });
let sound: SoundPush;
let large: LargePush;

/** Stands in the spool in part before it has arrived. */
interface LargePush extends SoundPush {
  readonly body: Buffer;
}

async function makeLargePush(): Promise<LargePush> {
  const push = await makeSoundPush(bed);
  const files = Object.fromEntries([1, 2, 3].map((n) => [`random-${n}.bin`, randomBytes(600_000)]));
  const newId = await push.clone.commit({ files });
  const pack = await packOf(push.clone, ['HEAD', '^origin/main'], '--thin', '--delta-base-offset');
  return { ...push, body: pushBody({ commands: [{ newId, ref: REF }], pack }) };
}

beforeAll(async () => {
  sound = await makeSoundPush(bed);
  large = await makeLargePush();
});

const receivePackPath = ({ upstream }: SoundPush) => `/v1/gh/${upstream.fullName}/git-receive-pack`;

const bodyOf = ({ tip, entries }: SoundPush) =>
  pushBody({ commands: [{ newId: tip, ref: REF }], pack: buildPack(entries).bytes });

const INCOMPLETE = { unpack: 'incomplete pack', reason: 'the push did not arrive completely' };

type Framing = 'announced' | 'chunked';

function framed(framing: Framing, length: number): Record<string, string> {
  return framing === 'announced' ? { 'Content-Length': String(length) } : { 'Transfer-Encoding': 'chunked' };
}

/** Announces a push and sends the first bytes of its body, and no more. */
async function beginPush(
  push: SoundPush,
  body: Buffer,
  bytes: number,
  framing: Framing = 'announced',
): Promise<RawConnection> {
  const connection = await RawConnection.open(bed.service.url);
  connection.sendHead(receivePackPath(push), push.person, {
    'Content-Type': RECEIVE_PACK,
    ...framed(framing, body.length),
  });
  const part = body.subarray(0, bytes);
  if (framing === 'announced') connection.send(part);
  else if (part.length > 0) connection.sendChunk(part);
  return connection;
}

async function answerTo(connection: RawConnection): Promise<RawAnswer> {
  const answer = await connection.answer();
  connection.vanish();
  if (answer === null) throw new Error('the connection was closed without an answer');
  return answer;
}

describe.each(['announced', 'chunked'] as const)('a body that stops half-way (%s)', exhaustive, (framing) => {
  it('in its commands is refused in-band, although no ref can be named', async () => {
    const begun = await Promise.all(
      [0, 3, 50].map((bytes) => beginPush(sound, bodyOf(sound), bytes, framing)),
    );
    for (const answer of await Promise.all(begun.map(answerTo))) {
      expect(answer.status).toBe(200);
      const { report, errors, progress } = readReport(answer.body);
      expect(report).toEqual(['unpack incomplete pack']);
      expect(errors).toEqual(['push rejected: the push did not arrive completely']);
      expect(progress.join('\n')).toMatch(/arrived too slowly/);
    }
  });

  it('in its pack is refused in-band', async () => {
    const body = bodyOf(sound);
    const answer = await answerTo(await beginPush(sound, body, body.length - 100, framing));
    await expectInBandRefusal(bed, sound, answer, { ...INCOMPLETE, line: /arrived too slowly/ });
  });

  it('in a pack that is in the spool in part is refused, and nothing of it reaches the host', async () => {
    const answer = await answerTo(await beginPush(large, large.body, 1_500_000, framing));
    await expectInBandRefusal(bed, large, answer, INCOMPLETE);
  });

  it('in a fetch: 400', async () => {
    const connection = await RawConnection.open(bed.service.url);
    connection.sendHead(`/v1/gh/${sound.upstream.fullName}/git-upload-pack`, sound.person, {
      'Content-Type': 'application/x-git-upload-pack-request',
      ...framed(framing, 1000),
    });
    const part = pkt(`want ${await sound.upstream.tip()} side-band-64k\n`);
    if (framing === 'announced') connection.send(part);
    else connection.sendChunk(part);
    const { status, body } = await answerTo(connection);
    expect(status).toBe(400);
    expect(JSON.parse(body.toString())).toMatchObject({ error: 'failed to read body' });
  });
});

describe('a client that vanishes', exhaustive, () => {
  it.each<[size: string, begin: () => Promise<RawConnection>, push: () => SoundPush]>([
    ['small', () => beginPush(sound, bodyOf(sound), bodyOf(sound).length / 2), () => sound],
    ['large', () => beginPush(large, large.body, large.body.length / 2), () => large],
  ])('in a %s push leaves nothing', async (_, begin, push) => {
    const isLogged = () => bed.logLines.filter((line) => line.includes('reason=incomplete')).length;
    const before = isLogged();
    (await begin()).vanish();
    await expect.poll(isLogged).toBe(before + 1);
    await expectNothingMade(bed, push());
  });

  it('but says first that it is done sending, gets no pull request either', async () => {
    const body = bodyOf(sound);
    const connection = await beginPush(sound, body, body.length / 2);
    connection.end();
    const answer = await connection.answer();
    expect([200, 400, undefined]).toContain(answer?.status);
    await expectNothingMade(bed, sound);
  });
});

describe('a client that does not read its answer', () => {
  it('is given up after WRITE_TIMEOUT, its work stays done, and it may push again', async () => {
    const push = await makeSoundPush(bed);
    // More than the buffers on the way take, but for the largest: a line for each of these.
    const refs = Array.from({ length: 500 }, (_, index) => `refs/heads/${'x'.repeat(16_000)}${index}..`);
    const naming = (...names: string[]) =>
      pushBody({
        commands: names.map((ref) => ({ newId: push.tip, ref })),
        pack: buildPack(push.entries).bytes,
      });
    const body = naming(REF, ...refs);
    const connection = await beginPush(push, body, 0);
    connection.stopReading();
    connection.send(body);
    await expect.poll(() => bed.host.pulls(push.upstream)).toHaveLength(1);
    const again = () => sendPush(push.upstream.url, push.person, naming(REF));
    // In progress until the first one is given up, which may have happened already.
    await expect
      .poll(async () => readReport((await again()).body).report[1], { interval: 500 })
      .toBe(`ok ${REF}`);
    connection.readAgain();
    const answer = await connection.answer();
    // Not null: the system had buffers for all of it.
    if (answer !== null) expect(readReport(answer.body).report[1]).toBe(`ok ${REF}`);
    expect(await bed.host.pulls(push.upstream)).toHaveLength(1);
  });
});

describe('framing that is wrong', exhaustive, () => {
  it.each([
    ['a chunk whose size is no number', 'zz\r\nhello\r\n'],
    ['a chunk that is longer than it says', '5\r\nhello, world\r\n0\r\n\r\n'],
    ['a chunk of 2^64 bytes', '10000000000000000\r\nhello'],
  ])('as %s is refused, or the connection closed', async (_, bytes) => {
    const connection = await RawConnection.open(bed.service.url);
    connection.sendHead(receivePackPath(sound), sound.person, {
      'Content-Type': RECEIVE_PACK,
      'Transfer-Encoding': 'chunked',
    });
    connection.send(bytes);
    const answer = await connection.answer();
    connection.vanish();
    if (answer !== null && answer.status === 200)
      expect(readReport(answer.body).errors.join('\n')).toMatch(/^push rejected: /);
    else expect(answer?.status ?? 400).toBe(400);
    await expectNothingMade(bed, sound);
  });

  it.each(['-1', 'many', '10, 20', '0x10'])('as a length of %s is refused', async (length) => {
    const connection = await RawConnection.open(bed.service.url);
    connection.sendHead(receivePackPath(sound), sound.person, {
      'Content-Type': RECEIVE_PACK,
      'Content-Length': length,
    });
    connection.send(bodyOf(sound));
    const answer = await connection.answer();
    connection.vanish();
    expect(answer?.status ?? 400).toBeGreaterThanOrEqual(400);
    expect(answer?.status ?? 400).toBeLessThan(500);
    await expectNothingMade(bed, sound);
  });
});

describe('the service', exhaustive, () => {
  it('serves others while many bodies have stopped half-way', async () => {
    const body = bodyOf(sound);
    const begun = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        beginPush(sound, body, Math.floor((index * body.length) / 20), index % 2 ? 'chunked' : 'announced'),
      ),
    );
    await expectStillServing(bed, await makeSoundPush(bed));
    for (const connection of begun) connection.vanish();
  });

  it('takes the pushes that were broken off, now that they come whole', async () => {
    await expectStillServing(bed, sound);
    await expectStillServing(bed, large);
  });

  it('has failed in none of these by a fault of its own', () => {
    expect(bed.logLines.filter((line) => /internal|request failed/.test(line))).toEqual([]);
  });
});
